"""An export tells what every other surface tells, of the spaces that the asker may write."""

import pytest

from tests.support.memory.callers import Caller, Callers
from tests.support.memory.disclosure import Memory, a_chat, alone, is_shown, says
from tests.support.memory.portability import exports

pytestmark = pytest.mark.scenario(35)


@pytest.mark.parametrize("sensitivity", ["public", "personal", "sensitive"])
def test_of_ones_own_space_an_export_tells_what_is_told_in_its_context(
    callers: Callers, sensitivity: str
) -> None:
    p, q, r = (callers.person(name) for name in "pqr")
    memory = says(p, q, sensitivity=sensitivity)
    with_q, without_q = a_chat(p, q, r), a_chat(p, r)
    for chat_id in (None, with_q, without_q, alone(p)):
        assert _exported(p, memory, chat_id) is is_shown(p, memory, chat_id), chat_id
    for caller in (q, r):
        for chat_id in (None, with_q, alone(caller)):
            assert not _exported(caller, memory, chat_id), "the space of another"


@pytest.mark.parametrize("sensitivity", ["public", "personal", "sensitive"])
def test_of_a_chats_space_an_export_tells_each_participant_what_is_theirs_to_know(
    callers: Callers, sensitivity: str
) -> None:
    p, q, r, x = (callers.person(name) for name in "pqrx")
    group = a_chat(p, q, r)
    memory = says(p, q, sensitivity=sensitivity, space={"kind": "chat", "id": group})
    for caller in (p, q, r):
        for chat_id in (None, group):
            assert _exported(caller, memory, chat_id) is is_shown(caller, memory, chat_id)
    assert not _exported(x, memory, None)
    x.get("/export", chat_id=group).refused(404, "not_found")


def test_a_person_of_another_org_exports_nothing_of_it(callers: Callers) -> None:
    p, q = (callers.person(name, orgs=("acme",)) for name in "pq")
    x = callers.person("x", orgs=("beta",))
    memory = says(p, q)
    mixed = a_chat(p, q, x)
    for chat_id in (None, mixed, alone(x)):
        assert not _exported(x, memory, chat_id)


def _exported(caller: Caller, memory: Memory, chat_id: str | None) -> bool:
    """Neither id nor text is in any line, or both are."""
    place = {"spaces": "all"} if chat_id is None else {"chat_id": chat_id}
    lines = exports(caller, **place)
    assert (memory["id"] in lines) is (memory["content"] in lines)
    return memory["id"] in lines
