"""Titles, previews and the list's query."""

import unicodedata
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.conversations.model import (
    Conversation,
    Headline,
    clean_text,
    headline,
    is_blank,
    matches_query,
)
from recollect.kernel.ids import ConversationId, TreeId, UserId

spaced_texts = st.text(
    st.sampled_from(" \t\n\r\u00a0\u2003\x00\x01\x1b\x7f\x85\x9fabé😀") | st.characters()
)


def a_conversation(title: str | None = None, **metadata: Any) -> Conversation:
    now = datetime(2024, 5, 1, tzinfo=UTC)
    return Conversation(ConversationId("c"), TreeId("c"), UserId("ann"), title, metadata, now, now)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("", ""),
        (" \t\r\n\u00a0 ", ""),
        ("  Hello\n\n  world\t", "Hello world"),
        ("a\x00b\x07c\x1b[0m\x7f\x9f", "abc[0m"),
        ("a \x01 b", "a b"),
        ("a\u0085b", "a b"),
        ("👩\u200d💻 x", "👩\u200d💻 x"),
    ],
)
def test_clean_text(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned


@given(spaced_texts)
def test_cleaned_text_has_single_spaces_and_no_control_characters(text: str) -> None:
    cleaned = clean_text(text)
    assert cleaned == cleaned.strip()
    assert "  " not in cleaned
    assert all(c == " " or not (c.isspace() or unicodedata.category(c) == "Cc") for c in cleaned)
    assert clean_text(cleaned) == cleaned


@given(spaced_texts)
def test_cleaning_keeps_every_other_character_in_order(text: str) -> None:
    shown = [c for c in text if not c.isspace() and unicodedata.category(c) != "Cc"]
    assert clean_text(text).replace(" ", "") == "".join(shown)
    assert is_blank(text) == (not shown)


@given(spaced_texts)
def test_a_title_is_the_first_forty_characters_and_nothing_added(text: str) -> None:
    assert headline(text).title == (clean_text(text)[:40] or None)


def test_a_blank_text_gives_no_title_and_no_preview() -> None:
    assert headline(" \n\x01") == Headline(None, None)


def test_a_title_counts_characters_after_cleaning() -> None:
    assert headline("\n\n" + "é" * 39 + "   xyz").title == "é" * 39 + " "


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a" * 100, "a" * 100),
        ("a" * 101, "a" * 100 + "…"),
        (" a  b ", "a b"),
        ("a" * 100 + " ", "a" * 100),
    ],
)
def test_a_preview_is_marked_only_when_cut(text: str, shown: str) -> None:
    assert headline(text).preview == shown


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", True),
        ("trip", True),
        ("TRIP to", True),
        ("rome", True),
        ("STRASSE", True),
        ("paris", False),
        ("city", False),
        ("42", False),
        ("trip rome", False),
        ("%", False),
        ("_", False),
    ],
)
def test_a_query_is_a_part_of_the_title_or_of_a_metadata_string(query: str, found: bool) -> None:
    conversation = a_conversation("A Trip to …", city="Rome", deep=[{"street": "Straße", "n": 42}])
    assert matches_query(conversation, query) is found


def test_a_conversation_without_title_matches_by_metadata_alone() -> None:
    assert matches_query(a_conversation(city="Rome"), "rom")
    assert not matches_query(a_conversation(), "none")
