"""Disclosure: may this memory be told here, to this person? One pure rule for every surface.

It opens spaces of users and chats to others; agent, run and org spaces go by the space alone. The
rule can be said as one SQL predicate too: each condition compares columns of the memory with
parameters, or asks whether a joined table holds p, p's orgs or a participant. What a row must
carry, and what is a parameter, stands at the views.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from recollect.domain.ids import UserId
from recollect.domain.memories import Origin, Sensitivity
from recollect.domain.spaces import OPEN_KINDS, ChatId, OrgId, Space, SpaceKind

PersonId = NewType("PersonId", str)


class ChatKind(StrEnum):
    """With one human, or any other."""

    PRIVATE = "private"
    GROUP = "group"


class Relation(StrEnum):
    """What ties the judged person to a memory, in the order in which a rule names it."""

    SUBJECT = "subject"
    OWN = "own"
    STATED = "stated"
    PRESENT = "present"
    NO_SUBJECTS = "no_subjects"


class SensitiveInGroups(StrEnum):
    """`privacy.sensitive_in_groups`."""

    NEVER = "never"
    SUBJECT_PRESENT = "subject_present"


class UnknownOrigin(StrEnum):
    """`privacy.unknown_origin`."""

    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class DisclosureSettings:
    """The two switches of privacy, strict about groups and open to imports unless told."""

    sensitive_in_groups: SensitiveInGroups = SensitiveInGroups.NEVER
    unknown_origin: UnknownOrigin = UnknownOrigin.OPEN


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A memory as disclosure sees it. All person ids are canonical.

    Columns of the row: the space, sensitivity, portable, origin, learned_in, stated_by,
    `bare_names` (a subject could not be resolved and is kept as a name), and for `active` status
    and expiry against the instant of the query. Joins: `subjects` (whether there are any, and
    whether p or a participant is one), `witnesses` (who took part in `learned_in` at
    `observed_at`, joined <= t < left), `orgs` (of the user whose space it is, or of the chat's
    creator). `space_allows` is the answer of `policy/spaces.py` for agent, run and org spaces;
    other spaces don't look at it.

    The sets may be cut down to what is asked for: p, and for subjects the chat's participants, as
    long as a memory with subjects keeps at least one.
    """

    space: Space
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    portable: bool = True
    origin: Origin = Origin.DIRECT
    learned_in: ChatId | None = None
    stated_by: PersonId | None = None
    subjects: frozenset[PersonId] = frozenset()
    bare_names: bool = False
    witnesses: frozenset[PersonId] = frozenset()
    orgs: frozenset[OrgId] = frozenset()
    space_allows: bool = False
    active: bool = True

    @property
    def public(self) -> bool:
        """Neither personal nor sensitive."""
        return self.sensitivity is Sensitivity.PUBLIC

    @property
    def has_subjects(self) -> bool:
        """A name that nobody could resolve is a subject all the same."""
        return bool(self.subjects) or self.bare_names

    @property
    def origin_chat(self) -> ChatId | None:
        """The chat where it was learned, if it was learned in one."""
        return self.learned_in if self.origin is Origin.CHAT else None


@dataclass(frozen=True, slots=True)
class AskerView:
    """p, the person judged: the caller without a chat, the partner of a private one, the asker in a
    group. Parameters of the query.

    An agent that asks for nobody has neither person nor users; `chats` and `orgs` are then its
    own. `users` are those linked to the person, `chats` those where p takes part now.
    """

    person_id: PersonId | None = None
    users: frozenset[UserId] = frozenset()
    chats: frozenset[ChatId] = frozenset()
    orgs: frozenset[OrgId] = frozenset()


@dataclass(frozen=True, slots=True)
class ChatView:
    """The chat of the call; its participants now, whom only `subject_present` looks at."""

    id: ChatId
    kind: ChatKind
    participants: frozenset[PersonId] = frozenset()


