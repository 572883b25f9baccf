"""What a sentence states: attributes, details, contradictions, corrections."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.memories.reconcile.attributes import (
    is_incompatible,
    is_many_valued,
    parse_attribute,
)
from recollect.memories.reconcile.contradictions import (
    denied_part,
    is_correction,
    may_contradict,
)
from recollect.memories.reconcile.details import (
    has_same_details,
    many_valued_nouns,
)


def stated(text: str) -> tuple[str, str, str | None]:
    attribute = parse_attribute(text)
    assert attribute is not None, text
    return attribute.name, attribute.value, attribute.subject_hint


@pytest.mark.parametrize(
    ("text", "name", "value", "hint"),
    [
        ("I live in Porto.", "home", "porto", None),
        ("I'm living in Porto now", "home", "porto", None),
        ("The user lives in Porto", "home", "porto", None),
        ("Ann Smith has moved to Porto", "home", "porto", "ann smith"),
        ("@ann is based in Porto", "home", "porto", "ann"),
        ("My sister lives in Porto", "sister home", "porto", None),
        ("Ann's sister lives in Porto", "sister home", "porto", "ann"),
        ("I work at Initech", "employer", "initech", None),
        ("He works for Initech", "employer", "initech", None),
        ("I work as a cook", "job", "cook", None),
        ("My job title is cook", "job", "cook", None),
        ("My name is Ann", "name", "ann", None),
        ("I am called Ann", "name", "ann", None),
        ("The name of my boat is Mia", "boat name", "mia", None),
        ("Dog is called Max", "dog name", "max", None),
        ("My birthday is March 15", "birthday", "m03 15", None),
        ("My birthday is on the 15th of March", "birthday", "m03 15", None),
        ("I was born on 1990-03-15", "birthday", "1990 m03 15", None),
        ("I was born in 1990", "birthday", "1990", None),
        ("I was born in Porto", "hometown", "porto", None),
        ("I am 34", "age", "34", None),
        ("Ann is 34 years old", "age", "34", "ann"),
        ("My phone number is 555-0100", "phone", "5550100", None),
        ("My favourite colour is blue", "favourite:colour", "blue", None),
        ("Favorite color: blue", "favourite:colour", "blue", None),
        ("favourite colour blue", "favourite:colour", "blue", None),
        ("Blue is my favorite color", "favourite:colour", "blue", None),
        ("Ann's favourite ice cream is mango", "favourite:ic cream", "mango", "ann"),
        ("Q likes mayo", "attitude:mayo", "like", "q"),
        ("I really love mayo", "attitude:mayo", "like", None),
        ("I hate mayo", "attitude:mayo", "dislike", None),
        ("I can’t stand mayo", "attitude:mayo", "dislike", None),
        ("She doesn't like mayo", "attitude:mayo", "dislike", None),
        ("I'm not a fan of mayo", "attitude:mayo", "dislike", None),
        ("I like to swim", "attitude:swim", "like", None),
        ("I like swimming", "attitude:swim", "like", None),
        ("Actually, I live in Porto", "home", "porto", None),
        ("Remember that I live in Porto", "home", "porto", None),
    ],
)
def test_an_attribute_is_read_in_many_forms(
    text: str, name: str, value: str, hint: str | None
) -> None:
    assert stated(text) == (name, value, hint)


@pytest.mark.parametrize(
    "text",
    [
        "I used to live in Porto",
        "I would like mayo",
        "I'd like mayo",
        "Do I live in Porto?",
        "P said Q likes mayo",
        "I live in Porto and have two kids",
        "I live in Porto. I work at Initech.",
        "I work at Initech as a cook",
        "I live in a house",
        "I live in fear",
        "I moved to the marketing team",
        "It is 34 years old",
        "This is called a spade",
        "One of my friends lives in Porto",
        "Q is like a brother",
        "I'm engaged in a project",
        "I like it",
        "My birthday is 03/04/1990",
        "I have a dog named Max",
        "dog named Max",
        "P and Q live in Porto",
        "",
        "x" * 1000,
    ],
)
def test_what_states_more_or_something_else_has_no_attribute(text: str) -> None:
    assert parse_attribute(text) is None


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("I live in Porto", "Q moved to Lisbon"),
        ("I live in Porto", "I no longer live in Porto"),
        ("I live in Porto", "I don't live in Porto anymore"),
        ("My favourite colour is red", "favorite color: blue"),
        ("Q likes mayo", "I hate mayo"),
        ("I hate mayo", "I don't hate mayo"),
        ("I am married", "I am single"),
        ("I'm married to Ann", "I got divorced"),
        ("I married Ann", "I'm married to Bea"),
        ("I'm married", "I'm not married"),
        ("I am 34", "I turned 35"),
        ("I'm allergic to nuts", "I'm not allergic to nuts"),
        ("My boss is Ann", "My manager is Bea"),
        ("My email is a@example.org", "My e-mail address is c@example.org"),
    ],
)
def test_two_values_of_one_attribute_differ_and_may_contradict(a: str, b: str) -> None:
    first, second = parse_attribute(a), parse_attribute(b)
    assert first is not None
    assert second is not None
    assert is_incompatible(first, second)
    assert is_incompatible(second, first)
    assert may_contradict(a, b)
    assert may_contradict(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("I live in Porto", "I live in Porto, Portugal"),
        ("My name is Ann", "My name is Ann Smith"),
        ("My birthday is March 15", "I was born on 15 March 1990"),
        ("I live in Porto", "I work at Initech"),
        ("I like tea", "I hate coffee"),
        ("My favourite food is rice", "My favourite colour is red"),
        ("I live in Porto", "My sister lives in Lisbon"),
        ("I don't live in Porto", "I live in Lisbon"),
        ("I don't live in Porto", "I don't live in Rome"),
        ("I don't hate mayo", "I like mayo"),
    ],
)
def test_values_that_agree_or_belong_elsewhere_do_not_differ(a: str, b: str) -> None:
    first, second = parse_attribute(a), parse_attribute(b)
    assert first is not None
    assert second is not None
    assert not is_incompatible(first, second)
    assert not may_contradict(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The shop is open on Sundays", "The shop is closed on Sundays"),
        ("Q smokes", "Q doesn't smoke"),
        ("Q eats meat", "Q never eats meat"),
        ("The server is not available", "The server is available"),
        ("The office is in Porto", "The office is in Lisbon"),
        ("The deadline is March 15", "The deadline is March 20"),
        ("The budget is 500", "The budget is 700"),
    ],
)
def test_a_statement_and_its_denial_may_contradict(a: str, b: str) -> None:
    assert may_contradict(a, b)
    assert may_contradict(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Ann lives in Porto", "Bea lives in Lisbon"),
        ("Ann is a doctor", "Ann is a mother"),
        ("Ann is tall", "Ann is kind"),
        ("Ann likes mayo", "Bea hates mayo"),
        ("I play chess", "I don't play the piano"),
        ("I like tea", "I love tea"),
        ("", ""),
    ],
)
def test_what_can_both_be_true_does_not_contradict(a: str, b: str) -> None:
    assert not may_contradict(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Q has two dogs", "Q has 2 dogs"),
        ("Launch on March 15", "The launch is on the 15th of March"),
        ("Born 1990-03-15", "Born March 15, 1990"),
        ("Ann met Bob in the park", "In the park Ann met Bob"),
        ("Likes tea with milk", "The user likes tea with milk"),
        ("Actually, Ann met Bob", "Ann met Bob"),
        ("I love tea", "I adore tea"),
        ("Max is my dog", "My dog is Max"),
        ("Pays 1,000 euros", "Pays 1000 euros"),
    ],
)
def test_details_agree_in_any_spelling(a: str, b: str) -> None:
    assert has_same_details(a, b)
    assert has_same_details(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("I have a dog named Max", "I have a dog named Rex"),
        ("i have a dog named max", "i have a dog named rex"),
        ("I have a dog", "I have a cat"),
        ("Max is a dog", "Rex is a dog"),
        ("Takes 1.5 mg", "Takes 15 mg"),
        ("Launch on March 15", "Launch on March 16"),
        ("Launch on March 15", "Launch on April 15"),
        ("Meet on Monday", "Meet on Tuesday"),
        ("Ann owes Bob 5", "Bob owes Ann 5"),
        ("has 3 cats and 2 dogs", "has 2 cats and 3 dogs"),
        ("Ask @ann", "Ask @bob"),
        ("犬の名前はマックス", "犬の名前はレックス"),
        ("has two brothers", "has three brothers"),
    ],
)
def test_another_name_number_or_date_is_another_detail(a: str, b: str) -> None:
    assert not has_same_details(a, b)
    assert not has_same_details(b, a)


@pytest.mark.parametrize(
    ("text", "many"),
    [
        ("I have a dog named Max", True),
        ("dog named Max", True),
        ("My sister lives in Porto", True),
        ("My dog's name is Max", True),
        ("Q has two kids", True),
        ("Ann is a friend of mine", True),
        ("I live in Porto", False),
        ("My favourite dog breed is the poodle", False),
        ("I hate dogs", False),
        ("Mr Parsons is a doctor", False),
    ],
)
def test_pets_children_siblings_and_friends_are_many(text: str, *, many: bool) -> None:
    assert is_many_valued(text) == many


def test_kinds_match_whole_words_in_either_number() -> None:
    assert many_valued_nouns("Two dogs, puppies and a Cat; the Parsons' category") == (
        "cat",
        "dog",
        "puppy",
    )


@pytest.mark.parametrize(
    ("text", "corrects", "denied"),
    [
        ("Actually, I live in Porto", True, None),
        ("No, actually it's Tuesday", True, None),
        ("Correction: the launch is on Friday", True, None),
        ("My birthday is actually in May", True, None),
        ("I meant Tuesday", True, None),
        ("My dog is called Rex, not Max", True, "Max"),
        ("It is not Max but Rex", True, "Max"),
        ("I live in Porto", False, None),
        ("I no longer live in Porto", False, None),
        ("I don't live there anymore", False, None),
        ("I actually enjoy running", False, None),
        ("Actually, I also have a cat", False, None),
        ("Not only tea but also coffee", False, "only tea"),
    ],
)
def test_a_correction_says_so(text: str, denied: str | None, *, corrects: bool) -> None:
    assert is_correction(text) == corrects
    assert denied_part(text) == denied


VOCABULARY = """
    I Ann my dog's favourite colour is not lives in Porto likes hates mayo two 15 March no longer
    actually, . ' the name of and @q can't stand born on
