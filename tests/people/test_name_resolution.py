"""Whom a name means: the steps in their order, and what never finds anybody.

Pia speaks. Handles, names and relationships stand as the stages give them: in normal form.
"""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.ids import PersonId
from recollect.people.model import is_address, normal_form
from recollect.people.name_resolution import (
    ClaimedPerson,
    NameCandidate,
    NameResolution,
    ResolutionStages,
    ResolutionStep,
    choosable_people,
    resolve_name,
)

PIA = PersonId("pia")


def known(
    id_: str,
    *names: str,
    handle: str | None = None,
    linked: bool = False,
    confirmed: bool = False,
) -> NameCandidate:
    handles = frozenset() if handle is None else frozenset({handle})
    return NameCandidate(PersonId(id_), frozenset(names), handles, linked, confirmed)


def claimed(id_: str, *names: str, related: str | None = None) -> ClaimedPerson:
    relationships = frozenset() if related is None else frozenset({related})
    return ClaimedPerson(PersonId(id_), frozenset(names), relationships)


def found(id_: str, step: ResolutionStep) -> NameResolution:
    return NameResolution(PersonId(id_), stage=step)


def asked(step: ResolutionStep, *ids: str) -> NameResolution:
    return NameResolution(ambiguous=True, candidates=tuple(map(PersonId, ids)), stage=step)


NEW = NameResolution(creates=True)
WORLD = ResolutionStages(
    bearers=[set(), {PersonId("quin")}, {PersonId("q2"), PersonId("q3")}],
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
        known("came", "wim", linked=True, confirmed=True),
        known("invited", "xan", linked=True),
    ],
    org=[
        known("sam3", "sam"),
        known("olaf", "olaf berg", "olly"),
        known("h1", "hans"),
        known("h2", "hans"),
        known("hidden", handle="hh"),
        known("rex3", "rex"),
        known("uma", "uma", linked=True),
        known("pia", "pia lund", "pia l", linked=True),
        known("vic", "vic"),
        known("vic2", "vic", linked=True),
    ],
)


@pytest.mark.parametrize(
    ("name", "resolution"),
    [
        ("@Q", found("quin", ResolutionStep.HANDLE)),
        ("my @q", found("quin", ResolutionStep.HANDLE)),
        ("I", found("pia", ResolutionStep.SELF)),
        ("me", found("pia", ResolutionStep.SELF)),
        ("Sam", found("c1", ResolutionStep.CLAIM)),
        ("my coworker", found("c1", ResolutionStep.CLAIM)),
        ("my Co-Worker", found("c1", ResolutionStep.CLAIM)),
        ("Mom", found("c2", ResolutionStep.CLAIM)),
        ("my business partner", found("c5", ResolutionStep.CLAIM)),
        ("my friend", asked(ResolutionStep.CLAIM, "c3", "c4")),
        ("Alex", asked(ResolutionStep.CLAIM, "c3", "c4")),
        ("Tess", found("tess", ResolutionStep.CHAT)),
        ("tt", found("tess", ResolutionStep.CHAT)),
        ("Pia Lund", found("pia", ResolutionStep.CHAT)),
        ("pia1", found("pia", ResolutionStep.CHAT)),
        ("Rex", asked(ResolutionStep.CHAT, "r1", "r2")),
        ("Wim", found("came", ResolutionStep.CHAT)),
        ("Pia L", found("pia", ResolutionStep.ORG)),
        ("Vic", found("vic", ResolutionStep.ORG)),
        ("Uma", NEW),
        ("Xan", NEW),
        ("@nobody", found("quin", ResolutionStep.HANDLE)),
        ("Olaf  Berg", found("olaf", ResolutionStep.ORG)),
        ("olly", found("olaf", ResolutionStep.ORG)),
        ("hh", NEW),
        ("Nobody", NEW),
        ("   ", NameResolution()),
    ],
)
def test_the_first_step_with_a_hit_answers(name: str, resolution: NameResolution) -> None:
    assert resolve_name(name, WORLD) == resolution


def test_namesakes_in_the_org_make_a_new_person_and_are_told() -> None:
    namesakes = (PersonId("h1"), PersonId("h2"))
    assert resolve_name("Hans", WORLD) == NameResolution(
        candidates=namesakes, stage=ResolutionStep.ORG, creates=True
    )


@pytest.mark.parametrize(
    "name", ["Pia", "P", "Lund", "pia lu", "Pia Lundgren", "Pya Lund", "pia-lund"]
)
def test_a_part_of_a_name_or_a_name_like_it_means_somebody_else(name: str) -> None:
    assert resolve_name(name, WORLD) == NEW


@pytest.mark.parametrize("name", ["partner", "my coworker Ann", "my mother's friend", "his mother"])
def test_a_relationship_is_met_whole(name: str) -> None:
    assert resolve_name(name, WORLD) == NEW


def test_the_first_group_of_bearers_decides_and_several_in_it_are_a_question() -> None:
    two = [{PersonId("b"), PersonId("a")}, {PersonId("c")}]
    assert resolve_name("@dup", ResolutionStages(bearers=two)) == asked(
        ResolutionStep.HANDLE, "a", "b"
    )


