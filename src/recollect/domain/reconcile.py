"""Reconciliation: what a new statement means for what is known already. Pure.

The caller brings neighbours that it may see and that are active; here stands what they are to the
candidate: the same, replaced by it, in conflict with it, or something else. Records never come
here: they are not deduplicated. Similarity alone replaces nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from recollect.domain import language
from recollect.domain.attributes import (
    attribute_of,
    differ,
    is_many_valued,
    is_same_person,
)
from recollect.domain.contradictions import denied_part, is_long, may_contradict
from recollect.domain.details import kinds, same_details
from recollect.domain.folding import is_equal_text
from recollect.domain.memories import MemoryType
from recollect.domain.sameness import sameness
from recollect.domain.succession import (
    Statement,
    is_protected,
    is_said_correction,
    is_told_alike,
    may_replace,
    overrules,
)
from recollect.domain.words import tokens


class Verdict(StrEnum):
    """What a candidate is to what is known."""

    NEW = "new"
    DUPLICATE = "duplicate"
    SUPERSEDES = "supersedes"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class ReconcileSettings:
    """The bands of cosine similarity, and how many neighbours are looked at."""

    duplicate_min: float = 0.97
    supersede_min: float = 0.85
    unsure_min: float = 0.75
    hearsay_min: float = 0.80
    neighbours: int = 20


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A known statement and its cosine similarity to the candidate."""

    statement: Statement
    similarity: float


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with a candidate. `reason` is one of few words and never holds text.

    `targets` are the ids that the verdict is about: the one repeated, those replaced, or those in
    conflict. `conflicts` are all that stay and may contradict it, newest first. `asks_model` are
    the ids for which a model may be asked whether the candidate replaces them; with its answers in
    `model_says` the decision is made again.
    """

    verdict: Verdict
    targets: tuple[str, ...] = ()
    reason: str = "new"
    asks_model: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


NO_ANSWERS: Mapping[str, bool] = MappingProxyType({})


def reconcile(
    candidate: Statement,
    neighbours: Iterable[Neighbour],
    settings: ReconcileSettings,
    *,
    model_says: Mapping[str, bool] = NO_ANSWERS,
) -> Decision:
    """Compare a candidate with its neighbours in the same space; their order doesn't matter.

    `model_says` maps ids to whether a model said that the candidate replaces them; no entry means
    that there was no answer.
    """
    known = (one for one in neighbours if _is_comparable(candidate, one.statement))
    near = _nearest(known, settings.neighbours)
    for one in near:
        if reason := repeat_reason(candidate, one, settings):
            return Decision(Verdict.DUPLICATE, (one.statement.id,), reason)
    rivals = [
        one
        for one in near
        if one.similarity >= _floor(settings) and not _is_told_elsewhere(candidate, one, settings)
    ]
    replaced = _replaced(candidate, rivals, settings, model_says)
    unsure = [
        one.statement
        for one in rivals
        if one.similarity >= settings.unsure_min
        and one.statement.id not in replaced
        and not _both_stay(candidate, one.statement)
    ]
    asked = _questions(candidate, unsure, model_says)
    conflicts = _contradicted(candidate, unsure)
    if replaced:
        reason = next(iter(replaced.values()))
        return Decision(Verdict.SUPERSEDES, tuple(replaced), reason, asked, conflicts)
    if conflicts:
        return Decision(Verdict.CONFLICT, conflicts, "contradiction", asked, conflicts)
    return Decision(Verdict.NEW, asks_model=asked)


def self_over_hearsay(
    candidate: Statement,
    hearsay: Iterable[Neighbour],
    settings: ReconcileSettings,
    *,
    model_says: Mapping[str, bool] = NO_ANSWERS,
) -> Decision:
    """Which hearsay about its speaker a self-fact replaces, in any user or chat space.

    The one decision across spaces: supersedes, or new where nothing is replaced.
    """
    about = (one for one in hearsay if overrules(candidate, one.statement))
    near = _nearest(about, settings.neighbours)
    close = (one.statement for one in near if one.similarity >= settings.hearsay_min)
    olds = [old for old in close if not _both_stay(candidate, old)]
    replaced = tuple(
        old.id for old in olds if _one_attribute(candidate, old) or model_says.get(old.id, False)
    )
    left = [old for old in olds if old.id not in replaced]
    asked = _questions(candidate, left, model_says)
    if replaced:
        return Decision(Verdict.SUPERSEDES, replaced, "self_over_hearsay", asked)
    return Decision(Verdict.NEW, asks_model=asked)


def is_repeat(candidate: Statement, old: Statement) -> bool:
    """Whether an equal text is the same statement: the check within the writing transaction."""
    return is_equal_text(candidate.content, old.content) and _may_merge(candidate, old)


def repeat_reason(candidate: Statement, one: Neighbour, settings: ReconcileSettings) -> str | None:
    """Why a statement repeats a neighbour, in one word; None if it doesn't."""
    if not _may_merge(candidate, one.statement):
        return None
    return _sameness(candidate, one, settings)


def _sameness(candidate: Statement, one: Neighbour, settings: ReconcileSettings) -> str | None:
    near = one.similarity >= settings.duplicate_min
    return sameness(candidate.content, one.statement.content, near=near)


