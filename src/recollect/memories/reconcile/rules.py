"""Rules of reconciliation: what a new statement means for similar statements. Pure functions.

The caller passes active neighbours with their similarity. The rules decide whether the candidate
repeats one of them, replaces some, contradicts some, or is new. Similarity alone replaces nothing:
the words must name one attribute with another value, or say that they correct something. Records
are never compared.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from recollect.memories.model import MemoryType
from recollect.memories.reconcile.attributes import (
    is_incompatible,
    is_many_valued,
    is_same_person,
    parse_attribute,
)
from recollect.memories.reconcile.contradictions import (
    denied_part,
    is_too_long,
    may_contradict,
)
from recollect.memories.reconcile.details import (
    has_same_details,
    many_valued_nouns,
)
from recollect.memories.reconcile.same_statement import duplicate_reason
from recollect.memories.supersede.rules import (
    StatementFacts,
    can_overrule,
    has_same_origin,
    is_marked_correction,
    is_protected,
    may_replace,
)
from recollect.text import english
from recollect.text.normal_form import is_equal_text
from recollect.text.tokens import tokens


class ReconcileVerdict(StrEnum):
    """What a candidate statement is to its neighbours."""

    NEW = "new"
    DUPLICATE = "duplicate"
    SUPERSEDES = "supersedes"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class ReconcileThresholds:
    """Lowest cosine similarity for each decision, and how many neighbours are compared.

    `unsure_min` is the lowest for a contradiction or a question to a model, `hearsay_min` for
    replacing hearsay by what its subject says.
    """

    duplicate_min: float = 0.97
    supersede_min: float = 0.85
    unsure_min: float = 0.75
    hearsay_min: float = 0.80
    neighbours: int = 20


@dataclass(frozen=True, slots=True)
class StatementNeighbour:
    """A stored statement and its cosine similarity to the candidate."""

    statement: StatementFacts
    similarity: float


@dataclass(frozen=True, slots=True)
class ReconcileDecision:
    """What to do with a candidate. `reason` is a fixed word and never holds text of a memory.

    `targets` are the ids of the verdict: the repeated one, those replaced, or those in conflict.
    `conflicts` are all that stay active and may contradict it, newest first. `asks_model` are the
    ids for which a model could tell whether the candidate replaces them; the caller may ask it and
    call again with the answers in `model_says`.
    """

    verdict: ReconcileVerdict
    targets: tuple[str, ...] = ()
    reason: str = "new"
    asks_model: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


NO_MODEL_ANSWERS: Mapping[str, bool] = MappingProxyType({})


def reconcile(
    candidate: StatementFacts,
    neighbours: Iterable[StatementNeighbour],
    settings: ReconcileThresholds,
    *,
    model_says: Mapping[str, bool] = NO_MODEL_ANSWERS,
) -> ReconcileDecision:
    """Compare a candidate with its neighbours in the same space, in any order.

    `model_says` maps ids to whether a model said that the candidate replaces them. An id without an
    entry was not answered.
    """
    # Duplicates come first and end the search: a repeat says nothing new, so it is counted and
    # does nothing else, even if it also differs from another neighbour. Whatever it contradicts was
    # compared with the statement that it repeats.
    # Then what it replaces. Contradictions are looked for only among the rest, because a replaced
    # statement no longer competes with its successor.
    #
    # `rivals` leaves out neighbours that say the same in another chat. They can't be merged (each
    # stays for the people who heard it), and must not count as replaced or contradicted either.
    # The list begins at the lowest of the three thresholds; each decision then applies its own.
    known = (one for one in neighbours if _is_comparable(candidate, one.statement))
    near = _take_nearest(known, settings.neighbours)
    for one in near:
        if reason := repeat_reason(candidate, one, settings):
            return ReconcileDecision(ReconcileVerdict.DUPLICATE, (one.statement.id,), reason)
    rivals = [
        one
        for one in near
        if one.similarity >= _lowest_threshold(settings)
        and not _is_repeated_elsewhere(candidate, one, settings)
    ]
    replaced = _find_replaced(candidate, rivals, settings, model_says)
    unsure = [
        one.statement
        for one in rivals
        if one.similarity >= settings.unsure_min
        and one.statement.id not in replaced
        and not _can_coexist(candidate, one.statement)
    ]
    questions = _model_questions(candidate, unsure, model_says)
    conflicts = _find_contradicted(candidate, unsure)
    if replaced:
        reason = next(iter(replaced.values()))
        return ReconcileDecision(
            ReconcileVerdict.SUPERSEDES, tuple(replaced), reason, questions, conflicts
        )
    if conflicts:
        return ReconcileDecision(
            ReconcileVerdict.CONFLICT, conflicts, "contradiction", questions, conflicts
        )
    return ReconcileDecision(ReconcileVerdict.NEW, asks_model=questions)


def reconcile_hearsay(
    candidate: StatementFacts,
    hearsay: Iterable[StatementNeighbour],
    settings: ReconcileThresholds,
    *,
    model_says: Mapping[str, bool] = NO_MODEL_ANSWERS,
) -> ReconcileDecision:
    """Which hearsay about its speaker a statement about oneself replaces, in user and chat spaces.

    The only decision across spaces. The verdict is `supersedes`, or `new` if nothing is replaced.
    """
    about = (one for one in hearsay if can_overrule(candidate, one.statement))
    near = _take_nearest(about, settings.neighbours)
    close = (one.statement for one in near if one.similarity >= settings.hearsay_min)
    olds = [old for old in close if not _can_coexist(candidate, old)]
    replaced = tuple(
        old.id
        for old in olds
        if _changes_attribute(candidate, old) or model_says.get(old.id, False)
    )
    left = [old for old in olds if old.id not in replaced]
    questions = _model_questions(candidate, left, model_says)
    if replaced:
        return ReconcileDecision(
            ReconcileVerdict.SUPERSEDES, replaced, "self_over_hearsay", questions
        )
    return ReconcileDecision(ReconcileVerdict.NEW, asks_model=questions)


def is_repeat(candidate: StatementFacts, old: StatementFacts) -> bool:
    """Whether the candidate repeats `old` in equal words. Needs no vectors, so it is checked in the
    transaction of the write."""
    return is_equal_text(candidate.content, old.content) and _may_merge(candidate, old)


def repeat_reason(
    candidate: StatementFacts, one: StatementNeighbour, settings: ReconcileThresholds
) -> str | None:
    """Why a statement repeats a neighbour, as a fixed word; None if it doesn't."""
    if not _may_merge(candidate, one.statement):
        return None
    return _same_text_reason(candidate, one, settings)


