"""An export tells what every other surface tells, of the spaces that the asker may write."""

import pytest

from tests.support.memory.callers import Asker, Town
from tests.support.memory.disclosure import Memory, a_chat, alone, says, told
from tests.support.memory.portability import exports

pytestmark = pytest.mark.scenario(35)


@pytest.mark.parametrize("sensitivity", ["public", "personal", "sensitive"])
def test_of_ones_own_space_an_export_tells_what_is_told_in_its_context(
    town: Town, sensitivity: str
) -> None:
    p, q, r = (town.person(name) for name in "pqr")
    memory = says(p, q, sensitivity=sensitivity)
    with_q, without_q = a_chat(p, q, r), a_chat(p, r)
    for chat_id in (None, with_q, without_q, alone(p)):
        assert _exported(p, memory, chat_id) is told(p, memory, chat_id), chat_id
    for asker in (q, r):
        for chat_id in (None, with_q, alone(asker)):
            assert not _exported(asker, memory, chat_id), "the space of another"


@pytest.mark.parametrize("sensitivity", ["public", "personal", "sensitive"])
def test_of_a_chats_space_an_export_tells_each_participant_what_is_theirs_to_know(
    town: Town, sensitivity: str
) -> None:
    p, q, r, x = (town.person(name) for name in "pqrx")
    group = a_chat(p, q, r)
    memory = says(p, q, sensitivity=sensitivity, space={"kind": "chat", "id": group})
    for asker in (p, q, r):
        for chat_id in (None, group):
            assert _exported(asker, memory, chat_id) is told(asker, memory, chat_id)
    assert not _exported(x, memory, None)
    x.get("/export", chat_id=group).refused(404, "not_found")


def test_a_person_of_another_org_exports_nothing_of_it(town: Town) -> None:
    p, q = (town.person(name, orgs=("acme",)) for name in "pq")
    x = town.person("x", orgs=("beta",))
    memory = says(p, q)
    mixed = a_chat(p, q, x)
    for chat_id in (None, mixed, alone(x)):
        assert not _exported(x, memory, chat_id)


def _exported(asker: Asker, memory: Memory, chat_id: str | None) -> bool:
    """Neither id nor text is in any line, or both are."""
    place = {"spaces": "all"} if chat_id is None else {"chat_id": chat_id}
    lines = exports(asker, **place)
    assert (memory["id"] in lines) is (memory["content"] in lines)
    return memory["id"] in lines
