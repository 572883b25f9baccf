"""Rules of supersession: whose statement may replace whose, what the successor inherits, and when
the replaced one stops being valid. Pure functions.

Nothing here compares texts: `memories/reconcile/rules.py` decides by similarity.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from recollect.kernel.ids import ChatId
from recollect.kernel.space import OPEN_KINDS, Space, SpaceKind
from recollect.memories.model import (
    MemoryOrigin,
    MemoryType,
    Sensitivity,
    TrustLevel,
)
from recollect.memories.reconcile.contradictions import is_correction

# Spaces in which a person's own statement replaces hearsay about them, even from another space.
HEARSAY_KINDS = (SpaceKind.USER, SpaceKind.CHAT)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementFacts:
    """The facts of a statement that the rules need. Person ids are canonical.

    `correction` marks it as a correction from outside; `is_marked_correction` also reads its words.
    """

    id: str
    content: str
    space: Space
    observed_at: datetime
    type: MemoryType = MemoryType.KNOWLEDGE
    subjects: frozenset[str] = frozenset()
    stated_by: str | None = None
    learned_in: ChatId | None = None
    origin: MemoryOrigin = MemoryOrigin.DIRECT
    trust: TrustLevel = TrustLevel.UNKNOWN
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    portable: bool = True
    verified: bool = True
    correction: bool = False
    valid_from: datetime | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class SupersededTimes:
    """The times that supersession sets on the old row.

    `valid_until` ends it in the world: it was true until then. `retracted_at` ends it in the
    record: it was never true, or it is recorded elsewhere.
    """

    valid_until: datetime | None
    retracted_at: datetime | None


def has_same_origin(candidate: StatementFacts, old: StatementFacts) -> bool:
    """Whether both were learned in one chat, or both outside any chat.

    Who took part in a chat may see what was said there, and a statement that is not portable stays
    there. So one row can't stand for statements from two chats.
    """
    return (candidate.origin, candidate.learned_in) == (old.origin, old.learned_in)


def is_protected(old: StatementFacts, *, by: str | None) -> bool:
    """Whether `old` is what a subject said of themself, and `by` is somebody else.

    Hearsay that a subject repeated is protected too: another person stated it first, and the
    repeat raised its trust to `fact`.
    """
    if old.stated_by is not None and old.stated_by in old.subjects:
        return by != old.stated_by
    return bool(old.subjects) and old.trust is TrustLevel.FACT and by not in old.subjects


def may_replace(candidate: StatementFacts, old: StatementFacts) -> bool:
    """Whether the candidate may replace `old`: verified, not older, and stated by the right person.

    That is the same person, a subject of both statements, or anybody where neither has a subject.
    Two people who speak about a third don't replace each other's statements, and nobody replaces
    what another person said of themself.
    """
    if not candidate.verified or candidate.observed_at < old.observed_at:
        return False
    if is_protected(old, by=candidate.stated_by):
        return False
    same_voice = candidate.stated_by == old.stated_by
    of_nobody = not candidate.subjects and not old.subjects
    return same_voice or of_nobody or candidate.stated_by in candidate.subjects & old.subjects


def can_overrule(candidate: StatementFacts, old: StatementFacts) -> bool:
    """Whether a person's statement about themself replaces hearsay about the same person alone.

    This works across spaces, but the successor never lies in a space with more readers.
    """
    return (
        _is_self_over_hearsay(candidate, old)
        and candidate.subjects == old.subjects == {candidate.stated_by}
        and old.space.kind in HEARSAY_KINDS
        and _audience_rank(candidate.space) <= _audience_rank(old.space)
        and candidate.verified
        and candidate.observed_at >= old.observed_at
        and candidate.id != old.id
    )


def is_marked_correction(candidate: StatementFacts) -> bool:
    """Whether it is a correction, by its words or by its `correction` flag."""
    return candidate.correction or is_correction(candidate.content)


def trust_when_repeated(old: StatementFacts, candidate: StatementFacts) -> TrustLevel:
    """The trust of `old` after the candidate repeated it: what a subject confirms becomes a
    fact."""
    by_subject = candidate.stated_by is not None and candidate.stated_by in old.subjects
    return TrustLevel.FACT if by_subject and candidate.verified else old.trust


def strictest_privacy(
    candidate: StatementFacts, olds: Iterable[StatementFacts], *, set_by_subject: bool = False
) -> tuple[Sensitivity, bool]:
    """Sensitivity and `portable` of a successor: the strictest of all, unless a subject chose
    them."""
    if set_by_subject:
        return candidate.sensitivity, candidate.portable
    all_of_them = (candidate, *olds)
    sensitivity = max((one.sensitivity for one in all_of_them), key=lambda level: level.rank)
    return sensitivity, all(one.portable for one in all_of_them)


def superseded_times(
    candidate: StatementFacts, old: StatementFacts, *, now: datetime
) -> SupersededTimes:
    """The end of `old` when the candidate supersedes it.

    A correction, or a person's own statement over hearsay, retracts it: it was never true. Anything
    else is a change in the world: `old` was true until the candidate became true. If that is not
    after the start of `old`, no time is left at which it was true, and it is retracted as well.
    """
    if _is_correction_of(candidate, old) or _left_no_time(candidate, old):
        return SupersededTimes(old.valid_until, now)
    return SupersededTimes(_end_of(old, candidate), None)


def successor_start(candidate: StatementFacts, olds: Iterable[StatementFacts]) -> datetime | None:
    """The `valid_from` of a successor: what it says itself, else what follows from `olds`.

    After a change in the world it begins where the last of them ends. A correction was true all the
    while, so it begins with the earliest of them. None is an open start: of a correction whose
    predecessor has none, and where the successor itself ends no later. Only its own space counts,
    because a time of another one may be hidden from the readers of this one.
    """
    if candidate.valid_from is not None:
        return candidate.valid_from
    here = [old for old in olds if old.space == candidate.space]
    corrected = [old.valid_from for old in here if _is_correction_of(candidate, old)]
    ended = [
        _end_of(old, candidate)
        for old in here
        if not (_is_correction_of(candidate, old) or _left_no_time(candidate, old))
    ]
    starts = [start for start in corrected if start is not None]
    known = starts if len(starts) == len(corrected) else []
    start = max(ended) if ended else min(known, default=None)
    until = candidate.valid_until
    return None if start is None or (until is not None and until <= start) else start


def _begins_at(candidate: StatementFacts) -> datetime:
    return candidate.valid_from or candidate.observed_at


def _end_of(old: StatementFacts, candidate: StatementFacts) -> datetime:
    # An end that was known before is never moved to a later time.
    begins_at = _begins_at(candidate)
    return min(begins_at, old.valid_until or begins_at)


def _left_no_time(candidate: StatementFacts, old: StatementFacts) -> bool:
    """Whether the candidate is true from the start of `old` on, or earlier."""
    return old.valid_from is not None and _begins_at(candidate) <= old.valid_from


def _is_correction_of(candidate: StatementFacts, old: StatementFacts) -> bool:
    return is_marked_correction(candidate) or _is_self_over_hearsay(candidate, old)


def _is_self_over_hearsay(candidate: StatementFacts, old: StatementFacts) -> bool:
    by = candidate.stated_by
    own = by is not None and by in candidate.subjects & old.subjects
    return own and old.trust is TrustLevel.HEARSAY and not is_protected(old, by=by)


def _audience_rank(space: Space) -> int:
    """Spaces by their number of readers: 0 for a user's own, 1 for a chat, 2 for open ones."""
    if space.kind in OPEN_KINDS:
        return 2
    return 1 if space.kind is SpaceKind.CHAT else 0