def test_an_address_means_nobody_by_name_and_a_name_nobody_by_handle() -> None:
    named = [known("sam", "sam"), known("mail", "sam@example.com")]
    stages = ResolutionStages(
        own=PIA, claimed=[claimed("sam", "sam")], participants=named, org=named
    )
    assert resolve_name("@sam", stages) == resolve_name("sam@example.com", stages) == NEW
    stages = ResolutionStages(bearers=[{PersonId("eve")}], own=PIA, claimed=WORLD.claimed)
    assert resolve_name("@sam", stages).person_id == "eve"
    assert resolve_name("Sam", stages).person_id == "c1"
    assert resolve_name("me", stages).person_id == PIA
    assert resolve_name("my mother", stages).person_id == "c2"


def test_an_agents_me_is_nobody_and_nobody_new() -> None:
    assert resolve_name("me", ResolutionStages(participants=[known("x", "me")])) == NameResolution()


def test_each_speaker_gets_their_own_of_one_first_name() -> None:
    org = [known("coworker_of_p", "jo"), known("wife_of_q", "jo")]
    of_p = ResolutionStages(claimed=[claimed("coworker_of_p", "jo", related="coworker")], org=org)
    of_q = ResolutionStages(claimed=[claimed("wife_of_q", "jo", related="wife")], org=org)
    assert resolve_name("Jo", of_p).person_id == "coworker_of_p"
    assert resolve_name("Jo", of_q).person_id == "wife_of_q"
    assert resolve_name("my wife", of_p) == NEW


def test_one_person_met_twice_at_a_step_is_one_hit() -> None:
    twice = ResolutionStages(
        claimed=[claimed("a", "jo"), claimed("a", related="wife"), claimed("a", "jo")]
    )
    assert resolve_name("Jo", twice) == found("a", ResolutionStep.CLAIM)


def test_a_model_may_choose_unlinked_people_with_an_equal_name_word_only() -> None:
    people = [
        known("b", "anna berg"),
        known("a", "anna", "annie"),
        known("linked", "anna lund", linked=True),
        known("other", "annabel"),
        known("handle", handle="anna"),
    ]
    assert choosable_people("Anna Lund", people) == ("a", "b")
    assert choosable_people("Ann", people) == ()
    assert choosable_people(" ", people) == ()


words = st.text("abm@ ", min_size=1, max_size=4)
forms = st.frozensets(words.map(normal_form).filter(bool), max_size=3)
ids = st.sampled_from("pqrs").map(PersonId)
crowds = st.lists(
    st.builds(NameCandidate, ids, forms, forms, st.booleans(), st.booleans()), max_size=4
)
stages = st.builds(
    ResolutionStages,
    st.lists(st.frozensets(ids, max_size=2), max_size=3),
    st.none() | ids,
    st.lists(st.builds(ClaimedPerson, ids, forms, forms)),
    crowds,
    crowds,
)


@given(words, stages, st.randoms(use_true_random=False))
def test_the_order_of_people_means_nothing(
    name: str, some: ResolutionStages, random: Random
) -> None:
    mixed = ResolutionStages(
        some.bearers,
        some.own,
        random.sample(some.claimed, len(some.claimed)),
        random.sample(some.participants, len(some.participants)),
        random.sample(some.org, len(some.org)),
    )
    assert resolve_name(name, mixed) == resolve_name(name, some)


bare_words = words.filter(lambda word: not is_address(word))


@given(bare_words, stages)
def test_a_bare_name_means_a_user_only_by_their_doing_or_the_speakers(
    name: str, some: ResolutionStages
) -> None:
    resolution = resolve_name(name, some)
    crowd = (*some.participants, *some.org)
    open_ = {one.person_id for one in crowd if not one.linked_to_user}
    open_ |= {one.person_id for one in some.participants if one.confirmed}
    open_ |= {one.person_id for one in some.claimed}
    assert {resolution.person_id, *resolution.candidates} <= open_ | {some.own, None}


@given(bare_words, stages)
def test_nobody_is_found_whose_names_are_all_different(name: str, some: ResolutionStages) -> None:
    form = normal_form(name)
    resolution = resolve_name(name, some)
    called = {
        one.person_id
        for one in (*some.participants, *some.org)
        if form in one.full_names | one.handles
    } | {one.person_id for one in some.claimed if form in one.names | one.relationships}
    assert {resolution.person_id, *resolution.candidates} <= called | {None}


@given(words, stages)
def test_an_answer_is_a_person_a_question_or_somebody_new(
    name: str, some: ResolutionStages
) -> None:
    resolution = resolve_name(name, some)
    outcomes = (resolution.person_id is not None, resolution.ambiguous, resolution.creates)
    assert outcomes.count(True) == (1 if name.split() else 0)
    assert len(resolution.candidates) != 1


@given(names=st.lists(st.text("abm", min_size=1, max_size=4), min_size=2, max_size=2, unique=True))
def test_a_longer_or_shorter_name_is_another_name(names: list[str]) -> None:
    said, (first, second) = names[0], names
    longer = (first + second, second + first, f"{first} {second}", f"{second} {first}")
    crowd = [known(f"p{index}", name, handle=name) for index, name in enumerate(longer)]
    own = [claimed(f"c{index}", name, related=name) for index, name in enumerate(longer)]
    stages = ResolutionStages(own=PIA, claimed=own, participants=crowd, org=crowd)
    assert resolve_name(said, stages) == NEW
    assert resolve_name(f"@{said}", stages) == NEW