def _same_text_reason(
    candidate: StatementFacts, one: StatementNeighbour, settings: ReconcileThresholds
) -> str | None:
    near = one.similarity >= settings.duplicate_min
    return duplicate_reason(candidate.content, one.statement.content, near=near)


def _is_repeated_elsewhere(
    candidate: StatementFacts, one: StatementNeighbour, settings: ReconcileThresholds
) -> bool:
    """Whether a neighbour says the same in another chat: both stay for those who heard them."""
    if has_same_origin(candidate, one.statement):
        return False
    return _same_text_reason(candidate, one, settings) is not None


def _is_comparable(candidate: StatementFacts, old: StatementFacts) -> bool:
    """Whether both lie in one space and have a common subject, or both have none."""
    if candidate.id == old.id or candidate.space != old.space:
        return False
    if candidate.subjects or old.subjects:
        return not candidate.subjects.isdisjoint(old.subjects)
    return candidate.stated_by == old.stated_by or not _is_first_person(candidate, old)


def _is_first_person(candidate: StatementFacts, old: StatementFacts) -> bool:
    """Whether one of them says "I" or "my". Without subjects and with two speakers, that means two
    different people."""
    spoken_words = {*tokens(candidate.content), *tokens(old.content)}
    return not english.FIRST_PERSON.isdisjoint(spoken_words)


def _take_nearest(neighbours: Iterable[StatementNeighbour], count: int) -> list[StatementNeighbour]:
    # A total order, so that the decision does not depend on the order of the neighbours.
    def order(one: StatementNeighbour) -> tuple[float, float, str]:
        return -one.similarity, -one.statement.observed_at.timestamp(), one.statement.id

    return sorted(neighbours, key=order)[:count]


def _may_merge(candidate: StatementFacts, old: StatementFacts) -> bool:
    """Whether one row can stand for both statements.

    What others say of a person stays beside what the person said, even if it is equal. The
    candidate must not have more subjects than `old`: the merge would lose some of them.
    """
    return (
        _is_comparable(candidate, old)
        and has_same_origin(candidate, old)
        and candidate.subjects <= old.subjects
        and not is_protected(old, by=candidate.stated_by)
    )