"""
words = st.sampled_from(VOCABULARY.split())
sentences = st.lists(words, max_size=10).map(" ".join) | st.text(max_size=80)


@given(sentences, sentences)
def test_any_two_texts_are_compared_in_either_order_alike(a: str, b: str) -> None:
    assert may_contradict(a, b) == may_contradict(b, a)
    assert has_same_details(a, b) == has_same_details(b, a)


@given(sentences)
def test_a_text_never_speaks_against_itself(text: str) -> None:
    assert not may_contradict(text, text)
    assert has_same_details(text, text)
    if attribute := parse_attribute(text):
        assert not is_incompatible(attribute, attribute)


@pytest.mark.parametrize(
    "text",
    ["really " * 40, "a 's " * 60, "My " * 100, "I " + "now " * 70, "since " * 50],
    ids=["adverbs", "possessives", "determiners", "now", "since"],
)
def test_a_tangled_sentence_is_read_in_no_time(text: str) -> None:
    begun = time.process_time()
    parse_attribute(text)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("unit", ["!", "not a ", "Ann ", "a\u0301\u0323", "1 ", "dog, not "])
def test_a_long_text_is_compared_in_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    begun = time.process_time()
    assert has_same_details(text, text)
    assert not may_contradict(text, text)
    is_correction(text)
    is_many_valued(text)
    assert time.process_time() - begun < 10
