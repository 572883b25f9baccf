"""Which words make a text sensitive, and what is said in confidence."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.memories.model import Sensitivity
from recollect.screening.sensitivity import is_confidential, sensitivity_floor

SENSITIVE = {
    "health": [
        "my dad has diabetes",
        "Ann was diagnosed with lupus",
        "Q had a stroke last year",
        "She's allergic to peanuts",
        "his migraines are back",
        "I'm on blood thinners",
        "Bob is in the hospital",
        "Ann broke her leg on Sunday",
        "I was sick all week",
        "he is a recovering alcoholic",
        "tested positive for covid",
        "Ann's surgeries went well",
        "Mum has high blood pressure",
    ],
    "mind": [
        "I have been fighting depression for years",
        "Q suffers from anxiety",
        "my therapist says to write more",
        "he has panic attacks",
        "she’s burnt out",
        "Bob started therapy in May",
        "her ADHD makes it hard",
    ],
    "pregnancy": [
        "Q and I are expecting",
        "Q and I are expecting!",
        "we're expecting",
        "We’re expecting a baby",
        "we are expecting our first child in May",
        "Ann is expecting again.",
        "Ann is pregnant",
        "they are trying for a baby",
        "after the miscarriage she moved",
        "Q and Ann are expecting their second.",
    ],
    "money": [
        "my salary is 4,000 a month",
        "Bob is in debt",
        "Q filed for bankruptcy",
        "Ann earns $90k",
        "he owes me 200 euros",
        "I'm broke until payday",
        "their mortgage is too high",
        "we took out a small loan",
        "our savings are gone",
        "I make 80k a year",
        "they can't afford the rent",
    ],
    "law": [
        "Bob was arrested in June",
        "S is divorcing",
        "she sued her landlord, the lawsuit is on",
        "he has a criminal record",
        "Ann's court date is Monday",
        "he is out on bail",
        "the custody battle goes on",
        "lost his licence to a DUI",
    ],
    "intimacy": [
        "Q is gay",
        "she had an affair",
        "Bob cheated on his wife",
        "he came out to his parents, he is bisexual",
        "their sex life",
        "she takes birth control",
        "Ann left her husband",
    ],
}
PUBLIC = [
    "we are expecting a parcel",
    "I'm expecting guests on Friday",
    "it took longer than I was expecting",
    "that is not what we're expecting.",
    "I love a healthy salad",
    "buy a legal pad",
    "there is a depression in the road",
    "a book about the Great Depression",
    "the module has technical debt",
    "tech debt slows us down",
    "Q works at the hospital as a nurse",
    "S is a therapist",
    "I am sick of meetings",
    "I can't make it to the tennis court",
    "non-alcoholic beer please",
    "the flag is disabled in production",
    "we diagnosed the bug together",
    "class inheritance is overused",
    "cache eviction runs hourly",
    "the endpoint is undocumented",
    "a stroke of luck",
    "we broke up the monolith",
    "the build is broken",
    "extra virgin olive oil",
    "Ann has hearing aids on her shopping list",
    "std::vector is fine",
    "my favourite colour is blue",
    "Q's launch is March 15",
    "I make bread at home",
    "Paid time off is nice",
    "say it with conviction",
    "he plays the cello in Sussex",
    "I lost my keys",
    "the legal team meets on Monday",
    "a loan word from French",
    "health checks of the service pass",
    "he paid 5 euros for coffee",
    "I get 3k steps a day",
    "I had a flu shot",
    "my bonus points in the game",
    "my prescription glasses are round",
    "the phone is charged with a cable",
    "the flaky test is under investigation",
    "we can't afford downtime",
    "the seizure of power in 1917",
    "the wheelchair ramp is on the left",
    "he left his wife a note",
    "",
]


@pytest.mark.parametrize("text", [text for texts in SENSITIVE.values() for text in texts])
def test_private_matters_are_sensitive(text: str) -> None:
    assert sensitivity_floor(text) is Sensitivity.SENSITIVE
    assert sensitivity_floor(text.upper()) is Sensitivity.SENSITIVE
    assert sensitivity_floor(f"Hello there. {text.replace(' ', '  ')}") is Sensitivity.SENSITIVE


@pytest.mark.parametrize("text", PUBLIC)
def test_everyday_words_have_no_floor(text: str) -> None:
    assert sensitivity_floor(text) is Sensitivity.PUBLIC


@pytest.mark.parametrize("word", ["cancerous-x", "jailor", "gayle", "prisoner7", "rapeseed"])
def test_a_part_of_a_word_is_not_that_word(word: str) -> None:
    assert sensitivity_floor(f"I met {word} there") is Sensitivity.PUBLIC


def test_an_invisible_character_hides_no_word() -> None:
    assert sensitivity_floor("my dad has dia\u200bbetes") is Sensitivity.SENSITIVE


@pytest.mark.parametrize(
    "text",
    [
        "between us, S is divorcing",
        "Just between you and me: I quit",
        "Don't tell Ann, but we bought a boat",
        "please don’t tell anyone",
        "I told you in confidence",
        "Keep this to yourself",
        "keep it between us please",
        "keep that quiet",
        "this is confidential",
        "It's a secret",
        "off the record, I dislike the plan",
        "She asked me not to tell",
        "nobody else knows yet",
        "do not share this with the team",
    ],
)
def test_a_plea_to_keep_it_is_heard(text: str) -> None:
    assert is_confidential(text)


@pytest.mark.parametrize(
    "text",
    [
        "the fence between us and the neighbours",
        "there are three cars between us there",
        "don't tell me you forgot",
        "I can't tell the difference",
        "a drop in confidence among buyers",
        "in confidence intervals we trust",
        "I say it with confidence",
        "keep this in the fridge",
        "the secret of good bread is time",
        "tell Ann about the meeting",
        "",
    ],
)
def test_other_talk_is_no_plea(text: str) -> None:
    assert not is_confidential(text)


@given(st.text(), st.text())
def test_no_text_around_it_lifts_the_floor(before: str, after: str) -> None:
    assert sensitivity_floor(f"{before} diabetes {after}") is Sensitivity.SENSITIVE


@pytest.mark.parametrize(
    "piece", ["a", "is ", "expecting ", "my ", "owes a ", "ann and ", "$1", "don't "]
)
def test_time_is_linear_in_hostile_text(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    started = time.process_time()
    sensitivity_floor(text)
    is_confidential(text)
    assert time.process_time() - started < 1
