"""Secrets that are made of plain words, and sentences about them. No value here was ever in use."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.screening.secrets import SecretFamily, find_secret

LABELS = ("passphrase", "pass phrase", "seed phrase", "seed_phrase", "Seed-Phrase", "PASSPHRASE")
SEPARATORS = (" is ", ": ", " = ", "=", " -> ", " is: ")
# Words of the usual lists, some of them ordinary or without a meaning of their own.
PLAIN = ("abandon", "basket", "candle", "dolphin", "engine", "forest", "guitar", "hamster")
PLAIN_ONLY_LATER = ("open", "about", "secret", "above", "absent", "into", "simple")
ABOUT = ("stored", "kept", "required", "written", "encrypted", "never", "in", "not")
GOES_ON = ("in the vault", "for every login", "down by the admin", "with the other one")


def refused(text: str) -> bool:
    found = find_secret(text)
    return found is not None and found.family is SecretFamily.LABELLED


@pytest.mark.parametrize(
    "text",
    [
        "passphrase: purple monkey open secret",
        "my passphrase is horse in the barn",
        "seed phrase: abandon ability able about above absent",
        "seed phrase: open secret purple monkey",
        "the passphrase for the laptop is purple monkey dishwasher",
        "Seed phrase:\nabandon basket candle dolphin",
        "the seed phrase -> abandon, basket, candle",
        "The passphrase is correct horse battery staple, don't tell.",
    ],
)
def test_three_plain_words_after_the_label_are_refused(text: str) -> None:
    assert refused(text)


@pytest.mark.parametrize(
    "text",
    [
        "the passphrase is stored in the vault",
        "I forgot my passphrase",
        "I forgot my seed phrase again and again",
        "passphrase: required for every login",
        "the passphrase is longer than ten words",
        "the passphrase is hopefully safe by now",
        "the seed phrase is kept somewhere safe",
        "the passphrase is never written down",
        "the passphrase for the safe is kept by the bank",
        "the passphrase is hard to remember",
        "Seed phrase:\nWe keep it at the bank",
        "a passphrase of three words is short",
    ],
)
def test_a_sentence_about_a_phrase_is_accepted(text: str) -> None:
    assert find_secret(text) is None
    assert find_secret(f"Ann said: {text}, as I wrote.") is None


@given(
    st.sampled_from(LABELS),
    st.sampled_from(SEPARATORS),
    st.sampled_from(PLAIN),
    st.lists(st.sampled_from(PLAIN + PLAIN_ONLY_LATER), min_size=2, max_size=23),
)
def test_a_phrase_of_any_words_is_refused_under_every_label(
    label: str, separator: str, first: str, rest: list[str]
) -> None:
    assert refused(f"by the way, {label}{separator}{' '.join([first, *rest])}")


@given(
    st.sampled_from(LABELS),
    st.sampled_from((" is ", ": ")),
    st.sampled_from(ABOUT),
    st.sampled_from(GOES_ON),
)
def test_what_begins_as_a_sentence_about_it_is_accepted(
    label: str, separator: str, first: str, rest: str
) -> None:
    assert find_secret(f"the {label}{separator}{first} {rest}") is None


@pytest.mark.parametrize(
    "piece",
    ["passphrase: aa bb ", "seed phrase is a, ", "passphrase:\n", "seed phrase for ", "a'b, "],
)
def test_time_is_linear_in_hostile_phrases(piece: str) -> None:
    text = "passphrase: " + piece * (100_000 // len(piece))
    started = time.process_time()
    find_secret(text)
    assert time.process_time() - started < 1
