"""Memories, askers and chats for the tests of disclosure. P is judged; Q, R and S are others."""

from typing import Any

from hypothesis import strategies as st

from recollect.kernel.ids import ChatId, OrgId, PersonId, UserId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryOrigin, Sensitivity
from recollect.people.chat import ChatKind
from recollect.visibility.disclosure import (
    AskerView,
    ChatView,
    DisclosureSettings,
    MemoryView,
)
from recollect.visibility.model import PublicInGroups, SensitiveInGroups, UnknownOrigin

P, Q, R, S = (PersonId(f"person-{letter}") for letter in "pqrs")
USER_P, USER_Q = UserId("p"), UserId("q")
DM, G1, G2 = (ChatId(name) for name in ("dm", "g1", "g2"))
ORG, OTHER_ORG = OrgId("default"), OrgId("other")
IN_P, IN_Q = Space(SpaceKind.USER, USER_P), Space(SpaceKind.USER, USER_Q)
IN_DM, IN_G1, IN_G2 = (Space(SpaceKind.CHAT, chat) for chat in (DM, G1, G2))

STRICT = DisclosureSettings()
LENIENT = DisclosureSettings(sensitive_in_groups=SensitiveInGroups.SUBJECT_PRESENT)
CLOSED = DisclosureSettings(unknown_origin=UnknownOrigin.CLOSED)
ANYONE = DisclosureSettings(public_in_groups=PublicInGroups.ANYONE)


def a_group(*confirmed: PersonId, chat_id: ChatId = G2, humans: int | None = None) -> ChatView:
    """A group of these confirmed people and, if `humans` is more, of others who were invited."""
    users = frozenset(UserId(one[-1]) for one in confirmed)
    count = len(confirmed) if humans is None else humans
    return ChatView(chat_id, ChatKind.GROUP, frozenset(confirmed), users, count)


PRIVATE = ChatView(DM, ChatKind.PRIVATE)
GROUP = a_group(P, R)


def a_memory(*subjects: PersonId, space: Space = IN_Q, **facts: Any) -> MemoryView:
    """Public, portable, written outside any chat, of somebody in the default org."""
    return MemoryView(space, subjects=frozenset(subjects), **{"orgs": frozenset({ORG}), **facts})


def an_asker(person: PersonId = P, **facts: Any) -> AskerView:
    """A person of the default org, with the user of the same letter."""
    users = frozenset({UserId(person[-1])})
    return AskerView(person, **{"users": users, "orgs": frozenset({ORG}), **facts})


def of_some(*values: Any) -> st.SearchStrategy[frozenset[Any]]:
    """Any subset."""
    return st.frozensets(st.sampled_from(values))


memories: st.SearchStrategy[MemoryView] = st.builds(
    MemoryView,
    space=st.builds(
        Space, st.sampled_from(SpaceKind), st.sampled_from([USER_P, USER_Q, DM, G1, G2])
    ),
    sensitivity=st.sampled_from(Sensitivity),
    portable=st.booleans(),
    origin=st.sampled_from(MemoryOrigin),
    learned_in=st.sampled_from([None, DM, G1, G2]),
    stated_by=st.sampled_from([None, P, Q]),
    subjects=of_some(P, Q, R),
    bare_names=st.booleans(),
    witnesses=of_some(P, Q),
    orgs=of_some(ORG, OTHER_ORG),
    space_allows=st.booleans(),
    active=st.booleans(),
)
people: st.SearchStrategy[AskerView] = st.builds(
    AskerView,
    person_id=st.just(P),
    users=of_some(USER_P),
    chats=of_some(DM, G1, G2),
    orgs=of_some(ORG, OTHER_ORG),
)
agents: st.SearchStrategy[AskerView] = st.builds(
    AskerView, chats=of_some(DM, G1, G2), orgs=of_some(ORG, OTHER_ORG)
)
groups: st.SearchStrategy[ChatView] = st.builds(
    lambda chat_id, confirmed, invited: a_group(
        *confirmed, chat_id=chat_id, humans=len(confirmed) + invited
    ),
    st.sampled_from([G1, G2]),
    of_some(P, Q, R),
    st.integers(0, 2),
)
chats: st.SearchStrategy[ChatView | None] = st.none() | groups | st.just(PRIVATE)
settings: st.SearchStrategy[DisclosureSettings] = st.builds(
    DisclosureSettings,
    st.sampled_from(SensitiveInGroups),
    st.sampled_from(UnknownOrigin),
    st.sampled_from(PublicInGroups),
)
