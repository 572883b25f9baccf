"""Reconciliation: each band and rule of the contract."""

from dataclasses import replace

import pytest

from recollect.kernel.space import Space
from recollect.memories.model import MemoryType, TrustLevel
from recollect.memories.reconcile.contradictions import is_correction
from recollect.memories.reconcile.rules import (
    ReconcileDecision,
    ReconcileThresholds,
    ReconcileVerdict,
    StatementNeighbour,
    is_repeat,
    reconcile,
    reconcile_hearsay,
)
from recollect.memories.supersede.rules import StatementFacts
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
    known,
    said,
)

SETTINGS = ReconcileThresholds()


def decided(
    candidate: StatementFacts, *neighbours: StatementNeighbour, **says: bool
) -> ReconcileDecision:
    return reconcile(candidate, neighbours, SETTINGS, model_says=says)


def verdict(new: str, old: str, similarity: float) -> tuple[ReconcileVerdict, tuple[str, ...]]:
    decision = decided(said(new), known(old, similarity))
    return decision.verdict, decision.asks_model


@pytest.mark.parametrize(
    ("new", "old", "similarity", "expected", "asks"),
    [
        ("I love tea", "i love TEA!", 0.1, ReconcileVerdict.DUPLICATE, ()),
        ("I really love tea", "I love tea a lot", 0.97, ReconcileVerdict.DUPLICATE, ()),
        ("I really love tea", "I love tea a lot", 0.969, ReconcileVerdict.NEW, ("old",)),
        ("I run 5 km a day", "I run 6 km a day", 0.99, ReconcileVerdict.NEW, ("old",)),
        ("The rule is x != y", "The rule is x = y", 0.99, ReconcileVerdict.NEW, ("old",)),
        ("The rule is just x > y", "The rule is x < y", 0.99, ReconcileVerdict.NEW, ("old",)),
        ("I met Ann", "I met Bea", 0.99, ReconcileVerdict.NEW, ("old",)),
        ("We meet on Monday", "We meet on Friday", 0.99, ReconcileVerdict.NEW, ("old",)),
        ("I like tea", "I like coffee", 0.99, ReconcileVerdict.NEW, ("old",)),
        ("I smoke", "I don't smoke", 0.99, ReconcileVerdict.CONFLICT, ("old",)),
        ("My favourite colour is blue", "My favourite colour is red", 0.99, "supersedes", ()),
        ("My favourite colour is blue", "My favourite colour is red", 0.85, "supersedes", ()),
        ("My favourite colour is blue", "My favourite colour is red", 0.849, "conflict", ("old",)),
        ("My favourite colour is blue", "My favourite colour is red", 0.75, "conflict", ("old",)),
        (
            "My favourite colour is blue",
            "My favourite colour is red",
            0.749,
            ReconcileVerdict.NEW,
            (),
        ),
        ("I live in Lisbon", "I live in Porto", 0.9, ReconcileVerdict.SUPERSEDES, ()),
        ("I work at Initech", "I work at Globex", 0.9, ReconcileVerdict.SUPERSEDES, ()),
        ("I work as a cook", "I work as a nurse", 0.9, ReconcileVerdict.SUPERSEDES, ()),
        ("My name is Ann", "My name is Bea", 0.9, ReconcileVerdict.SUPERSEDES, ()),
        ("My birthday is May 3", "My birthday is May 4", 0.9, ReconcileVerdict.SUPERSEDES, ()),
        ("I am divorced", "I am married", 0.9, ReconcileVerdict.SUPERSEDES, ()),
        ("I hate mayo", "I like mayo", 0.9, ReconcileVerdict.SUPERSEDES, ()),
        ("I no longer live in Porto", "I live in Porto", 0.9, ReconcileVerdict.SUPERSEDES, ()),
        ("I live in Porto, Portugal", "I live in Porto", 0.9, ReconcileVerdict.NEW, ("old",)),
        (
            "Actually, the car is a Volvo",
            "The car is a Saab",
            0.85,
            ReconcileVerdict.SUPERSEDES,
            (),
        ),
        ("Actually, the car is a Volvo", "The car is a Saab", 0.84, ReconcileVerdict.NEW, ("old",)),
        ("I play the harp", "I play the flute", 0.96, ReconcileVerdict.NEW, ("old",)),
        ("I play the harp", "I never play the harp", 0.8, ReconcileVerdict.CONFLICT, ("old",)),
        ("I play the harp", "I play the flute", 0.74, ReconcileVerdict.NEW, ()),
    ],
)
def test_each_band_decides_as_the_contract_says(
    new: str, old: str, similarity: float, expected: str, asks: tuple[str, ...]
) -> None:
    assert verdict(new, old, similarity) == (expected, asks)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I have a cat named Mia", "I have a dog named Max"),
        ("cat named Mia", "dog named Max"),
        ("My dog's name is Rex", "My dog's name is Max"),
        ("My daughter is Eva", "My daughter is Ida"),
        ("My sister lives in Porto", "My sister lives in Lisbon"),
        ("My son is 4", "My son is 7"),
        ("Ann is a friend of mine", "Bea is a friend of mine"),
    ],
)
@pytest.mark.parametrize("similarity", [0.76, 0.9, 0.99])
def test_of_pets_children_siblings_and_friends_both_stay_without_conflict(
    new: str, old: str, similarity: float
) -> None:
    decision = decided(said(new), known(old, similarity), old=True)
    assert decision == ReconcileDecision(ReconcileVerdict.NEW)


