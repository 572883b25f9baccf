"""Which spellings are one word, in any script."""

import string
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.text.tokens import STOP_WORDS, query_tokens, stem, tokens

anything = st.text(st.characters(), max_size=80)
unspaced = st.text("漢字東京猫ひらがなカタカナーไทยລາວខ្មែរမြန်", min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The quick-brown FOX, 42 times!", "the quick brown fox 42 times"),
        ("snake_case and e-mail", "snake case and e mail"),
        ("Caroline's Caroline’s Carolines'", "caroline caroline carolines"),
        ("I've we'll they're she'd I'm it's", "i we they she i it"),
        ("don't don’t shouldn't've", "dont dont shouldnt"),
        ("l'école O'Brien rock'n'roll", "l ecole o brien rock n roll"),
        ("Café CAFÉ cafe\u0301 JOSÉ's", "cafe cafe cafe jose"),
        ("Łódź Ærø Straße İstanbul ılık Hawaiʻi", "lodz aero strasse istanbul ilik hawaii"),
        ("ﬁne Ｆｕｌｌ x² ①②", "fine full x2 1 2"),
        ("Ελλάδα ΌΣΟΣ όσος", "ελλαδα οσοσ οσοσ"),
        ("Ёлка мой мои́ Україна", "елка мой мои україна"),
        ("كِتَابٌ أحمد كتـــاب ٢٠٢٤", "كتاب احمد كتاب 2024"),
        ("שָׁלוֹם", "שלום"),
        ("नमस्ते दुनिया की", "नमस्ते दुनिया की"),
        ("안녕하세요 세계", "안녕하세요 세계"),
        ("Apple™ 5㎏ €50 $50", "apple tm 5 kg € 50 50"),
        ("👍🏽 ❤️ 👩‍💻 1️⃣ 😀😀", "👍 ❤ 👩 💻 1 😀 😀"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zero width"),
        ("a\0b \ud800c", "ab c"),
        ("naïve a\0b \ud800c", "naive ab c"),
        ("?!… — ___ \t\n", ""),
    ],
)
def test_spellings_of_one_word_are_one_token(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()
    assert query_tokens(text) == expected.split()


def test_letters_whose_mark_makes_another_letter_stay_apart() -> None:
    assert tokens("が") != tokens("か")
    assert tokens("की") != tokens("का")
    assert tokens("мой") != tokens("мои")


def test_scripts_without_spaces_become_pairs_and_the_last_character() -> None:
    assert tokens("東京に行く") == ["東京", "京に", "に行", "行く", "く"]
    assert query_tokens("東京に行く") == ["東京", "京に", "に行", "行く"]
    assert tokens("猫") == query_tokens("猫") == ["猫"]
    assert tokens("iPhone15を買う。") == ["iphone15", "を買", "買う", "う"]
    assert tokens("ｶﾞ") == tokens("ガ")


@given(unspaced, unspaced, unspaced)
def test_a_piece_of_a_run_is_found_by_its_tokens(before: str, piece: str, after: str) -> None:
    held = tokens(before + piece + after)
    assert all(any(t.startswith(q) for t in held) for q in query_tokens(piece))


@given(anything, anything)
def test_a_text_is_found_by_its_own_words_as_prefixes(text: str, other: str) -> None:
    held = tokens(f"{text} {other}")
    assert all(any(t.startswith(q) for t in held) for q in query_tokens(text))


@given(anything)
def test_a_space_between_texts_separates_their_words(text: str) -> None:
    assert tokens(f"{text} {text}") == tokens(text) * 2


@given(anything)
@example("\u0345\u0301ﷺ½\u037e`\u1fef\u2474")
def test_tokens_hold_nothing_that_an_index_could_trip_over(text: str) -> None:
    for token in tokens(text):
        assert 1 <= len(token) <= 64
        assert not set(token) & set(string.punctuation)
        assert not any(c.isspace() for c in token)
        assert all(unicodedata.category(c) not in ("Cc", "Cf", "Cs") for c in token)
        assert token.encode()


@given(anything)
def test_case_and_normal_form_make_no_difference(text: str) -> None:
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(unicodedata.normalize("NFC", text))


@given(st.text("abcdefXYZ äöüéñÅØ ÇŠŽ '’", max_size=60))
def test_capitals_make_no_difference(text: str) -> None:
    assert tokens(text.upper()) == tokens(text.lower())


def test_a_long_word_is_cut() -> None:
    assert tokens("a" * 100) == ["a" * 64]
    assert tokens("é" * 100) == ["e" * 64]


@pytest.mark.parametrize(
    "hostile",
    [
        "a" + "\u0301\u0323" * 50_000,
        ("क" + "\u094d\u093c" * 14 + "\u0640") * 3_400,
        "\ufdfa" * 10_000,
        "'" * 100_000,
        "n't" * 33_000,
        "👩‍💻" * 33_000,
        "漢" * 100_000,
    ],
    ids=["piled marks", "hidden piles", "long letters", "quotes", "endings", "emoji", "one run"],
)
def test_no_text_takes_more_than_linear_time(hostile: str) -> None:
    started = time.process_time()
    tokens(hostile)
    assert time.process_time() - started < 2


def test_stems_leave_other_languages_and_numbers_alone() -> None:
    assert stem("running") == "run"
    assert [stem(word) for word in ("бегущий", "2024s", "mp3ing", "猫")] == [
        "бегущий",
        "2024s",
        "mp3ing",
        "猫",
    ]


@given(st.sampled_from(sorted(STOP_WORDS)))
def test_stop_words_are_in_the_form_of_tokens(word: str) -> None:
    assert tokens(word) == [word]


def test_function_words_are_stop_words() -> None:
    bare = """a an and are as at be been but by can could did do does for from had has have he her
    his how i in is it its me my of on or our she should so that the their them they this to was we
    were what when where which who whom why will with would you your"""
    assert set(bare.split()) <= STOP_WORDS
    assert STOP_WORDS.isdisjoint(["dog", "work", "home", "first", "last", "time", "may", "new"])