@dataclass(frozen=True, slots=True)
class Decision:
    """Shown or hidden, and the rule that said so."""

    allowed: bool
    rule: str


def disclose(
    memory: MemoryView,
    asker: AskerView,
    chat: ChatView | None,
    settings: DisclosureSettings,
) -> Decision:
    """The first step that has an answer gives it. `chat` is None outside any chat (direct)."""
    if not memory.active:
        return Decision(False, "inactive")
    return (
        _kept_at_home(memory, asker, chat)
        or _by_space(memory, asker, chat)
        or _by_unknown_origin(memory, asker, chat, settings)
        or _by_relations(memory, asker, chat, settings)
    )


def relations(memory: MemoryView, asker: AskerView, chat: ChatView | None) -> frozenset[Relation]:
    """All that ties p to the memory. An agent that asks for nobody has no ties."""
    if asker.person_id is None:
        return frozenset()
    holding = {
        Relation.SUBJECT: asker.person_id in memory.subjects,
        Relation.OWN: _owns(memory, asker),
        Relation.STATED: asker.person_id == memory.stated_by,
        Relation.PRESENT: memory.origin_chat is not None and asker.person_id in memory.witnesses,
        Relation.NO_SUBJECTS: not memory.has_subjects and _counts_as_read(memory, asker, chat),
    }
    return frozenset(relation for relation, holds in holding.items() if holds)


def is_withheld(memory: MemoryView, asker: AskerView, decision: Decision) -> bool:
    """Is it hidden only because a group listens? `explain` counts that for the subject."""
    about_asker = asker.person_id in memory.subjects and not memory.bare_names
    return about_asker and decision.rule == "group.sensitive.excluded"


def _kept_at_home(memory: MemoryView, asker: AskerView, chat: ChatView | None) -> Decision | None:
    """Steps 0 and 1: what leaves neither its org nor the chat where it was learned."""
    opened = memory.space.kind in (SpaceKind.USER, SpaceKind.CHAT)
    if opened and not _reads(memory, asker) and not memory.orgs & asker.orgs:
        return Decision(False, "org.other")
    if not memory.portable and not _asked_at_home(memory, asker, chat):
        return Decision(False, "portable.elsewhere")
    return None


def _asked_at_home(memory: MemoryView, asker: AskerView, chat: ChatView | None) -> bool:
    return _reads(memory, asker) if chat is None else memory.origin_chat == chat.id


def _by_space(memory: MemoryView, asker: AskerView, chat: ChatView | None) -> Decision | None:
    """Steps 2 to 5: where the space alone is enough."""
    kind = memory.space.kind
    if kind in OPEN_KINDS:
        return Decision(memory.space_allows, "space.open")
    if kind is SpaceKind.AGENT_PRIVATE or kind is SpaceKind.RUN:
        heard_by_others = _is_group(chat) and not memory.public
        rule = "space.run" if kind is SpaceKind.RUN else "space.agent"
        return Decision(memory.space_allows and not heard_by_others, rule)
    if chat is None and _owns(memory, asker):
        return Decision(True, "space.own")
    if kind is SpaceKind.CHAT and _told_in_chat(memory, asker, chat):
        return Decision(True, "space.chat")
    return None


def _told_in_chat(memory: MemoryView, asker: AskerView, chat: ChatView | None) -> bool:
    """A chat's own memory, asked for there, and nobody's privacy is at stake."""
    there = _reads(memory, asker) if chat is None else memory.space.id == chat.id
    return there and (memory.public or not memory.has_subjects)


def _by_unknown_origin(
    memory: MemoryView, asker: AskerView, chat: ChatView | None, settings: DisclosureSettings
) -> Decision | None:
    """Steps 6 and 7."""
    if memory.origin is not Origin.UNKNOWN:
        return None
    if settings.unknown_origin is UnknownOrigin.CLOSED:
        return Decision(False, "origin.unknown")
    shown = not _is_group(chat) and memory.public and memory.has_subjects
    if shown and not _stays_inside(memory, asker):
        return Decision(True, "private.public.unknown_origin")
    return None