@pytest.mark.parametrize("kind", [MemoryType.EVENT, MemoryType.TASK])
def test_of_events_and_tasks_both_stay_without_conflict(kind: MemoryType) -> None:
    old = known("The launch is March 15", type=kind)
    assert decided(said("The launch is March 20", type=kind), old) == ReconcileDecision(
        ReconcileVerdict.NEW
    )
    assert decided(said("Actually, the launch is March 20", type=kind), old).targets == ("old",)


def test_a_correction_replaces_the_pet_that_it_means_and_no_other() -> None:
    dogs = known("My dog is called Max", 0.9), known("My dog is called Bo", 0.95, id="other")
    assert decided(said("My dog is called Rex, not Max"), *dogs).targets == ("old",)
    cat = known("I have a cat named Mia", 0.9)
    assert decided(said("Actually, I have a dog named Rex"), cat).verdict is ReconcileVerdict.NEW


def test_a_correction_replaces_the_nearest_alone() -> None:
    near = known("The car is a Saab", 0.95), known("The car was a gift", 0.9, id="gift")
    decision = decided(said("Actually, the car is a Volvo"), *near)
    assert (decision.targets, decision.reason) == (("old",), "correction")


def test_a_correction_of_an_attribute_replaces_only_its_other_values() -> None:
    new = said("Actually, I live in Lisbon")
    sea = known("I grew up by the sea", 0.95, id="sea")
    assert decided(new, known("I live in Porto", 0.9), sea).targets == ("old",)
    assert decided(new, known("I live in Lisbon", 0.9)).verdict is ReconcileVerdict.NEW
    assert decided(new, known("I work at Initech", 0.9)).verdict is ReconcileVerdict.NEW


def test_a_model_is_asked_once_and_only_its_yes_replaces() -> None:
    new, old = said("I play the harp"), known("I play the flute", 0.8)
    assert decided(new, old).asks_model == ("old",)
    assert decided(new, old, old=True) == ReconcileDecision(
        ReconcileVerdict.SUPERSEDES, ("old",), "model"
    )
    assert decided(new, old, old=False) == ReconcileDecision(ReconcileVerdict.NEW)
    below = known("I play the flute", 0.74)
    assert decided(new, below, old=True) == ReconcileDecision(ReconcileVerdict.NEW)


def test_without_a_model_what_may_contradict_is_marked_newest_first() -> None:
    old = known("I smoke", 0.8), known("I smoke a lot", 0.76, id="later", observed_at=NOW)
    decision = decided(said("I don't smoke"), *old)
    assert decision.verdict is ReconcileVerdict.CONFLICT
    assert decision.targets == decision.conflicts == ("later", "old")


def test_what_stays_beside_a_replaced_statement_is_marked_too() -> None:
    own = known("I live in Porto", 0.9)
    other = known("Q lives in Rome", 0.76, id="other", by=P, observed_at=NOW + DAY)
    decision = decided(said("I live in Lisbon"), own, other)
    assert (decision.targets, decision.conflicts) == (("old",), ("other",))


def test_all_statements_of_the_attribute_are_replaced() -> None:
    old = known("I live in Porto", 0.9), known("I moved to Rome", 0.86, id="rome")
    assert decided(said("I live in Lisbon"), *old).targets == ("old", "rome")


def test_a_subjects_own_word_stays_beside_what_others_say() -> None:
    own = known("I live in Porto", 0.9)
    decision = decided(said("Q lives in Lisbon", by=P), own, old=True)
    assert (decision.verdict, decision.asks_model) == (ReconcileVerdict.CONFLICT, ())
    assert decided(said("I live in Porto", by=P), own) == ReconcileDecision(ReconcileVerdict.NEW)
    assert (
        decided(said("Actually, Q lives in Rome", by=P), own).verdict is ReconcileVerdict.CONFLICT
    )


