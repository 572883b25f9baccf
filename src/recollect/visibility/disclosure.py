"""Disclosure: may this memory be shown to this person, in this chat?

`decide_disclosure` is the one rule for lists, search, recall, the graph and `explain`. It can open
memories of users' and chats' spaces to people who can't read the space; the spaces of agents, runs
and orgs depend on the right to read the space alone.

The rule is pure, and every condition in it can be written as SQL over one row of `memories`: it
compares a column with a parameter, or asks whether a joined table has a row for the asker.
`visibility/sql.py` is that twin; change both together. In comments below, p is the person judged.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from recollect.kernel.ids import ChatId, OrgId, PersonId, UserId
from recollect.kernel.space import OPEN_KINDS, Space, SpaceKind
from recollect.memories.model import MemoryOrigin, Sensitivity
from recollect.people.chat import ChatKind
from recollect.visibility.model import PublicInGroups, SensitiveInGroups, UnknownOrigin


class AskerRelation(StrEnum):
    """How the judged person is related to a memory. The order matters: when several relations
    would disclose a memory, the name of the rule carries the first."""

    SUBJECT = "subject"
    OWN = "own"
    STATED = "stated"
    PRESENT = "present"
    NO_SUBJECTS = "no_subjects"


@dataclass(frozen=True, slots=True)
class DisclosureSettings:
    """The privacy settings. By default groups are strict and imports are open."""

    sensitive_in_groups: SensitiveInGroups = SensitiveInGroups.NEVER
    unknown_origin: UnknownOrigin = UnknownOrigin.OPEN
    public_in_groups: PublicInGroups = PublicInGroups.KNOWN


@dataclass(frozen=True, slots=True)
class MemoryView:
    """The facts about a memory that the rule needs. All person ids are canonical.

    Columns of the row: the space, sensitivity, portable, origin, learned_in, stated_by and
    `bare_names` (a subject could not be resolved and is stored as a name). `active` comes from
    status and expiry at the instant of the query.

    Joins: `subjects`; `witnesses`, who took part in `learned_in` at `observed_at` (joined_at <=
    observed_at < left_at); `orgs`, those of the user whose space it is, or of the chat's creator.

    `space_allows` says whether every caller may read the space; it is used for agent, run and org
    spaces only.

    The sets may be reduced to the people who matter: p and the chat's confirmed participants, as
    long as a memory with subjects keeps at least one.
    """

    space: Space
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    portable: bool = True
    origin: MemoryOrigin = MemoryOrigin.DIRECT
    learned_in: ChatId | None = None
    stated_by: PersonId | None = None
    subjects: frozenset[PersonId] = frozenset()
    bare_names: bool = False
    witnesses: frozenset[PersonId] = frozenset()
    orgs: frozenset[OrgId] = frozenset()
    space_allows: bool = False
    active: bool = True

    @property
    def is_public(self) -> bool:
        return self.sensitivity is Sensitivity.PUBLIC

    @property
    def has_subjects(self) -> bool:
        """Is it about anybody? An unresolved name counts as a subject."""
        return bool(self.subjects) or self.bare_names

    @property
    def origin_chat(self) -> ChatId | None:
        """The chat where it was learned; None if the origin is not a chat."""
        return self.learned_in if self.origin is MemoryOrigin.CHAT else None


@dataclass(frozen=True, slots=True)
class AskerView:
    """The person judged, p. Outside of chats that is the caller; when an agent asks in a private
    chat, its human partner; in a group, the participant for whom the agent asks. In SQL all of
    these are parameters.

    `users` are the users linked to the person, `chats` those where p takes part now. An agent that
    asks for nobody has neither person nor users; `chats` and `orgs` are then the agent's own.
    """

    person_id: PersonId | None = None
    users: frozenset[UserId] = frozenset()
    chats: frozenset[ChatId] = frozenset()
    orgs: frozenset[OrgId] = frozenset()

    def limited_to(self, other: "AskerView") -> "AskerView":
        """The asker with those chats and orgs only that the other one has too."""
        return replace(self, chats=self.chats & other.chats, orgs=self.orgs & other.orgs)


@dataclass(frozen=True, slots=True)
class ChatView:
    """The chat in which the call is made. What follows the kind matters in groups only.

    `people` are the people whose presence counts: they take part now and have confirmed it. `users`
    are the users linked to them. Agents are never among them. `humans` counts all people who take
    part now, also those who were only invited.
    """

    id: ChatId
    kind: ChatKind
    people: frozenset[PersonId] = frozenset()
    users: frozenset[UserId] = frozenset()
    humans: int = 2


@dataclass(frozen=True, slots=True)
class DisclosureDecision:
    """Whether the memory is shown, and the name of the rule that decided."""

    allowed: bool
    rule: str


def decide_disclosure(
    memory: MemoryView,
    asker: AskerView,
    chat: ChatView | None,
    settings: DisclosureSettings,
) -> DisclosureDecision:
    """Run the steps in order; the first one with an answer decides. `chat` is None for a call that
    is made outside of any chat.
    """
    # The order of the steps is part of the rule:
    #
    # 0-1  Denials come first. To people who can't read its space, a memory is shown only within the
    #      orgs of the space's owner. One that is not portable is shown in no chat but the one where
    #      it was learned, and outside of chats only to readers of its space.
    # 2-5  Then the space. Agent, run and org spaces are decided here, either way. For users' and
    #      chats' spaces the right to read is enough in two cases: p's own space outside of chats,
    #      and a chat's own memories in that chat, if they are public or about nobody.
    # 6-7  Then imports of unknown origin. `closed` hides them; since the space came first, it does
    #      not hide a user's own imports outside of chats. `open` shows public ones about somebody,
    #      except in groups. What is not answered here goes on to the table.
    # 8    Last the table: sensitivity, private or group, and how p is related to the memory.
    #
    # Steps return None for "no answer"; the last one always answers, and denies by default.
    if not memory.active:
        return DisclosureDecision(False, "inactive")
    return (
        _deny_outside_org_or_chat(memory, asker, chat)
        or _decide_by_space(memory, asker, chat)
        or _decide_by_unknown_origin(memory, asker, chat, settings)
        or _decide_by_relations(memory, asker, chat, settings)
    )


def asker_relations(
    memory: MemoryView, asker: AskerView, chat: ChatView | None
) -> frozenset[AskerRelation]:
    """All relations of p to the memory. An agent that asks for nobody has none."""
    if asker.person_id is None:
        return frozenset()
    by_relation = {
        AskerRelation.SUBJECT: asker.person_id in memory.subjects,
        AskerRelation.OWN: _owns_space(memory, asker),
        AskerRelation.STATED: asker.person_id == memory.stated_by,
        AskerRelation.PRESENT: memory.origin_chat is not None
        and asker.person_id in memory.witnesses,
        AskerRelation.NO_SUBJECTS: not memory.has_subjects
        and _counts_as_reader(memory, asker, chat),
    }
    return frozenset(relation for relation, holds in by_relation.items() if holds)


def is_withheld(memory: MemoryView, asker: AskerView, decision: DisclosureDecision) -> bool:
    """Is a sensitive memory about p hidden only because others in the group would read it?

    Such memories are counted for p, so that p can ask again in private. An unresolved name among
    the subjects may hide a memory for another reason, so those don't count.
    """
    about_asker = asker.person_id in memory.subjects and not memory.bare_names
    return about_asker and decision.rule == "group.sensitive.excluded"


def _deny_outside_org_or_chat(
    memory: MemoryView, asker: AskerView, chat: ChatView | None
) -> DisclosureDecision | None:
    """Steps 0 and 1: deny a memory of a foreign org, and a non-portable one outside its chat."""
    opened = memory.space.kind in (SpaceKind.USER, SpaceKind.CHAT)
    if opened and not _can_read_space(memory, asker) and not memory.orgs & asker.orgs:
        return DisclosureDecision(False, "org.other")
    if not memory.portable and not _is_asked_at_origin(memory, asker, chat):
        return DisclosureDecision(False, "portable.elsewhere")
    return None


def _is_asked_at_origin(memory: MemoryView, asker: AskerView, chat: ChatView | None) -> bool:
    return _can_read_space(memory, asker) if chat is None else memory.origin_chat == chat.id


def _decide_by_space(
    memory: MemoryView, asker: AskerView, chat: ChatView | None
) -> DisclosureDecision | None:
    """Steps 2 to 5: cases in which the right to read the space is enough."""
    kind = memory.space.kind
    if kind in OPEN_KINDS:
        # Nothing personal may be written to these spaces, so it does not matter who listens.
        return DisclosureDecision(memory.space_allows, "space.open")
    if kind is SpaceKind.AGENT_PRIVATE or kind is SpaceKind.RUN:
        # The whole group reads the agent's answer, whatever the right of the one who asks.
        heard_by_others = _is_group(chat) and not memory.is_public
        rule = "space.run" if kind is SpaceKind.RUN else "space.agent"
        return DisclosureDecision(memory.space_allows and not heard_by_others, rule)
    # In a chat p's own memories go through the table instead (relation OWN): the agent reads them
    # there, and in a group everybody else.
    if chat is None and _owns_space(memory, asker):
        return DisclosureDecision(True, "space.own")
    if kind is SpaceKind.CHAT and _is_open_in_chat(memory, asker, chat):
        return DisclosureDecision(True, "space.chat")
    return None


def _is_open_in_chat(memory: MemoryView, asker: AskerView, chat: ChatView | None) -> bool:
    """A memory of the chat's own space, asked for in that chat, that is public or about nobody."""
    is_asked_there = _can_read_space(memory, asker) if chat is None else memory.space.id == chat.id
    return is_asked_there and (memory.is_public or not memory.has_subjects)