def _by_relations(
    memory: MemoryView, asker: AskerView, chat: ChatView | None, settings: DisclosureSettings
) -> Decision:
    """Step 8: the table."""
    row = f"{'group' if _is_group(chat) else 'private'}.{memory.sensitivity}"
    reason = None if _stays_inside(memory, asker) else _reason(memory, asker, chat, settings)
    return Decision(reason is not None, f"{row}.{reason or 'excluded'}")


def _reason(
    memory: MemoryView, asker: AskerView, chat: ChatView | None, settings: DisclosureSettings
) -> str | None:
    """The relation that shows it, `any` where none is needed, or None."""
    if chat is not None and _is_group(chat) and _told_to_all(memory, chat, settings):
        return "any"
    held = relations(memory, asker, chat)
    enough = _enough(memory, held, group=_is_group(chat), settings=settings)
    return next((relation for relation in Relation if relation in held & enough), None)


def _told_to_all(memory: MemoryView, chat: ChatView, settings: DisclosureSettings) -> bool:
    if memory.public:
        return memory.has_subjects
    lenient = settings.sensitive_in_groups is SensitiveInGroups.SUBJECT_PRESENT
    return lenient and bool(memory.subjects & chat.participants)


def _enough(
    memory: MemoryView,
    held: frozenset[Relation],
    *,
    group: bool,
    settings: DisclosureSettings,
) -> frozenset[Relation]:
    """The relations that show a memory of this row of the table."""
    if group:
        strict = settings.sensitive_in_groups is SensitiveInGroups.NEVER
        return _GROUP[memory.sensitivity] if strict or memory.public else frozenset()
    if memory.sensitivity is Sensitivity.SENSITIVE and Relation.STATED in held:
        # Only both together: what p said of somebody else, kept in p's own space.
        return _PRIVATE[Sensitivity.SENSITIVE] | {Relation.OWN}
    return _PRIVATE[memory.sensitivity]


_PRIVATE = {
    Sensitivity.PUBLIC: frozenset(Relation),
    Sensitivity.PERSONAL: frozenset({Relation.SUBJECT, Relation.OWN}),
    Sensitivity.SENSITIVE: frozenset({Relation.SUBJECT}),
}
# A public memory with subjects needs no relation in a group, so its row is the one without.
_GROUP: dict[Sensitivity, frozenset[Relation]] = {
    Sensitivity.PUBLIC: frozenset({Relation.OWN, Relation.NO_SUBJECTS}),
    Sensitivity.PERSONAL: frozenset({Relation.SUBJECT}),
    Sensitivity.SENSITIVE: frozenset(),
}


def _owns(memory: MemoryView, asker: AskerView) -> bool:
    return memory.space.kind is SpaceKind.USER and memory.space.id in asker.users


def _reads(memory: MemoryView, asker: AskerView) -> bool:
    """May p read the space, without any disclosure?"""
    if memory.space.kind is SpaceKind.CHAT:
        return memory.space.id in asker.chats
    return _owns(memory, asker) if memory.space.kind is SpaceKind.USER else memory.space_allows


def _counts_as_read(memory: MemoryView, asker: AskerView, chat: ChatView | None) -> bool:
    """In a group the spaces of p's other chats are elsewhere, though p may read them."""
    if chat is not None and _is_group(chat) and memory.space.kind is SpaceKind.CHAT:
        return _reads(memory, asker) and memory.space.id == chat.id
    return _reads(memory, asker)


def _stays_inside(memory: MemoryView, asker: AskerView) -> bool:
    """Who is meant by a bare name is not known, so nobody outside the space is told."""
    return memory.bare_names and not _reads(memory, asker)


def _is_group(chat: ChatView | None) -> bool:
    return chat is not None and chat.kind is ChatKind.GROUP
