"""What of a memory becomes an edge, and between whom."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.graph.fact_patterns import (
    AttributeFact,
    EntityKind,
    ExtractedFact,
    RelationshipFact,
    extract_fact,
)
from recollect.graph.model import (
    EdgeDraft,
    EntityRef,
    NamedCandidate,
    build_edges,
    candidate_people,
    extract_memory_fact,
)
from recollect.kernel.ids import MemoryId, PersonId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import (
    Memory,
    MemoryKind,
    MemoryMessage,
    MessageRole,
)
from recollect.people.model import normal_form

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
PAT, ANN, BOB = PersonId("pat"), PersonId("ann"), PersonId("bob")
NAMES = {PAT: ("Pat Doe",), ANN: ("Ann Smith", "@annie"), BOB: ("Bob Jones",)}

Says = tuple[str, str, str, str]


def bond(text: str) -> Says | None:
    found = extract_fact(text)
    assert not isinstance(found, RelationshipFact), found
    return None if found is None else (found.who, found.relation, found.kind, found.name)


def tie(text: str) -> tuple[str, str, str] | None:
    found = extract_fact(text)
    assert not isinstance(found, AttributeFact), found
    return None if found is None else (found.who, found.relation, found.whom)


def memory(content: str, *subjects: PersonId, **members: Any) -> Memory:
    """A statement that Pat made."""
    return Memory(
        id=MemoryId("m"),
        kind=MemoryKind.STATEMENT,
        content=content,
        space=Space(SpaceKind.USER, "pat"),
        created_at=NOON,
        updated_at=NOON,
        observed_at=NOON,
        subjects=subjects,
        **{"stated_by": PAT, **members},
    )


def edges(stated_in: Memory, *, doubt: bool = False) -> list[tuple[str, str, str]]:
    named_by_header = extract_memory_fact(stated_in)
    people = [
        NamedCandidate(one, frozenset(map(normal_form, NAMES[one])))
        for one in candidate_people(stated_in)
    ]
    drawn = build_edges(
        stated_in, [named_by_header] if named_by_header else [], people, doubt=doubt
    )
    return [(edge.from_id, edge.relation, _end(edge)) for edge in drawn]


def _end(edge: EdgeDraft) -> str:
    return edge.to.name if isinstance(edge.to, EntityRef) else edge.to


@pytest.mark.parametrize(
    ("text", "who", "relation", "kind", "name"),
    [
        ("I live in Porto", "i", "lives_in", "place", "Porto"),
        ("Actually, I now live in Porto.", "i", "lives_in", "place", "Porto"),
        ("We moved to São Paulo", "we", "lives_in", "place", "São Paulo"),
        ("Ann lives in The Hague", "ann", "lives_in", "place", "The Hague"),
        ("Lives in the Netherlands", "", "lives_in", "place", "Netherlands"),
        ("I moved to Porto, Portugal", "i", "lives_in", "place", "Porto, Portugal"),
        ("My hometown is Braga", "i", "comes_from", "place", "Braga"),
        ("Ann works at Initech", "ann", "works_at", "organisation", "Initech"),
        ("My employer is 3M", "i", "works_at", "organisation", "3M"),
        ("I love pizza", "i", "likes", "thing", "pizza"),
        ("She hates long meetings", "", "dislikes", "thing", "long meetings"),
        ("I'm working on project Apollo", "i", "works_on", "project", "Apollo"),
        ("Ann leads the Atlas project", "ann", "leads", "project", "Atlas"),
    ],
)
def test_a_sentence_ties_somebody_to_something(
    text: str, who: str, relation: str, kind: str, name: str
) -> None:
    assert bond(text) == (who, relation, kind, name)


@pytest.mark.parametrize(
    ("text", "who", "relation", "whom"),
    [
        ("Ann is my business partner", "ann", "business partner", "i"),
        ("My mom is Ann", "ann", "mother", "i"),
        ("My sister's name is Ann Smith", "ann smith", "sister", "i"),
        ("I'm Bob's older brother", "i", "brother", "bob"),
        ("Ann is the boss of Bob", "ann", "boss", "bob"),
        ("Bob is a friend of mine", "bob", "friend", "i"),
        ("Ann and Bob are siblings", "ann", "sibling", "bob"),
        ("Ann and Bob are married", "ann", "spouse", "bob"),
        ("I am engaged to Ann", "i", "fiancé", "ann"),
        ("@annie is my coworker", "annie", "coworker", "i"),
    ],
)
def test_a_sentence_ties_two_people(text: str, who: str, relation: str, whom: str) -> None:
    assert tie(text) == (who, relation, whom)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I used to live in Porto",
        "I no longer live in Porto",
        "Do I live in Porto?",
        "I live in a small house",
        "I live at 5 Main Street, Porto",
        "I moved to Porto last week",
        "I live in Porto and work at Initech",
        "My sister lives in Porto",
        "P said Q lives in Porto",
        "I don't hate pizza",
        "I like walking in the hills",
        "Ann is not my sister",
        "Ann is my former business partner",
        "Is Ann my sister?",
        "Ann will be my boss",
        "She is my boss",
        "His sister is Ann",
        "Ann is my hero",
        "Ann is the CEO of Initech",
        "I work on a project",
        "I like \x01rc1:x",
        "I live in Porto " * 100,
    ],
)
def test_in_doubt_nothing_is_said(text: str) -> None:
    assert extract_fact(text) is None


def test_who_says_i_is_the_stater() -> None:
    assert edges(memory("I live in Porto", PAT)) == [(PAT, "lives_in", "Porto")]
    assert edges(memory("I live in Porto", PAT, ANN)) == [(PAT, "lives_in", "Porto")]
    assert edges(memory("I live in Porto")) == [(PAT, "lives_in", "Porto")]
    assert edges(memory("I live in Porto", ANN)) == []


def test_what_an_agent_writes_in_the_first_person_is_said_of_the_lone_subject() -> None:
    assert edges(memory("I live in Porto", ANN, stated_by=None)) == [(ANN, "lives_in", "Porto")]
    assert edges(memory("I live in Porto", ANN, BOB, stated_by=None)) == []
    assert edges(memory("I live in Porto", stated_by=None)) == []


def test_we_are_all_subjects() -> None:
    both = edges(memory("We live in Porto", PAT, ANN))
    assert both == [(PAT, "lives_in", "Porto"), (ANN, "lives_in", "Porto")]
    assert edges(memory("We live in Porto", PAT, ANN), doubt=True) == []


def test_nobody_named_means_the_lone_subject() -> None:
    assert edges(memory("Lives in Porto", ANN)) == [(ANN, "lives_in", "Porto")]
    assert edges(memory("She lives in Porto", ANN, BOB)) == []
    assert edges(memory("She lives in Porto", ANN), doubt=True) == []


def test_a_name_means_the_one_person_who_has_it() -> None:
    assert edges(memory("Ann lives in Porto", BOB, ANN)) == [(ANN, "lives_in", "Porto")]
    assert edges(memory("@annie lives in Porto", ANN)) == [(ANN, "lives_in", "Porto")]
    assert edges(memory("Eve lives in Porto", ANN)) == []


def test_a_part_of_two_names_means_nobody() -> None:
    here = memory("Smith lives in Porto", ANN, BOB)
    people = [
        NamedCandidate(ANN, frozenset({"ann smith"})),
        NamedCandidate(BOB, frozenset({"bob smith"})),
    ]
    named_by_header = extract_memory_fact(here)
    assert named_by_header is not None
    assert build_edges(here, [named_by_header], people) == ()


def test_a_relationship_leads_from_who_it_is_to_whose_it_is() -> None:
    assert edges(memory("Ann is my business partner", ANN)) == [(ANN, "business partner", PAT)]
    assert edges(memory("Ann is Bob's sister", ANN, BOB)) == [(ANN, "sister", BOB)]
    assert edges(memory("Ann is Bob's sister", ANN)) == []
    assert edges(memory("Pat is my sister", PAT)) == []


def test_who_is_liked_must_be_known() -> None:
    assert edges(memory("I like Ann", PAT, ANN)) == [(PAT, "likes", ANN)]
    assert edges(memory("I like Eve", PAT)) == []


def test_records_and_raw_messages_state_nothing() -> None:
    said = memory("I live in Porto")
    assert extract_memory_fact(replace(said, kind=MemoryKind.RECORD, key="home", value={})) is None
    assert (
        extract_memory_fact(
            replace(said, messages=(MemoryMessage(MessageRole.USER, "I live in Porto"),))
        )
        is None
    )


def test_what_is_told_beside_the_text_is_drawn_too() -> None:
    told: list[ExtractedFact] = [
        AttributeFact("ann", "works_at", EntityKind.ORGANISATION, "Initech")
    ] * 2
    people = [NamedCandidate(ANN, frozenset({"ann"}))]
    initech = EntityRef(EntityKind.ORGANISATION, "Initech")
    assert build_edges(memory("Ann…", ANN), told, people) == (EdgeDraft(ANN, "works_at", initech),)


_WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        "I my Ann Bob Bob's Porto is are and of not the to in at lives works like married "
        "sister friends project ,",
    )
)


@given(st.lists(_WORDS, max_size=12).map(" ".join))
def test_an_edge_begins_and_ends_at_people_who_could_be_meant(text: str) -> None:
    here = memory(text, ANN, BOB)
    for from_id, _, end in edges(here):
        assert from_id in (PAT, ANN, BOB)
        assert end != from_id
        assert end in (PAT, ANN, BOB) or end in text


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    found = extract_fact(text)
    if isinstance(found, AttributeFact):
        assert found.name[0].isalnum()