def _decide_by_unknown_origin(
    memory: MemoryView, asker: AskerView, chat: ChatView | None, settings: DisclosureSettings
) -> DisclosureDecision | None:
    """Steps 6 and 7: imports that don't say where they were learned."""
    if memory.origin is not MemoryOrigin.UNKNOWN:
        return None
    if settings.unknown_origin is UnknownOrigin.CLOSED:
        return DisclosureDecision(False, "origin.unknown")
    may_disclose = not _is_group(chat) and memory.is_public and memory.has_subjects
    if may_disclose and not _is_confined_to_space(memory, asker):
        return DisclosureDecision(True, "private.public.unknown_origin")
    return None


def _decide_by_relations(
    memory: MemoryView, asker: AskerView, chat: ChatView | None, settings: DisclosureSettings
) -> DisclosureDecision:
    """Step 8: sensitivity and relations. The rule's name is `<chat>.<sensitivity>.<reason>`."""
    row = f"{'group' if _is_group(chat) else 'private'}.{memory.sensitivity}"
    reason = (
        None
        if _is_confined_to_space(memory, asker)
        else _disclosing_reason(memory, asker, chat, settings)
    )
    return DisclosureDecision(reason is not None, f"{row}.{reason or 'excluded'}")


def _disclosing_reason(
    memory: MemoryView, asker: AskerView, chat: ChatView | None, settings: DisclosureSettings
) -> str | None:
    """The relation that discloses it; `known` or `any` where the asker needs none; None if it stays
    hidden."""
    relations = asker_relations(memory, asker, chat)
    if chat is not None and _is_group(chat):
        if memory.is_public and memory.has_subjects:
            word = _word_for_group(memory, chat, settings)
            return (_first_of(relations) or word) if word else None
        if _is_subject_heard(memory, chat, settings):
            return "any"
    sufficient = _sufficient_relations(memory, relations, group=_is_group(chat), settings=settings)
    return _first_of(relations & sufficient)


