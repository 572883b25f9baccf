"""Who hears what, in a process of one's own as on a server: nobody reads others by a detour."""

from typing import Any

import pytest

from recollect_client import Forbidden, InvalidInput, NotFound, Recollect
from tests.support.world import new_id

PRIVATE_LIFE = "I have HIV and my salary is 90000."


def an_id(stem: str) -> str:
    return f"{stem}-{new_id()}"


def contents(memories: Any) -> set[str]:
    return {one.content for one in memories}


def warned(result: Any) -> list[tuple[str, str]]:
    """The warnings: their codes, and the first word of each message."""
    return [(one.code, one.message.split(": ")[0]) for one in result.warnings]


@pytest.mark.amendment(1)
@pytest.mark.amendment(2)
def test_a_group_hears_of_those_who_came_by_themselves(memory: Recollect) -> None:
    ann, eve = (memory.user(an_id(name)) for name in ("ann", "eve"))
    told = ann.remember("Ann likes figs.", subjects=["me"]).memory
    group = eve.chat(an_id("group"))
    group.create("group")
    group.add(ann.id)
    assert {one.user_id: one.confirmed_at is None for one in group.people()} == {
        eve.id: False,
        ann.id: True,
    }
    with pytest.raises(NotFound):
        group.get(told.id, chat_id=group.id)
    assert contents(group.memories()) == set()
    ann.chat(group.id).add(ann.id)
    assert contents(group.memories()) == {"Ann likes figs."}
    assert group.explain(told.id).rule == "group.public.known"


@pytest.mark.amendment(3)
def test_a_name_reaches_no_user_and_a_handle_reaches_who_has_not_called(memory: Recollect) -> None:
    ann, tom, bob = (memory.user(an_id(name)) for name in ("ann", "tom", "bob"))
    tom.remember("I am here.")
    told = ann.remember("Likes tea.", subjects=[tom.id])
    ((code, _),) = warned(told)
    assert code == "person_created"
    assert told.memory.subjects[0] in told.warnings[0].message
    ann.remember("Likes pizza.", subjects=[f"@{bob.id}"])
    assert contents(tom.memories(spaces="all")) == {"I am here."}
    assert contents(bob.memories(spaces="all")) == {"Likes pizza."}


@pytest.mark.amendment(4)
def test_an_agent_reads_as_nobody_whom_it_put_into_its_chat(memory: Recollect) -> None:
    victim, spy = memory.user(an_id("victim")), memory.agent(an_id("spy"))
    spy.register()
    victim.remember("I keep a diary.", subjects=["me"], sensitivity="sensitive")
    trap = spy.chat(an_id("trap"))
    trap.create("private")
    trap.add(victim.id)
    for read in (trap.memories, trap.recall, lambda: trap.search("diary")):
        with pytest.raises(Forbidden) as refused:
            list(read())
        assert refused.value.code == "asker_not_allowed"
    victim.chat(trap.id).add(victim.id)
    assert contents(trap.memories()) == {"I keep a diary."}


@pytest.mark.amendment(5)
def test_a_fork_is_the_chat_of_its_tree(memory: Recollect) -> None:
    ann = memory.user(an_id("ann"))
    talk = ann.conversation()
    entry = talk.append("Where to?")
    fork = talk.fork(entry)
    kept = ann.chat(str(fork.id)).remember("The ferry leaves at nine.").memory
    assert (kept.learned_in, kept.learned_in_conversation) == (talk.id, fork.id)
    assert contents(ann.chat(str(talk.id)).memories()) == {"The ferry leaves at nine."}


@pytest.mark.amendment(6)
@pytest.mark.amendment(7)
@pytest.mark.amendment(8)
@pytest.mark.parametrize("mode", ["dual", "single"])
def test_a_private_life_is_not_for_strangers(memory: Recollect, mode: str) -> None:
    owner, stranger = memory.user(an_id("owner")), memory.user(an_id("stranger"))
    agent = owner.agent(an_id("helper"))
    agent.register(owner_id=owner.id, space_mode=mode)
    with pytest.raises(InvalidInput) as refused:
        agent.remember(PRIVATE_LIFE, visibility="public")
    assert refused.value.code == "sensitivity_not_allowed"
    if mode == "dual":
        diverted = agent.remember(PRIVATE_LIFE)
        assert warned(diverted) == [
            ("visibility_by", "sensitivity"),
            ("stored_private", "sensitivity"),
        ]
        ((code, by),) = warned(agent.remember("User prefers concise responses"))
        assert (code, by.partition(":")[0]) == ("visibility_by", "rule")
    else:
        with pytest.raises(InvalidInput):
            agent.remember(PRIVATE_LIFE)
    agent.remember("JWT tokens should be validated on every request")
    found = contents(stranger.agent(agent.id).memories())
    assert found == {"JWT tokens should be validated on every request"}