def test_two_people_who_contradict_each_other_about_a_third_both_stay() -> None:
    old = known("Q lives in Porto", 0.95, by=P)
    decision = decided(said("Q lives in Lisbon", by=S), old, old=True)
    assert (decision.verdict, decision.targets) == (ReconcileVerdict.CONFLICT, ("old",))
    assert decided(said("Q lives in Lisbon", by=P), old).verdict is ReconcileVerdict.SUPERSEDES


def test_an_unverified_statement_replaces_nothing() -> None:
    old = known("I live in Porto", 0.95)
    decision = decided(said("I live in Lisbon", verified=False), old, old=True)
    assert (decision.verdict, decision.asks_model) == (ReconcileVerdict.CONFLICT, ())


def test_a_late_arrival_does_not_replace_what_was_said_after_it() -> None:
    old = known("I live in Porto", 0.95, observed_at=NOW + DAY)
    assert decided(said("I live in Lisbon"), old).verdict is ReconcileVerdict.CONFLICT


def test_other_spaces_and_other_subjects_are_not_looked_at() -> None:
    same = "I live in Porto"
    assert decided(said(same), known(same, 1.0, space=IN_G2)) == ReconcileDecision(
        ReconcileVerdict.NEW
    )
    assert decided(said(same), known(same, 1.0, about=(P,))) == ReconcileDecision(
        ReconcileVerdict.NEW
    )
    assert decided(said(same), known(same, 1.0, about=())) == ReconcileDecision(
        ReconcileVerdict.NEW
    )
    assert decided(said(same), known(same, 1.0, id="new")) == ReconcileDecision(
        ReconcileVerdict.NEW
    )


def test_one_common_subject_makes_a_neighbour() -> None:
    old = known("Q and S live in Porto", 0.8, about=(Q, S))
    assert decided(said("I moved away"), old).asks_model == ("old",)
    joint = said("Q and S live in Porto", about=(Q, P))
    assert decided(joint, old).verdict is not ReconcileVerdict.DUPLICATE


def test_an_attribute_of_a_person_is_none_of_a_pair() -> None:
    pair = known("We live in Porto", 0.9, about=(Q, S))
    assert decided(said("I live in Lisbon"), pair).verdict is ReconcileVerdict.CONFLICT


def test_two_names_under_one_subject_are_two_things() -> None:
    boat = known("Bertha moved to Porto", 0.9)
    assert decided(said("Aurora moved to Lisbon"), boat).verdict is ReconcileVerdict.NEW


def test_without_subjects_the_words_say_who_is_meant() -> None:
    ann = known("Ann lives in Porto", 0.9, about=())
    assert decided(said("Bea lives in Lisbon", about=()), ann).verdict is ReconcileVerdict.NEW
    assert decided(said("Ann lives in Lisbon", about=(), by=P), ann).targets == ("old",)
    mine = known("I live in Porto", 0.9, about=())
    assert decided(said("I live in Porto", about=(), by=P), mine) == ReconcileDecision(
        ReconcileVerdict.NEW
    )
    assert decided(said("I live in Lisbon", about=()), mine).targets == ("old",)


def test_only_the_nearest_neighbours_count() -> None:
    strangers = [known(f"I like fruit {n}", 0.95, id=f"n{n}") for n in range(20)]
    far = known("I live in Porto", 0.9)
    assert decided(said("I live in Lisbon"), far, *strangers[1:]).targets == ("old",)
    assert decided(said("I live in Lisbon"), far, *strangers).targets == ()
    others = [known("I live in Rome", 0.95, id=f"n{n}", space=IN_G2) for n in range(40)]
    assert decided(said("I live in Lisbon"), far, *others).targets == ("old",)


def test_red_then_blue_then_blue_again_leaves_one_blue() -> None:
    red = known("My favourite colour is red", 0.93)
    blue = said("My favourite colour is blue", type=MemoryType.PREFERENCE)
    assert decided(blue, red).verdict is ReconcileVerdict.SUPERSEDES
    again = replace(blue, id="again", observed_at=NOW + DAY)
    assert decided(again, StatementNeighbour(blue, 1.0)) == ReconcileDecision(
        ReconcileVerdict.DUPLICATE, ("new",), "equal_text"
    )