def _first_of(relations: frozenset[AskerRelation]) -> AskerRelation | None:
    return next((relation for relation in AskerRelation if relation in relations), None)


def _word_for_group(memory: MemoryView, chat: ChatView, settings: DisclosureSettings) -> str | None:
    """Why a group hears a public memory about somebody; None if it doesn't."""
    if is_open_to_anyone(chat, settings):
        return "any"
    return "known" if _is_known_to_participants(memory, chat) else None


def is_open_to_anyone(chat: ChatView, settings: DisclosureSettings) -> bool:
    """Does the group hear every public memory about somebody? Even with `anyone` a group of one
    doesn't: it would show its one member more than a private chat does."""
    return settings.public_in_groups is PublicInGroups.ANYONE and chat.humans > 1


def _is_known_to_participants(memory: MemoryView, chat: ChatView) -> bool:
    """Is one of the confirmed participants a subject, the owner of its space, the one who stated
    it, or was there when it was said? They could tell the group themselves."""
    return (
        bool(memory.subjects & chat.people)
        or (memory.space.kind is SpaceKind.USER and memory.space.id in chat.users)
        or memory.stated_by in chat.people
        or (memory.origin_chat is not None and bool(memory.witnesses & chat.people))
    )


def _is_subject_heard(memory: MemoryView, chat: ChatView, settings: DisclosureSettings) -> bool:
    """With `subject_present`: is a memory that is not public about a confirmed participant?"""
    lenient = settings.sensitive_in_groups is SensitiveInGroups.SUBJECT_PRESENT
    return lenient and not memory.is_public and bool(memory.subjects & chat.people)


