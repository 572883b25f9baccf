"""What holds of disclosure for every memory, asker, chat and setting."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.space import SpaceKind
from recollect.memories.model import Sensitivity
from recollect.people.chat import ChatKind
from recollect.visibility.disclosure import (
    AskerRelation,
    AskerView,
    ChatView,
    DisclosureDecision,
    DisclosureSettings,
    MemoryView,
    asker_relations,
    decide_disclosure,
)
from tests.support.documents import rows
from tests.visibility import disclosure_cases as cases
from tests.visibility.disclosure_cases import G1, G2, LENIENT, ORG, OTHER_ORG, STRICT, P


@given(cases.memories, cases.people, cases.groups)
def test_nothing_personal_in_a_group_for_anybody_but_a_subject(
    memory: MemoryView, asker: AskerView, chat: ChatView
) -> None:
    guarded = memory.sensitivity is not Sensitivity.PUBLIC and memory.has_subjects
    opened = memory.space.kind in (SpaceKind.USER, SpaceKind.CHAT)
    if guarded and opened and P not in memory.subjects:
        assert not decide_disclosure(memory, asker, chat, STRICT).allowed


@given(cases.memories, cases.people, cases.groups)
def test_nothing_sensitive_with_subjects_in_a_group(
    memory: MemoryView, asker: AskerView, chat: ChatView
) -> None:
    sensitive = replace(memory, sensitivity=Sensitivity.SENSITIVE)
    if memory.has_subjects and memory.space.kind in (SpaceKind.USER, SpaceKind.CHAT):
        assert not decide_disclosure(sensitive, asker, chat, STRICT).allowed


@given(cases.memories, cases.people | cases.agents, cases.chats, cases.settings)
def test_without_a_common_org_nothing_leaves_its_space(
    memory: MemoryView, asker: AskerView, chat: ChatView | None, settings: DisclosureSettings
) -> None:
    outside = memory.space.id not in asker.users | asker.chats
    opened = memory.space.kind in (SpaceKind.USER, SpaceKind.CHAT)
    if opened and outside and not memory.orgs & asker.orgs:
        rule = "org.other" if memory.active else "inactive"
        assert decide_disclosure(memory, asker, chat, settings) == DisclosureDecision(False, rule)


@given(cases.memories, cases.people | cases.agents, cases.chats, cases.settings)
def test_what_is_not_portable_is_told_only_where_it_was_learned(
    memory: MemoryView, asker: AskerView, chat: ChatView | None, settings: DisclosureSettings
) -> None:
    rooted = replace(memory, portable=False)
    told = decide_disclosure(rooted, asker, chat, settings)
    if chat is not None and told.allowed:
        assert rooted.learned_in == chat.id
    assert not told.allowed or told == decide_disclosure(memory, asker, chat, settings)


@given(cases.memories, cases.agents, cases.chats, cases.settings)
def test_an_agent_that_asks_for_nobody_has_no_relation(
    memory: MemoryView, asker: AskerView, chat: ChatView | None, settings: DisclosureSettings
) -> None:
    assert asker_relations(memory, asker, chat) == frozenset()
    words = decide_disclosure(memory, asker, chat, settings).rule.split(".")
    assert not set(words) & set(AskerRelation)


@given(cases.memories, cases.people, cases.chats, cases.settings)
def test_more_relations_never_hide(
    memory: MemoryView, asker: AskerView, chat: ChatView | None, settings: DisclosureSettings
) -> None:
    before = decide_disclosure(memory, asker, chat, settings)
    closer: list[tuple[MemoryView, AskerView]] = [
        (replace(memory, stated_by=P), asker),
        (replace(memory, witnesses=memory.witnesses | {P}), asker),
        (memory, replace(asker, users=asker.users | {cases.USER_P, cases.USER_Q})),
        (memory, replace(asker, chats=asker.chats | {cases.DM, G1, G2})),
        (memory, replace(asker, orgs=asker.orgs | {ORG, OTHER_ORG})),
    ]
    # The first subject turns a chat's common knowledge into somebody's, so it may hide.
    if memory.has_subjects:
        closer.append((replace(memory, subjects=memory.subjects | {P}), asker))
    if before.allowed:
        assert all(decide_disclosure(m, a, chat, settings).allowed for m, a in closer)


@given(cases.memories, cases.people | cases.agents, cases.chats, cases.settings)
def test_a_stricter_sensitivity_never_shows_more(
    memory: MemoryView, asker: AskerView, chat: ChatView | None, settings: DisclosureSettings
) -> None:
    shown = [
        decide_disclosure(replace(memory, sensitivity=s), asker, chat, settings).allowed
        for s in Sensitivity
    ]
    assert shown == sorted(shown, reverse=True)


# The guide names every rule, in the column that is headed so.
RULES = {
    word.strip(" `")
    for columns in (4, 5)
    for cells in rows("docs/guide/visibility.md", columns)
    for word in cells[columns - 2].split(",")
    if "." in word or "inactive" in word
}


@given(cases.memories, cases.people | cases.agents, cases.chats, cases.settings)
def test_every_answer_bears_a_rule_of_the_guide(
    memory: MemoryView, asker: AskerView, chat: ChatView | None, settings: DisclosureSettings
) -> None:
    told = decide_disclosure(memory, asker, chat, settings)
    assert told.rule in RULES
    if told.rule.endswith("excluded"):
        assert not told.allowed


# Agents' spaces are left out: an agent reads them by its own right, in any chat.
@pytest.mark.amendment(1)
@given(cases.memories, cases.people, cases.agents, st.booleans(), cases.settings)
def test_a_group_of_one_shows_no_more_than_its_member_sees_in_private(
    memory: MemoryView,
    member: AskerView,
    agent: AskerView,
    confirmed: bool,
    settings: DisclosureSettings,
) -> None:
    if memory.space.kind not in (SpaceKind.USER, SpaceKind.CHAT):
        return
    known = replace(member, users=frozenset({cases.USER_P}))
    group = cases.a_group(*([P] if confirmed else []), chat_id=G1, humans=1)
    private = ChatView(G1, ChatKind.PRIVATE)
    in_private = decide_disclosure(memory, known, private, settings).allowed
    for asker in (known, agent.limited_to(known)):
        assert in_private or not decide_disclosure(memory, asker, group, settings).allowed


@given(cases.memories, cases.people | cases.agents, cases.groups, cases.settings)
def test_more_confirmed_participants_never_hide(
    memory: MemoryView, asker: AskerView, chat: ChatView, settings: DisclosureSettings
) -> None:
    before = decide_disclosure(memory, asker, chat, settings).allowed
    more = cases.a_group(P, *chat.people, chat_id=chat.id, humans=chat.humans + 1)
    assert not before or decide_disclosure(memory, asker, more, settings).allowed


@given(cases.memories, cases.people, cases.chats)
def test_subject_present_changes_nothing_outside_groups(
    memory: MemoryView, asker: AskerView, chat: ChatView | None
) -> None:
    if chat is None or chat.kind is ChatKind.PRIVATE:
        told = decide_disclosure(memory, asker, chat, STRICT)
        assert told == decide_disclosure(memory, asker, chat, LENIENT)
