"""Whom a name means: the steps in their order, and what never finds anybody.

Pia speaks. Handles, names and relationships stand as the stages give them: in normal form.
"""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.disclosure import PersonId
from recollect.domain.people import normal_form
from recollect.domain.resolving import (
    Claimed,
    Known,
    Resolution,
    Stages,
    Step,
    open_to_choice,
    resolve,
)

PIA = PersonId("pia")


def known(id_: str, *names: str, handle: str | None = None, linked: bool = False) -> Known:
    handles = frozenset() if handle is None else frozenset({handle})
    return Known(PersonId(id_), frozenset(names), handles, linked)


def claimed(id_: str, *names: str, related: str | None = None) -> Claimed:
    relationships = frozenset() if related is None else frozenset({related})
    return Claimed(PersonId(id_), frozenset(names), relationships)


def found(id_: str, step: Step) -> Resolution:
    return Resolution(PersonId(id_), stage=step)


def asked(step: Step, *ids: str) -> Resolution:
    return Resolution(ambiguous=True, candidates=tuple(map(PersonId, ids)), stage=step)


NEW = Resolution(creates=True)
WORLD = Stages(
    handles=[known("quin", handle="q"), known("x1", handle="dup_1"), known("x2", handle="dup_1")],
    own=PIA,
    claimed=[
        claimed("c1", "sam", related="coworker"),
        claimed("c2", "mum", related="mother"),
        claimed("c3", "alex", related="friend"),
        claimed("c4", "alex", related="friend"),
        claimed("c5", "quinn", related="business partner"),
    ],
    participants=[
        known("pia", "pia lund", handle="pia1"),
        known("sam2", "sam"),
        known("r1", "rex"),
        known("r2", "rex"),
        known("tess", "tess", handle="tt"),
    ],
    org=[
        known("sam3", "sam"),
        known("olaf", "olaf berg", "olly"),
        known("h1", "hans"),
        known("h2", "hans"),
        known("hidden", handle="hh"),
        known("rex3", "rex"),
    ],
)


@pytest.mark.parametrize(
    ("name", "resolution"),
    [
        ("@Q", found("quin", Step.HANDLE)),
        ("my @q", found("quin", Step.HANDLE)),
        ("dup_1", asked(Step.HANDLE, "x1", "x2")),
        ("I", found("pia", Step.SELF)),
        ("me", found("pia", Step.SELF)),
        ("Sam", found("c1", Step.CLAIM)),
        ("my coworker", found("c1", Step.CLAIM)),
        ("my Co-Worker", found("c1", Step.CLAIM)),
        ("Mom", found("c2", Step.CLAIM)),
        ("my business partner", found("c5", Step.CLAIM)),
        ("my friend", asked(Step.CLAIM, "c3", "c4")),
        ("Alex", asked(Step.CLAIM, "c3", "c4")),
        ("Tess", found("tess", Step.CHAT)),
        ("tt", found("tess", Step.CHAT)),
        ("Pia Lund", found("pia", Step.CHAT)),
        ("pia1", found("pia", Step.CHAT)),
        ("Rex", asked(Step.CHAT, "r1", "r2")),
        ("Olaf  Berg", found("olaf", Step.ORG)),
        ("olly", found("olaf", Step.ORG)),
        ("hh", NEW),
        ("Nobody", NEW),
        ("   ", Resolution()),
    ],
)
def test_the_first_step_with_a_hit_answers(name: str, resolution: Resolution) -> None:
    assert resolve(name, WORLD) == resolution


def test_namesakes_in_the_org_make_a_new_person_and_are_told() -> None:
    namesakes = (PersonId("h1"), PersonId("h2"))
    assert resolve("Hans", WORLD) == Resolution(candidates=namesakes, stage=Step.ORG, creates=True)


@pytest.mark.parametrize(
    "name", ["Pia", "P", "Lund", "pia l", "Pia Lundgren", "Pya Lund", "pia-lund"]
)
def test_a_part_of_a_name_or_a_name_like_it_means_somebody_else(name: str) -> None:
    assert resolve(name, WORLD) == NEW


@pytest.mark.parametrize("name", ["partner", "my coworker Ann", "my mother's friend", "his mother"])
def test_a_relationship_is_met_whole(name: str) -> None:
    assert resolve(name, WORLD) == NEW


