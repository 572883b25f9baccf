"""Who may replace whose word, what the successor takes over, and how the old one ends. Pure.

Nothing here looks at how alike two statements are: that is `reconcile.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.contradictions import is_correction
from recollect.domain.memories import MemoryType, Origin, Sensitivity, Trust
from recollect.domain.spaces import OPEN_KINDS, ChatId, Space, SpaceKind

# Where hearsay gives way to somebody's own word, wherever that was said.
HEARSAY_KINDS = (SpaceKind.USER, SpaceKind.CHAT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement as reconciliation sees it. Person ids are canonical.

    `correction` is set by who knows that it was said to be one; the words of the content count too.
    """

    id: str
    content: str
    space: Space
    observed_at: datetime
    type: MemoryType = MemoryType.KNOWLEDGE
    subjects: frozenset[str] = frozenset()
    stated_by: str | None = None
    learned_in: ChatId | None = None
    origin: Origin = Origin.DIRECT
    trust: Trust = Trust.UNKNOWN
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    portable: bool = True
    verified: bool = True
    correction: bool = False
    valid_from: datetime | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """What superseding sets on the old row: the end of its world time, or of its record."""

    valid_until: datetime | None
    retracted_at: datetime | None


def is_told_alike(candidate: Statement, old: Statement) -> bool:
    """Whether both were told in one chat, or both outside any.

    Who heard a statement may know it, and what is not portable stays where it was told: one row
    can't stand for what was told in two places.
    """
    return (candidate.origin, candidate.learned_in) == (old.origin, old.learned_in)


def is_protected(old: Statement, *, by: str | None) -> bool:
    """Whether a statement is a subject's word of themself, and `by` is not that subject.

    Hearsay that a subject repeated is theirs too: it is a fact that somebody else stated first.
    """
    if old.stated_by is not None and old.stated_by in old.subjects:
        return by != old.stated_by
    return bool(old.subjects) and old.trust is Trust.FACT and by not in old.subjects


def may_replace(candidate: Statement, old: Statement) -> bool:
    """Whether the candidate has the standing to replace: verified, not older, and said by who may.

    Two people who speak about a third don't replace each other's words; nor does anybody replace
    what a subject said of themself.
    """
    if not candidate.verified or candidate.observed_at < old.observed_at:
        return False
    if is_protected(old, by=candidate.stated_by):
        return False
    same_voice = candidate.stated_by == old.stated_by
    of_nobody = not candidate.subjects and not old.subjects
    return same_voice or of_nobody or candidate.stated_by in candidate.subjects & old.subjects


def overrules(candidate: Statement, old: Statement) -> bool:
    """Whether the candidate is a self-fact and the old one hearsay about its speaker alone."""
    return (
        _is_own_word_over_hearsay(candidate, old)
        and candidate.subjects == old.subjects == {candidate.stated_by}
        and old.space.kind in HEARSAY_KINDS
        and _width(candidate.space) <= _width(old.space)
        and candidate.verified
        and candidate.observed_at >= old.observed_at
        and candidate.id != old.id
    )


def is_said_correction(candidate: Statement) -> bool:
    """Whether it was said to be a correction, by its words or by who knows."""
    return candidate.correction or is_correction(candidate.content)


def trust_when_repeated(old: Statement, candidate: Statement) -> Trust:
    """The trust of a statement after a duplicate: what a subject repeats becomes a fact."""
    by_subject = candidate.stated_by is not None and candidate.stated_by in old.subjects
    return Trust.FACT if by_subject and candidate.verified else old.trust


def stricter(
    candidate: Statement, olds: Iterable[Statement], *, set_by_subject: bool = False
) -> tuple[Sensitivity, bool]:
    """Sensitivity and `portable` of a successor: the strictest, unless a subject set them."""
    if set_by_subject:
        return candidate.sensitivity, candidate.portable
    all_of_them = (candidate, *olds)
    sensitivity = max((one.sensitivity for one in all_of_them), key=lambda level: level.rank)
    return sensitivity, all(one.portable for one in all_of_them)


def ending(candidate: Statement, old: Statement, *, now: datetime) -> Ending:
    """How a superseded statement ends.

    A correction, or a subject's word over hearsay, takes it out of the record: it was never true.
    A change of the world ends it when the new began; if that was before its own beginning, there
    is no time left at which it was true, and it is taken out of the record as well.
    """
    begins_at = candidate.valid_from or candidate.observed_at
    never_true = old.valid_from is not None and begins_at <= old.valid_from
    if is_said_correction(candidate) or _is_own_word_over_hearsay(candidate, old) or never_true:
        return Ending(old.valid_until, now)
    return Ending(min(begins_at, old.valid_until or begins_at), None)


def _is_own_word_over_hearsay(candidate: Statement, old: Statement) -> bool:
    by = candidate.stated_by
    own = by is not None and by in candidate.subjects & old.subjects
    return own and old.trust is Trust.HEARSAY and not is_protected(old, by=by)


def _width(space: Space) -> int:
    """How many may read a space: a successor never lies in a wider one."""
    if space.kind in OPEN_KINDS:
        return 2
    return 1 if space.kind is SpaceKind.CHAT else 0
