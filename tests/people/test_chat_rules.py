"""Chats: what a caller may send, how many humans a private chat takes, and who was there when."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.errors import ValidationFailed
from recollect.kernel.ids import ChatId, PersonId
from recollect.kernel.owner import Owner
from recollect.people.chat import (
    Chat,
    ChatKind,
    Participant,
    ParticipantKind,
    check_can_join,
    check_chat,
    check_kind,
    check_participants_changeable,
    is_present,
    tree_chat_kind,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
P, Q = PersonId("p"), PersonId("q")


def a_chat(kind: ChatKind = ChatKind.GROUP, *, tree: bool = False) -> Chat:
    return Chat(id=ChatId("g1"), kind=kind, tree=tree, created_by=Owner.user("ann"), created_at=NOW)


def a_stay(joined: int, left: int | None = None) -> Participant:
    left_at = None if left is None else NOW + timedelta(seconds=left)
    return Participant(ParticipantKind.USER, "ann", NOW + timedelta(seconds=joined), left_at)


@pytest.mark.parametrize(
    ("field", "chat_id", "title", "provider"),
    [
        ("id", "", None, None),
        ("id", "c" * 256, None, None),
        ("id", "a\x00", None, None),
        ("title", "c", "t" * 501, None),
        ("title", "c", "a\x00", None),
        ("provider", "c", None, "p" * 101),
    ],
)
def test_a_field_out_of_bounds_is_named(
    field: str, chat_id: str, title: str | None, provider: str | None
) -> None:
    with pytest.raises(ValidationFailed) as caught:
        check_chat(chat_id, title=title, provider=provider)
    assert [violation.field for violation in caught.value.violations] == [field]


def test_what_reaches_the_bounds_is_taken() -> None:
    check_chat("c" * 255, title="t" * 500, provider="p" * 100)
    check_chat("slack:C1/2 é", title="", provider=None)


def test_a_private_chat_takes_one_human_and_any_agent() -> None:
    private = a_chat(ChatKind.PRIVATE)
    check_can_join(private, [], P)
    check_can_join(private, [P], P)
    check_can_join(private, [P], None)
    with pytest.raises(ValidationFailed):
        check_can_join(private, [P], Q)


def test_a_group_takes_many_and_can_not_become_private_with_two() -> None:
    check_can_join(a_chat(), [P], Q)
    check_kind(ChatKind.PRIVATE, [P])
    with pytest.raises(ValidationFailed):
        check_kind(ChatKind.PRIVATE, [P, Q])


def test_who_takes_part_in_a_conversation_is_changed_there() -> None:
    check_participants_changeable(a_chat())
    for newcomer in (P, None):
        with pytest.raises(ValidationFailed):
            check_can_join(a_chat(tree=True), [], newcomer)


def test_a_tree_with_one_human_member_is_private() -> None:
    kinds = [tree_chat_kind(members) for members in (0, 1, 2)]
    assert kinds == [ChatKind.GROUP, ChatKind.PRIVATE, ChatKind.GROUP]


@pytest.mark.parametrize(("second", "there"), [(-1, False), (0, True), (9, True), (10, False)])
def test_a_stay_holds_its_begin_and_not_its_end(second: int, there: bool) -> None:
    assert is_present([a_stay(0, 10)], NOW + timedelta(seconds=second)) == there


def test_between_two_stays_nobody_is_there_and_an_open_one_lasts() -> None:
    stays = [a_stay(20), a_stay(0, 10)]
    seconds = [5, 15, 20, 10**6]
    there = [is_present(stays, NOW + timedelta(seconds=second)) for second in seconds]
    assert there == [True, False, True, True]
    assert not is_present([], NOW)


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-20, 20))
def test_a_stay_cut_in_two_is_the_same_stay(first: int, second: int, at: int) -> None:
    start, cut = sorted((first, second))
    instant = NOW + timedelta(seconds=at)
    whole = is_present([a_stay(start)], instant)
    assert is_present([a_stay(start, cut), a_stay(cut)], instant) == whole