def _sufficient_relations(
    memory: MemoryView,
    relations: frozenset[AskerRelation],
    *,
    group: bool,
    settings: DisclosureSettings,
) -> frozenset[AskerRelation]:
    """Which relations are sufficient to disclose this memory."""
    if group:
        # With `subject_present` a non-public memory depends on who takes part
        # (`_is_subject_heard`), never on who asks: everybody in the group reads the answer.
        strict = settings.sensitive_in_groups is SensitiveInGroups.NEVER
        return _GROUP_RELATIONS[memory.sensitivity] if strict or memory.is_public else frozenset()
    if memory.sensitivity is Sensitivity.SENSITIVE and AskerRelation.STATED in relations:
        # A sensitive memory about somebody else needs both: p said it, and it lies in p's own
        # space. Neither alone is enough, so OWN counts only once STATED holds.
        return _PRIVATE_RELATIONS[Sensitivity.SENSITIVE] | {AskerRelation.OWN}
    return _PRIVATE_RELATIONS[memory.sensitivity]


_PRIVATE_RELATIONS = {
    Sensitivity.PUBLIC: frozenset(AskerRelation),
    Sensitivity.PERSONAL: frozenset({AskerRelation.SUBJECT, AskerRelation.OWN}),
    Sensitivity.SENSITIVE: frozenset({AskerRelation.SUBJECT}),
}
# A public memory with subjects depends on those who take part (`_word_for_group`), so the row for
# PUBLIC is about memories without subjects. `subject_present` does not use the other two rows.
_GROUP_RELATIONS: dict[Sensitivity, frozenset[AskerRelation]] = {
    Sensitivity.PUBLIC: frozenset({AskerRelation.OWN, AskerRelation.NO_SUBJECTS}),
    Sensitivity.PERSONAL: frozenset({AskerRelation.SUBJECT}),
    Sensitivity.SENSITIVE: frozenset(),
}


def _owns_space(memory: MemoryView, asker: AskerView) -> bool:
    return memory.space.kind is SpaceKind.USER and memory.space.id in asker.users


def _can_read_space(memory: MemoryView, asker: AskerView) -> bool:
    """May p read the space itself, without disclosure?"""
    if memory.space.kind is SpaceKind.CHAT:
        return memory.space.id in asker.chats
    return (
        _owns_space(memory, asker) if memory.space.kind is SpaceKind.USER else memory.space_allows
    )


def _counts_as_reader(memory: MemoryView, asker: AskerView, chat: ChatView | None) -> bool:
    """May p read the space, from where p asks? In a group, the spaces of p's other chats don't
    count: the rest of the group may not read them."""
    if chat is not None and _is_group(chat) and memory.space.kind is SpaceKind.CHAT:
        return _can_read_space(memory, asker) and memory.space.id == chat.id
    return _can_read_space(memory, asker)


def _is_confined_to_space(memory: MemoryView, asker: AskerView) -> bool:
    """Nobody knows who an unresolved name means, so such a memory is for readers of its space."""
    return memory.bare_names and not _can_read_space(memory, asker)


def _is_group(chat: ChatView | None) -> bool:
    return chat is not None and chat.kind is ChatKind.GROUP