def test_a_stranger_who_takes_a_name_for_a_handle_is_not_whom_others_mean() -> None:
    grabbed = [known("eve", handle="sam"), known("eve", handle="me"), known("eve", handle="mother")]
    stages = Stages(handles=grabbed, own=PIA, claimed=WORLD.claimed)
    assert resolve("Sam", stages).person_id == "c1"
    assert resolve("me", stages).person_id == PIA
    assert resolve("my mother", stages).person_id == "c2"
    assert resolve("@sam", stages).person_id == "eve"


def test_an_agents_me_is_nobody_and_nobody_new() -> None:
    assert resolve("me", Stages(participants=[known("x", "me")])) == Resolution()


def test_each_speaker_gets_their_own_of_one_first_name() -> None:
    org = [known("coworker_of_p", "jo"), known("wife_of_q", "jo")]
    of_p = Stages(claimed=[claimed("coworker_of_p", "jo", related="coworker")], org=org)
    of_q = Stages(claimed=[claimed("wife_of_q", "jo", related="wife")], org=org)
    assert resolve("Jo", of_p).person_id == "coworker_of_p"
    assert resolve("Jo", of_q).person_id == "wife_of_q"
    assert resolve("my wife", of_p) == NEW


def test_one_person_met_twice_at_a_step_is_one_hit() -> None:
    twice = Stages(claimed=[claimed("a", "jo"), claimed("a", related="wife"), claimed("a", "jo")])
    assert resolve("Jo", twice) == found("a", Step.CLAIM)


def test_a_model_may_choose_unlinked_people_with_an_equal_name_word_only() -> None:
    people = [
        known("b", "anna berg"),
        known("a", "anna", "annie"),
        known("linked", "anna lund", linked=True),
        known("other", "annabel"),
        known("handle", handle="anna"),
    ]
    assert open_to_choice("Anna Lund", people) == ("a", "b")
    assert open_to_choice("Ann", people) == ()
    assert open_to_choice(" ", people) == ()


words = st.text("abm@ ", min_size=1, max_size=4)
forms = st.frozensets(words.map(normal_form).filter(bool), max_size=3)
ids = st.sampled_from("pqrs").map(PersonId)
crowds = st.lists(st.builds(Known, ids, forms, forms), max_size=4)
stages = st.builds(
    Stages, crowds, st.none() | ids, st.lists(st.builds(Claimed, ids, forms, forms)), crowds, crowds
)


@given(words, stages, st.randoms(use_true_random=False))
def test_the_order_of_people_means_nothing(name: str, some: Stages, random: Random) -> None:
    mixed = Stages(
        random.sample(some.handles, len(some.handles)),
        some.own,
        random.sample(some.claimed, len(some.claimed)),
        random.sample(some.participants, len(some.participants)),
        random.sample(some.org, len(some.org)),
    )
    assert resolve(name, mixed) == resolve(name, some)


@given(words, stages)
def test_nobody_is_found_whose_names_are_all_different(name: str, some: Stages) -> None:
    form = normal_form(name)
    resolution = resolve(name, some)
    called = {
        one.person_id
        for one in (*some.handles, *some.participants, *some.org)
        if form in one.full_names | one.handles
    } | {one.person_id for one in some.claimed if form in one.names | one.relationships}
    assert {resolution.person_id, *resolution.candidates} <= called | {None}


@given(words, stages)
def test_an_answer_is_a_person_a_question_or_somebody_new(name: str, some: Stages) -> None:
    resolution = resolve(name, some)
    outcomes = (resolution.person_id is not None, resolution.ambiguous, resolution.creates)
    assert outcomes.count(True) == (1 if name.split() else 0)
    assert len(resolution.candidates) != 1


@given(names=st.lists(st.text("abm", min_size=1, max_size=4), min_size=2, max_size=2, unique=True))
def test_a_longer_or_shorter_name_is_another_name(names: list[str]) -> None:
    said, (first, second) = names[0], names
    longer = (first + second, second + first, f"{first} {second}", f"{second} {first}")
    crowd = [known(f"p{index}", name, handle=name) for index, name in enumerate(longer)]
    own = [claimed(f"c{index}", name, related=name) for index, name in enumerate(longer)]
    stages = Stages(handles=crowd, own=PIA, claimed=own, participants=crowd, org=crowd)
    assert resolve(said, stages) == NEW
    assert resolve(f"@{said}", stages) == NEW
