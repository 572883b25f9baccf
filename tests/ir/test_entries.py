"""Entries: what they hold, what they refuse, when they end."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.ir import (
    MemoryEntry,
    MemoryScope,
    apply_default_ttl,
    create_memory,
)

LONG_TERM, SESSION, ORG = MemoryScope.LONG_TERM, MemoryScope.SESSION, MemoryScope.ORG
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def an_entry(**members: Any) -> MemoryEntry:
    given = {"scope": LONG_TERM, "agent_slug": "my-agent", "key": "k", "value": {"a": 1}} | members
    return MemoryEntry(**given)


def test_a_new_entry_holds_what_was_said_and_nothing_else() -> None:
    entry = create_memory(SESSION, "my-agent", "task", {"step": "analysis"}, "run-1", tags=["task"])
    assert (entry.scope, entry.agent_slug, entry.run_id) == ("session", "my-agent", "run-1")
    assert (entry.key, entry.value, entry.tags) == ("task", {"step": "analysis"}, ["task"])
    assert (entry.pii_tags, entry.metadata, entry.retention_policy) == ([], {}, None)
    assert (entry.expires_at, entry.embedding) == (None, None)
    assert entry.created_at == entry.updated_at
    assert entry.created_at.utcoffset() == timedelta()


def test_two_entries_have_two_ids() -> None:
    assert an_entry().memory_id != an_entry().memory_id


@pytest.mark.scenario(25)
@pytest.mark.parametrize(
    "run", [{}, {"run_id": None}, {"run_id": ""}], ids=["absent", "null", "empty"]
)
def test_a_session_entry_needs_a_run(run: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="run_id"):
        create_memory(SESSION, "my-agent", "k", {}, **run)
    with pytest.raises(ValueError, match="run_id"):
        an_entry(scope=SESSION, **run)


def test_a_run_cannot_be_taken_from_a_session_entry() -> None:
    entry = an_entry(scope=SESSION, run_id="run-1")
    for none in (None, ""):
        with pytest.raises(ValueError, match="run_id"):
            entry.run_id = none
        assert entry.run_id == "run-1"
    lasting = an_entry()
    with pytest.raises(ValueError, match="run_id"):
        lasting.scope = SESSION
    assert lasting.scope is LONG_TERM


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("agent_slug", "my agent"),
        ("agent_slug", "x" * 65),
        ("agent_slug", "mine-private"),
        ("key", ""),
        ("key", "k" * 256),
        ("key", "\x00"),
        ("value", ["a"]),
        ("value", {"a": {1, 2}}),
        ("value", {"a": float("nan")}),
        ("value", {1: "a"}),
        ("value", {"a": "\ud800"}),
        ("metadata", {"a": object()}),
        ("tags", ["x" * 101]),
        ("pii_tags", ["phone_number"]),
        ("retention_policy", "for_ever"),
        ("scope", "global"),
        ("memory_id", "a b"),
        ("embedding", [float("inf")]),
        ("expires_at", "soon"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
def test_a_wrong_value_is_refused_when_made_and_when_assigned(field: str, wrong: Any) -> None:
    with pytest.raises(ValueError, match=field):
        an_entry(**{field: wrong})
    entry = an_entry()
    before = getattr(entry, field)
    with pytest.raises(ValueError, match=field):
        setattr(entry, field, wrong)
    assert getattr(entry, field) == before


def test_a_refusal_does_not_repeat_what_was_refused() -> None:
    with pytest.raises(ValueError, match="pii_tags") as refusal:
        an_entry(pii_tags=["zanzibar"], value={"a": 1})
    assert "zanzibar" not in str(refusal.value)
    with pytest.raises(ValueError, match="value") as refusal:
        an_entry(value="zanzibar")
    assert "zanzibar" not in str(refusal.value)


def test_other_fields_are_refused() -> None:
    with pytest.raises(ValueError, match="visibility"):
        an_entry(visibility="public")
    with pytest.raises(ValueError, match="visibility"):
        an_entry().visibility = "public"  # type: ignore[attr-defined]


def test_an_unknown_tag_is_answered_with_the_ten() -> None:
    with pytest.raises(ValueError, match="pii_tags") as refusal:
        an_entry(pii_tags=["phone_number"])
    for tag in ("email", "phone", "ssn", "name", "address", "credit_card", "ip_address"):
        assert tag in str(refusal.value)


def test_tags_of_personal_data_are_lower_case_sorted_and_once() -> None:
    assert an_entry(pii_tags=["Phone", "email", "phone"]).pii_tags == ["email", "phone"]


@pytest.mark.parametrize(
    ("scope", "policy"), [(SESSION, "permanent"), (LONG_TERM, "ephemeral"), (ORG, "unheard_of")]
)
def test_a_policy_that_the_scope_does_not_allow_is_answered_with_those_it_does(
    scope: MemoryScope, policy: str
) -> None:
    with pytest.raises(ValueError, match=r"retention_policy.*dev"):
        an_entry(scope=scope, run_id="run-1", retention_policy=policy)


def test_a_time_without_offset_is_utc() -> None:
    assert an_entry(created_at=NOON.replace(tzinfo=None)).created_at == NOON
    tokyo = NOON.astimezone(timezone(timedelta(hours=9)))
    assert an_entry(expires_at=tokyo).expires_at == NOON


def test_an_entry_is_expired_from_its_last_instant_on() -> None:
    entry = an_entry(expires_at=NOON)
    assert not entry.is_expired(NOON - timedelta(microseconds=1))
    assert entry.is_expired(NOON)
    assert entry.is_expired(NOON.replace(tzinfo=None))
    assert entry.is_expired()
    assert not an_entry().is_expired()


def test_a_term_counts_from_creation_and_a_new_one_from_now() -> None:
    entry = create_memory(LONG_TERM, "my-agent", "k", {}, ttl_seconds=60)
    assert entry.expires_at == entry.created_at + timedelta(seconds=60)
    old = an_entry(created_at=NOON, updated_at=NOON)
    old.set_ttl(3600)
    assert old.expires_at == old.updated_at + timedelta(hours=1)
    assert old.created_at == NOON < old.updated_at


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "60"], ids=repr)
def test_a_term_is_a_second_at_least(wrong: Any) -> None:
    with pytest.raises(ValueError, match="ttl_seconds"):
        create_memory(LONG_TERM, "my-agent", "k", {}, ttl_seconds=wrong)
    entry = an_entry()
    with pytest.raises(ValueError, match="ttl_seconds"):
        entry.set_ttl(wrong)
    assert entry.expires_at is None


@pytest.mark.scenario(24)
def test_default_terms_are_an_hour_thirty_days_and_ninety_days() -> None:
    assert [apply_default_ttl(scope) for scope in (SESSION, LONG_TERM, ORG)] == [
        3_600,
        2_592_000,
        7_776_000,
    ]


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text("abc_", max_size=5), _json, max_size=4))
def test_any_json_object_is_a_value(value: dict[str, Any]) -> None:
    assert an_entry(value=value).value == value