def _lowest_threshold(settings: ReconcileThresholds) -> float:
    return min(settings.unsure_min, settings.supersede_min, settings.hearsay_min)


def _can_coexist(candidate: StatementFacts, old: StatementFacts) -> bool:
    """Whether both can be true at once, as far as is known.

    A person has many events, tasks, pets or friends: two texts about these with different names,
    numbers or dates are about two things. Long texts are not read, so they always coexist.
    """
    if is_too_long(candidate.content, old.content):
        return True
    passing = {candidate.type, old.type} & {MemoryType.EVENT, MemoryType.TASK}
    many = passing or is_many_valued(candidate.content) or is_many_valued(old.content)
    return bool(many) and not has_same_details(candidate.content, old.content)


def _find_replaced(
    candidate: StatementFacts,
    rivals: Sequence[StatementNeighbour],
    settings: ReconcileThresholds,
    model_says: Mapping[str, bool],
) -> dict[str, str]:
    """The ids that the candidate replaces, each with its reason. The nearest come first."""
    weaker = [one for one in rivals if may_replace(candidate, one.statement)]
    sure = [
        one.statement
        for one in weaker
        if one.similarity >= _supersede_threshold(candidate, one.statement, settings)
    ]
    found = {old.id: "attribute" for old in sure if _replaces_value(candidate, old)}
    # A correction without an attribute ("no, actually it was Rex") is about one statement: the
    # nearest. It counts only where no attribute was found, which is the more precise reason.
    corrected = next((old for old in sure if _corrects(candidate, old)), None)
    if corrected is not None and not found:
        found[corrected.id] = "correction"
    # A model decides only where the rules found nothing, and never against `_can_coexist`.
    for one in weaker:
        old = one.statement
        agreed = one.similarity >= settings.unsure_min and model_says.get(old.id, False)
        if agreed and not _can_coexist(candidate, old):
            found.setdefault(old.id, "model")
    return found


def _replaces_value(candidate: StatementFacts, old: StatementFacts) -> bool:
    return _changes_attribute(candidate, old) and not _can_coexist(candidate, old)


def _supersede_threshold(
    candidate: StatementFacts, old: StatementFacts, settings: ReconcileThresholds
) -> float:
    if can_overrule(candidate, old):
        return min(settings.supersede_min, settings.hearsay_min)
    return settings.supersede_min


def _changes_attribute(candidate: StatementFacts, old: StatementFacts) -> bool:
    """Whether both state one single-valued attribute of the same subjects with different values."""
    if candidate.subjects != old.subjects:
        return False
    new, known = parse_attribute(candidate.content), parse_attribute(old.content)
    if new is None or known is None or not is_incompatible(new, known):
        return False
    # With one subject "she" and "Ann" mean the same person. With none or several, only the words
    # tell who is meant, so they must be equal.
    if len(candidate.subjects) == 1:
        return is_same_person(new.subject_hint, known.subject_hint)
    return new.subject_hint == known.subject_hint


def _corrects(candidate: StatementFacts, old: StatementFacts) -> bool:
    """Whether the candidate corrects this statement: it says that it corrects something, is about
    the same kinds of things, and says something else."""
    if is_too_long(candidate.content, old.content):
        return False
    if not is_marked_correction(candidate) or many_valued_nouns(
        candidate.content
    ) != many_valued_nouns(old.content):
        return False
    new, known = parse_attribute(candidate.content), parse_attribute(old.content)
    if new is not None and known is not None and not is_incompatible(new, known):
        return False
    # "Rex, not Max" can only correct a statement in which Max occurs.
    denied = denied_part(candidate.content)
    return denied is None or set(tokens(denied)) <= set(tokens(old.content))


def _model_questions(
    candidate: StatementFacts, olds: Iterable[StatementFacts], model_says: Mapping[str, bool]
) -> tuple[str, ...]:
    questions = (old.id for old in olds if may_replace(candidate, old) and old.id not in model_says)
    return tuple(questions)


def _find_contradicted(
    candidate: StatementFacts, olds: Iterable[StatementFacts]
) -> tuple[str, ...]:
    newest = sorted(olds, key=lambda old: (-old.observed_at.timestamp(), old.id))
    return tuple(old.id for old in newest if may_contradict(candidate.content, old.content))
