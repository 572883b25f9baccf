"""What holds of reconciliation for every candidate, neighbourhood and answer of a model."""

from dataclasses import replace
from datetime import datetime
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.space import SpaceKind
from recollect.memories.model import MemoryType, TrustLevel
from recollect.memories.reconcile.rules import (
    ReconcileThresholds,
    ReconcileVerdict,
    StatementNeighbour,
    reconcile,
    reconcile_hearsay,
)
from recollect.memories.supersede.rules import StatementFacts, is_protected
from tests.memories.reconcile.statement_cases import (
    DAY,
    IN_G1,
    IN_G2,
    IN_P,
    IN_PUBLIC,
    IN_Q,
    NOW,
    P,
    Q,
    S,
)

SETTINGS = ReconcileThresholds()

contents = st.sampled_from(
    [
        "I live in Lisbon",
        "Q lives in Porto",
        "Actually, I live in Rome",
        "I no longer live in Porto",
        "I hate mayo",
        "Q likes mayo",
        "I have a dog named Max",
        "My dog is called Rex, not Max",
        "I play the harp",
        "I don't play the harp",
    ]
)
# Q alone, as in most statements; then the exceptions.
subjects = st.just({Q}) | st.just({Q}) | st.sampled_from([{Q, S}, {P}, set[str]()])
spaces = st.just(IN_G1) | st.sampled_from([IN_G1, IN_G2, IN_P, IN_Q, IN_PUBLIC])
# On each side of each band's edge.
similarities = st.sampled_from([0.9, 0.85, 0.8, 0.75, 0.74, 0.96, 0.97, 1.0])


def statements(ids: st.SearchStrategy[str], *times: datetime) -> st.SearchStrategy[StatementFacts]:
    return st.builds(
        StatementFacts,
        id=ids,
        content=contents,
        space=spaces,
        observed_at=st.sampled_from(times),
        type=st.just(MemoryType.KNOWLEDGE) | st.sampled_from(MemoryType),
        subjects=subjects.map(frozenset),
        stated_by=st.sampled_from([Q, P, S, None]),
        trust=st.sampled_from(TrustLevel),
        verified=st.just(True) | st.booleans(),
        correction=st.booleans(),
    )


def of_q(statement: StatementFacts) -> StatementFacts:
    return replace(statement, subjects=frozenset({Q}), stated_by=Q, trust=TrustLevel.FACT)


def heard_of_q(statement: StatementFacts) -> StatementFacts:
    return replace(statement, subjects=frozenset({Q}), stated_by=P, trust=TrustLevel.HEARSAY)


drafts = statements(st.just("new"), NOW)
candidates = drafts | drafts.map(of_q)
olds = statements(st.sampled_from("abcdef"), NOW - DAY, NOW, NOW + DAY)
neighbourhoods = st.lists(
    st.builds(StatementNeighbour, olds | olds.map(heard_of_q), similarities),
    min_size=3,
    max_size=6,
    unique_by=lambda one: one.statement.id,
)
answers = st.fixed_dictionaries({}, optional={name: st.booleans() for name in "abcdef"})


def by_id(neighbours: list[StatementNeighbour]) -> dict[str, StatementNeighbour]:
    return {one.statement.id: one for one in neighbours}


@given(candidates, neighbourhoods, answers)
def test_only_the_same_space_is_decided_on(
    candidate: StatementFacts, neighbours: list[StatementNeighbour], says: dict[str, bool]
) -> None:
    decision = reconcile(candidate, neighbours, SETTINGS, model_says=says)
    for target in (*decision.targets, *decision.conflicts, *decision.asks_model):
        old = by_id(neighbours)[target].statement
        assert old.space == candidate.space
        assert old.subjects & candidate.subjects or not (old.subjects or candidate.subjects)


@given(candidates, neighbourhoods, answers)
def test_across_spaces_only_hearsay_about_the_speaker_is_replaced(
    candidate: StatementFacts, neighbours: list[StatementNeighbour], says: dict[str, bool]
) -> None:
    decision = reconcile_hearsay(candidate, neighbours, SETTINGS, model_says=says)
    for target in (*decision.targets, *decision.asks_model):
        old = by_id(neighbours)[target].statement
        assert old.trust is TrustLevel.HEARSAY
        assert old.subjects == candidate.subjects == {candidate.stated_by}
        assert old.space.kind in (SpaceKind.USER, SpaceKind.CHAT)
        assert candidate.space.kind is not SpaceKind.AGENT_PUBLIC


@given(candidates, neighbourhoods, answers)
def test_what_a_subject_said_is_never_replaced_or_merged_by_another(
    candidate: StatementFacts, neighbours: list[StatementNeighbour], says: dict[str, bool]
) -> None:
    near = reconcile(candidate, neighbours, SETTINGS, model_says=says)
    far = reconcile_hearsay(candidate, neighbours, SETTINGS, model_says=says)
    replaced = near.targets if near.verdict is not ReconcileVerdict.CONFLICT else ()
    for target in (*replaced, *far.targets):
        assert not is_protected(by_id(neighbours)[target].statement, by=candidate.stated_by)


@given(candidates, neighbourhoods)
def test_similarity_alone_replaces_nothing(
    candidate: StatementFacts, neighbours: list[StatementNeighbour]
) -> None:
    plain = replace(candidate, content="I play the harp", correction=False)
    assert reconcile(plain, neighbours, SETTINGS).verdict is not ReconcileVerdict.SUPERSEDES
    assert reconcile_hearsay(plain, neighbours, SETTINGS).targets == ()


@given(candidates, neighbourhoods, answers)
def test_an_unverified_candidate_never_supersedes(
    candidate: StatementFacts, neighbours: list[StatementNeighbour], says: dict[str, bool]
) -> None:
    doubtful = replace(candidate, verified=False)
    decision = reconcile(doubtful, neighbours, SETTINGS, model_says=says)
    assert decision.verdict is not ReconcileVerdict.SUPERSEDES
    assert decision.asks_model == ()


@given(candidates, neighbourhoods, answers, st.randoms(use_true_random=False))
def test_the_order_of_neighbours_makes_no_difference(
    candidate: StatementFacts,
    neighbours: list[StatementNeighbour],
    says: dict[str, bool],
    random: Random,
) -> None:
    mixed = list(neighbours)
    random.shuffle(mixed)
    for decide in (reconcile, reconcile_hearsay):
        first = decide(candidate, neighbours, SETTINGS, model_says=says)
        assert decide(candidate, mixed, SETTINGS, model_says=says) == first


@given(candidates, neighbourhoods, answers)
def test_targets_are_told_apart(
    candidate: StatementFacts, neighbours: list[StatementNeighbour], says: dict[str, bool]
) -> None:
    decision = reconcile(candidate, neighbours, SETTINGS, model_says=says)
    assert (decision.verdict is ReconcileVerdict.NEW) == (decision.targets == ())
    if decision.verdict is ReconcileVerdict.SUPERSEDES:
        assert not set(decision.targets) & {*decision.conflicts, *decision.asks_model}
    assert not set(decision.asks_model) & set(says)