def _is_told_elsewhere(candidate: Statement, one: Neighbour, settings: ReconcileSettings) -> bool:
    """Whether a neighbour says the same to others: each stays for those who heard it."""
    if is_told_alike(candidate, one.statement):
        return False
    return _sameness(candidate, one, settings) is not None


def _is_comparable(candidate: Statement, old: Statement) -> bool:
    """Same space and a common subject, or none on both sides; never the statement itself."""
    if candidate.id == old.id or candidate.space != old.space:
        return False
    if candidate.subjects or old.subjects:
        return not candidate.subjects.isdisjoint(old.subjects)
    return candidate.stated_by == old.stated_by or not _of_speakers(candidate, old)


def _of_speakers(candidate: Statement, old: Statement) -> bool:
    """Whether one speaks of its own speaker, who isn't that of the other: two people's "I"."""
    said = {*tokens(candidate.content), *tokens(old.content)}
    return not language.FIRST_PERSON.isdisjoint(said)


def _nearest(neighbours: Iterable[Neighbour], count: int) -> list[Neighbour]:
    def order(one: Neighbour) -> tuple[float, float, str]:
        return -one.similarity, -one.statement.observed_at.timestamp(), one.statement.id

    return sorted(neighbours, key=order)[:count]


def _may_merge(candidate: Statement, old: Statement) -> bool:
    """Other people's claims stand beside a subject's own word, also when they agree.

    A candidate about more people than the old one would lose some of them.
    """
    return (
        _is_comparable(candidate, old)
        and is_told_alike(candidate, old)
        and candidate.subjects <= old.subjects
        and not is_protected(old, by=candidate.stated_by)
    )


def _floor(settings: ReconcileSettings) -> float:
    return min(settings.unsure_min, settings.supersede_min, settings.hearsay_min)


def _both_stay(candidate: Statement, old: Statement) -> bool:
    """Of many-valued kinds two texts with other names, numbers or dates are about two things. What
    a long text says of others is not read."""
    if is_long(candidate.content, old.content):
        return True
    passing = {candidate.type, old.type} & {MemoryType.EVENT, MemoryType.TASK}
    many = passing or is_many_valued(candidate.content) or is_many_valued(old.content)
    return bool(many) and not same_details(candidate.content, old.content)


def _replaced(
    candidate: Statement,
    rivals: Sequence[Neighbour],
    settings: ReconcileSettings,
    model_says: Mapping[str, bool],
) -> dict[str, str]:
    """The ids that the candidate replaces, with the reason of each."""
    weaker = [one for one in rivals if may_replace(candidate, one.statement)]
    sure = [
        one.statement
        for one in weaker
        if one.similarity >= _sure_min(candidate, one.statement, settings)
    ]
    found = {old.id: "attribute" for old in sure if _replaces_value(candidate, old)}
    # A correction that names no attribute means the nearest: it is about one statement.
    corrected = next((old for old in sure if _corrects(candidate, old)), None)
    if corrected is not None and not found:
        found[corrected.id] = "correction"
    for one in weaker:
        old = one.statement
        agreed = one.similarity >= settings.unsure_min and model_says.get(old.id, False)
        if agreed and not _both_stay(candidate, old):
            found.setdefault(old.id, "model")
    return found


def _replaces_value(candidate: Statement, old: Statement) -> bool:
    return _one_attribute(candidate, old) and not _both_stay(candidate, old)


def _sure_min(candidate: Statement, old: Statement, settings: ReconcileSettings) -> float:
    if overrules(candidate, old):
        return min(settings.supersede_min, settings.hearsay_min)
    return settings.supersede_min


def _one_attribute(candidate: Statement, old: Statement) -> bool:
    """Whether both state one single-valued attribute of one subject, with different values."""
    if candidate.subjects != old.subjects:
        return False
    new, known = attribute_of(candidate.content), attribute_of(old.content)
    if new is None or known is None or not differ(new, known):
        return False
    if len(candidate.subjects) == 1:
        return is_same_person(new.subject_hint, known.subject_hint)
    return new.subject_hint == known.subject_hint


def _corrects(candidate: Statement, old: Statement) -> bool:
    """Whether a correction means this statement: it is about the same, and says otherwise."""
    if is_long(candidate.content, old.content):
        return False
    if not is_said_correction(candidate) or kinds(candidate.content) != kinds(old.content):
        return False
    new, known = attribute_of(candidate.content), attribute_of(old.content)
    if new is not None and known is not None and not differ(new, known):
        return False
    denied = denied_part(candidate.content)
    return denied is None or set(tokens(denied)) <= set(tokens(old.content))


def _questions(
    candidate: Statement, olds: Iterable[Statement], model_says: Mapping[str, bool]
) -> tuple[str, ...]:
    asked = (old.id for old in olds if may_replace(candidate, old) and old.id not in model_says)
    return tuple(asked)


def _contradicted(candidate: Statement, olds: Iterable[Statement]) -> tuple[str, ...]:
    newest = sorted(olds, key=lambda old: (-old.observed_at.timestamp(), old.id))
    return tuple(old.id for old in newest if may_contradict(candidate.content, old.content))