def test_a_repeat_is_an_equal_text_of_the_same_people_that_nobody_protects() -> None:
    hearsay = known("Q likes mayo", by=P).statement
    assert is_repeat(said("q likes  MAYO."), hearsay)
    assert is_repeat(said("Q likes mayo", by=S), hearsay)
    own = known("Q likes mayo").statement
    assert not is_repeat(said("Q likes mayo", by=P), own)
    assert not is_repeat(said("Q likes mayo", space=IN_G2), own)


MAYO = known("Q likes mayo", 0.8, by=P)


@pytest.mark.parametrize("space", [IN_Q, IN_G1, IN_G2])
def test_a_self_fact_replaces_hearsay_in_other_spaces(space: Space) -> None:
    decision = reconcile_hearsay(said("I hate mayo", space=space), [MAYO], SETTINGS)
    assert decision == ReconcileDecision(ReconcileVerdict.SUPERSEDES, ("old",), "self_over_hearsay")


def test_in_its_own_space_a_self_fact_replaces_hearsay_in_the_same_band() -> None:
    assert decided(said("I hate mayo"), MAYO).verdict is ReconcileVerdict.SUPERSEDES
    farther = replace(MAYO, similarity=0.79)
    assert decided(said("I hate mayo"), farther).verdict is ReconcileVerdict.CONFLICT


@pytest.mark.parametrize(
    ("candidate", "hearsay"),
    [
        (said("I hate mayo"), replace(MAYO, similarity=0.799)),
        (said("I hate mayo", space=IN_G1), known("Q likes mayo", by=P, space=IN_P)),
        (said("I hate mayo", space=IN_PUBLIC), MAYO),
        (said("I hate mayo"), known("Q likes mayo", by=P, space=IN_PUBLIC)),
        (said("I hate mayo", verified=False), MAYO),
        (said("I hate mayo", observed_at=NOW - 2 * DAY), MAYO),
        (said("I like mayo"), MAYO),
        (said("S hates mayo", about=(S,)), known("S likes mayo", by=P, about=(S,))),
        (said("We hate mayo", about=(Q, S)), MAYO),
        (said("I hate mayo"), known("Q and S like mayo", by=P, about=(Q, S))),
        (said("I hate mayo"), known("Q likes mayo", by=P, trust=TrustLevel.FACT)),
        (said("I hate mayo"), known("Q likes mayo", space=IN_G2)),
        (said("My dog's name is Rex"), known("Q's dog's name is Max", by=P)),
    ],
)
def test_nothing_else_is_replaced_across_spaces(
    candidate: StatementFacts, hearsay: StatementNeighbour
) -> None:
    assert reconcile_hearsay(candidate, [hearsay], SETTINGS).targets == ()


def test_a_claim_about_a_hobby_is_kept_unless_a_model_says_otherwise() -> None:
    hobby = known("Q collects stamps", 0.85, by=P, space=IN_P)
    new = said("I collect coins", space=IN_Q)
    assert reconcile_hearsay(new, [hobby], SETTINGS) == ReconcileDecision(
        ReconcileVerdict.NEW, asks_model=("old",)
    )
    said_yes = reconcile_hearsay(new, [hobby], SETTINGS, model_says={"old": True})
    assert said_yes.targets == ("old",)
    said_no = reconcile_hearsay(new, [hobby], SETTINGS, model_says={"old": False})
    assert said_no == ReconcileDecision(ReconcileVerdict.NEW)


@pytest.mark.parametrize(
    ("chars", "expected"), [(2_000, ReconcileVerdict.DUPLICATE), (2_001, ReconcileVerdict.NEW)]
)
def test_near_copies_are_folded_up_to_a_length(chars: int, expected: ReconcileVerdict) -> None:
    new = "I really love tea ".ljust(chars, "x")
    assert verdict(new, f"I love tea {new[18:]}", 0.99)[0] is expected


def test_a_long_text_repeats_an_equal_one_and_replaces_nothing() -> None:
    tale = "I love tea " * 200
    assert decided(said(f"{tale}!"), known(tale)).verdict is ReconcileVerdict.DUPLICATE
    for new in (f"Actually, {tale} not", f"I do not love tea, {tale}"):
        assert decided(said(new), known(tale, 0.99)) == decided(said(new), known(tale, 0.1))


@pytest.mark.parametrize("opening", ["Actually, the boat is red. ", "Correction: it is red. "])
def test_a_long_text_corrects_by_its_opening(opening: str) -> None:
    told = "The sea was calm. " * 200
    assert is_correction(opening + told)
    assert not is_correction(told + opening)
