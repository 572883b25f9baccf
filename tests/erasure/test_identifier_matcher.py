"""Where a text names somebody: whole tokens, in whatever spelling, and nothing else."""

import time
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.erasure.identifier_matcher import ERASED, IdentifierMatcher

WORDS = st.text(alphabet="abcXYZéß_0", min_size=1, max_size=6)
JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Ann likes tea", "[erased] likes tea"),
        ("ask ANN, please", "ask [erased], please"),
        ("Ann's tea", "[erased]'s tea"),
        ("Anna and Joann and ann_b stay", "Anna and Joann and ann_b stay"),
        ("write to @ann now", "write to [erased] now"),
        ("Mary  Ann\nLee came", "[erased] came"),
        ("Lee came", "Lee came"),
        ("a@ann.example", "a@[erased].example"),
    ],
)
def test_identifiers_are_replaced_as_whole_tokens_whatever_their_case(text: str, left: str) -> None:
    assert IdentifierMatcher(["Ann", "Mary Ann Lee"]).redact(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("mail ann@x.example.", "mail [erased]."),
        ("<Ann@X.example>", "<[erased]>"),
        ("mail joann@x.example", "mail joann@x.example"),
        ("mail mary.ann@x.example", "mail mary.ann@x.example"),
        ("mail ann@x.example.org", "mail ann@x.example.org"),
    ],
)
def test_an_address_inside_another_one_stays(text: str, left: str) -> None:
    assert IdentifierMatcher(["ann@x.example"]).redact(text) == left


def test_somebody_called_erased_is_replaced_once() -> None:
    traces = IdentifierMatcher(["Erased"])
    assert traces.redact("Erased said [erased]") == "[erased] said [erased]"


def test_no_identifier_changes_nothing() -> None:
    assert IdentifierMatcher([]).redact("Ann") == "Ann"
    assert IdentifierMatcher(["", " @ "]).redact("Ann @ home") == "Ann @ home"


def test_member_names_of_json_are_replaced_too() -> None:
    found = IdentifierMatcher(["Ann"]).redact_json({"Ann": ["ann", 1, None], "b": {"c": "Ann Lee"}})
    assert found == {ERASED: [ERASED, 1, None], "b": {"c": "[erased] Lee"}}


@given(st.lists(WORDS, min_size=1, max_size=4), JSON, st.data())
def test_what_was_cleaned_holds_no_trace_and_stays_as_it_is(
    names: list[str], value: Any, data: st.DataObject
) -> None:
    traces = IdentifierMatcher(names)
    name = data.draw(st.sampled_from(names))
    cleaned = traces.redact_json([value, f"({name}) came", {name: name.upper()}])
    assert not traces.has_match(cleaned)
    assert traces.redact_json(cleaned) == cleaned
    assert ERASED in str(cleaned)


@pytest.mark.parametrize(
    ("name", "text", "left"),
    [
        ("José María", "JOSE MARIA came", "[erased] came"),
        ("Jose Maria", "Jose\u0301-Mari\u0301a came", "[erased] came"),
        ("Anne-Marie", "Anne Marie, Annemarie, Annemariette", "[erased], [erased], Annemariette"),
        ("O'Brien", "O’Brien’s and OBrien", "[erased]’s and [erased]"),
        ("J. R. Smith", "J.R.Smith, J R Smith", "[erased], [erased]"),
        ("Mary Ann", "Mary, Ann and Mary\nAnn", "Mary, Ann and [erased]"),
        ("Mary Ann", "I met Mary. Ann left.", "I met Mary. Ann left."),
        (
            "Quill",
            "Q\u00adui\u200dll, Qu\u200bill, the\u200bQuill",
            "[erased], [erased], the\u200b[erased]",
        ),
        ("Ｑuill", "ＱＵＩＬＬ quill", "[erased] [erased]"),
        ("Łukasz Søren", "lukasz soren", "[erased]"),
        ("Straße", "STRASSE", "[erased]"),
        ("山田太郎", "私は山田太郎です、山田 太郎", "私は[erased]です、[erased]"),
        ("山田 太郎", "私は山田太郎です", "私は[erased]です"),
        ("Ann", "私はAnnです、Annaです", "私は[erased]です、Annaです"),
        ("ジョン・スミス", "ｼﾞｮﾝ･ｽﾐｽさん", "[erased]さん"),
        ("カ", "ガ", "ガ"),
        ("राम", "रामा काराम राम।", "रामा काराम [erased]।"),
        ("김", "\u1100\u1175\u11b7 김치", "[erased] 김치"),
        ("Андрей", "АНДРЕЙ и Андреи", "[erased] и Андреи"),
        ("محمد", "مُحَمَّد", "[erased]"),
        ("Đỗ", "what do đỗ", "what do [erased]"),
        ("ann@x.example", "邮箱ann@x.example。", "邮箱[erased]。"),
        ("ann🌸", "hi ann🌸!", "hi [erased]!"),
        ("+49 170 123", "call +49-170-123", "call [erased]"),
    ],
)
def test_a_name_is_found_in_every_spelling_that_means_it(name: str, text: str, left: str) -> None:
    assert IdentifierMatcher([name]).redact(text) == left


