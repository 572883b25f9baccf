"""Texts to token ids, against a small vocabulary whose ids one can read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.embedding.wordpiece import PIECE_CHARACTERS, WordPiece

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "the",
    "un",
    "##believ",
    "##able",
    "play",
    "##ing",
    "cafe",
    "ο",
    "##δ",
    "##ο",
    "##σ",
    "東",
    "京",
    "don",
    "'",
    "t",
    "!",
    "[",
    "]",
    "sep",
    "later",
    "a",
    "##a",
]


def pieces(text: str, *, tokens_max: int = 256) -> list[str]:
    return [WORDS[number] for number in WordPiece(WORDS, tokens_max=tokens_max).token_ids(text)][
        1:-1
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the", ["the"]),
        ("The  UNBELIEVABLE\n\tplaying", ["the", "un", "##believ", "##able", "play", "##ing"]),
        ("don't!", ["don", "'", "t", "!"]),
        ("Café cafe\u0301", ["cafe", "cafe"]),
        ("ΟΔΟΣ", ["ο", "##δ", "##ο", "##σ"]),
        ("東京", ["東", "京"]),
        ("the東the", ["the", "東", "the"]),
        ("unknown the", ["[UNK]", "the"]),
        ("🎉", ["[UNK]"]),
        ("th\u200de th\x00e th\ufffde", ["the", "the", "the"]),
        ("the\u00a0the\u2003the", ["the", "the", "the"]),
        ("\ud800the", ["the"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_words_become_the_longest_known_pieces(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_every_text_is_framed_by_start_and_end() -> None:
    ids = WordPiece(WORDS).token_ids("the")
    assert [WORDS[number] for number in ids] == ["[CLS]", "the", "[SEP]"]


def test_a_marker_in_a_text_is_only_text() -> None:
    assert pieces("the [SEP] the") == ["the", "[", "sep", "]", "the"]


def test_a_word_of_a_hundred_letters_is_split_and_a_longer_one_is_unknown() -> None:
    assert pieces("a" * 100) == ["a", *["##a"] * 99]
    assert pieces("a" * 101) == ["[UNK]"]


def test_long_texts_are_cut_with_the_end_still_there() -> None:
    ids = WordPiece(WORDS, tokens_max=6).token_ids("the " * 100)
    assert [WORDS[number] for number in ids] == ["[CLS]", "the", "the", "the", "the", "[SEP]"]


@pytest.mark.parametrize(
    "filler", [" ", "z", "\u0301", "\u200d"], ids=["space", "z", "mark", "joiner"]
)
def test_words_after_a_long_filler_are_found(filler: str) -> None:
    before = ["[UNK]"] if filler == "z" else []
    assert pieces(filler * (3 * PIECE_CHARACTERS) + " later") == [*before, "later"]


@given(st.integers(min_value=PIECE_CHARACTERS - 20, max_value=PIECE_CHARACTERS + 20))
def test_a_word_is_whole_wherever_the_text_is_read_in_pieces(spaces: int) -> None:
    assert pieces(" " * spaces + "unbelievable!") == ["un", "##believ", "##able", "!"]


@given(st.text(st.characters(), max_size=200))
def test_any_text_has_tokens_within_the_bound(text: str) -> None:
    ids = WordPiece(WORDS, tokens_max=32).token_ids(text)
    assert 2 <= len(ids) <= 32
    assert (WORDS[ids[0]], WORDS[ids[-1]]) == ("[CLS]", "[SEP]")