def test_names_that_overlap_go_as_one() -> None:
    assert IdentifierMatcher(["Mary Ann", "Ann Lee"]).redact("Mary Ann Lee came") == "[erased] came"


def test_what_has_no_letter_is_no_name() -> None:
    assert IdentifierMatcher(["...", "—", "?"]).redact("so ... what — eh?") == "so ... what — eh?"


def test_a_long_number_is_found_as_a_number_too() -> None:
    traces = IdentifierMatcher(["491701234567", "7"])
    assert traces.redact_json({"n": 491701234567, "m": 7, "on": True}) == {
        "n": ERASED,
        "m": 7,
        "on": True,
    }


LETTERS = (
    "abyzéñüßøłİ",
    "αβςώΐ",
    "абйёїґ",
    "אבשׁ",
    "ابمىه",
    "कखमाि्",
    "กขมาิ้ำ",
    "山田太郎々",
    "かがパャ・",
    "김철수",
    "ეთგ",
    "0123",
)
NAMES = st.one_of(
    *(
        st.lists(st.text(alphabet=letters, min_size=2, max_size=5), min_size=1, max_size=3)
        for letters in LETTERS
    )
).filter(lambda parts: all(part[0].isalnum() for part in parts))
SPELLINGS = st.sampled_from(
    (
        lambda text: text,
        str.upper,
        str.lower,
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: unicodedata.normalize("NFKC", text),
        lambda text: text.replace(" ", "-"),
        lambda text: text.replace(" ", "\u3000 "),
        "\u00ad".join,
        lambda text: text[:1] + "\u200b" + text[1:],
    )
)


@given(NAMES, SPELLINGS, SPELLINGS, st.text(max_size=20), st.text(max_size=20))
def test_after_replacing_nothing_is_found_whatever_the_script_and_the_spelling(
    parts: list[str], one: Any, other: Any, before: str, after: str
) -> None:
    name = " ".join(parts)
    traces = IdentifierMatcher([name])
    spelt = other(one(name))
    assert traces.has_match(f"({spelt})")
    left = traces.redact(f"{before} ({spelt}) {after}")
    assert not traces.has_match(left)
    assert traces.redact(left) == left
    assert ERASED in left


@given(NAMES, st.text(alphabet="kqvwxKQ .,-_'@!?\n()[]", max_size=60))
def test_a_text_without_the_name_stays_as_it_is(parts: list[str], text: str) -> None:
    assert IdentifierMatcher([" ".join(parts)]).redact(text) == text


@given(st.text(max_size=40), st.lists(st.text(min_size=1, max_size=6), max_size=4))
def test_places_are_in_the_text_and_in_order(text: str, names: list[str]) -> None:
    spans = IdentifierMatcher(names).find_spans(text)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end in spans)


@pytest.mark.parametrize(
    "text",
    ["山 " * 40_000, "ann " * 40_000, "a" + "\u0301" * 80_000, "é" * 80_000, "ann" + " " * 80_000],
    ids=["unspaced", "words", "marks", "accents", "blanks"],
)
def test_a_long_text_takes_no_long_time(text: str) -> None:
    begun = time.process_time()
    IdentifierMatcher(["山山", "ann lee", "éé x", "aé"]).redact(text)
    assert time.process_time() - begun < 3


@given(st.lists(WORDS, min_size=1, max_size=3), st.dictionaries(WORDS, st.integers(), max_size=6))
def test_no_member_is_lost_where_names_become_one(
    names: list[str], members: dict[str, int]
) -> None:
    traces = IdentifierMatcher([*names, "2"])
    spelled = members | {form: 1 for name in names for form in (name, name.upper(), ERASED)}
    cleaned = traces.redact_json(spelled)
    assert len(cleaned) == len(spelled)
    assert list(cleaned.values()) == [traces.redact_json(value) for value in spelled.values()]
    assert not traces.has_match(cleaned)
    assert traces.redact_json(cleaned) == cleaned


def test_the_later_of_equal_names_get_a_number() -> None:
    found = IdentifierMatcher(["Ann", "Lee"]).redact_json(
        {"Ann": 1, "[erased] 2": 2, "lee": 3, "b": 4}
    )
    assert found == {"[erased]": 1, "[erased] 2": 2, "[erased] 3": 3, "b": 4}
