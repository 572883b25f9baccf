"""Near copies: what the doctor takes for one statement said twice, by vectors and by details."""

from collections.abc import Iterator
from typing import Any

import pytest

from recollect.doctor.model import DoctorCheck
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryStatus
from tests.doctor.doctor_server import DAY, DoctorServer, a_doctor_server
from tests.support.memory.people import person_of
from tests.support.searching import settle_memories
from tests.support.world import World, new_id

# Vectors of the tests' model are made of the words of a text; so many of them are the same here
# that one word more or less leaves two texts as near as copies are.
LONGER = (
    "the old wooden rowing boat lies upside down behind the boathouse near the northern pier under"
    " a green tarpaulin that the harbour master lent us before the autumn storms came "
)


@pytest.fixture
def server(vector_world: World) -> Iterator[DoctorServer]:
    with a_doctor_server(vector_world) as opened:
        opened.sql("DELETE FROM memories")
        opened.asks(repair=True)
        yield opened


def puts(server: DoctorServer, *texts: str, **fields: Any) -> list[str]:
    """Statements of one space, the oldest first, that were imported: those are never compared
    with each other when they get their vectors."""
    place = Space(SpaceKind.USER, f"ann-{new_id()}")
    days = range(len(texts), 0, -1)
    ids = [
        server.stored_memories.puts(
            place, at=server.stored_memories.now - day * DAY, content=text, **fields
        )
        for day, text in zip(days, texts, strict=True)
    ]
    _settle(server)
    return ids


def _settle(server: DoctorServer) -> None:
    server.sql("UPDATE memories SET import_id = 'box'")
    server.asks(DoctorCheck.INDEX_ROWS, repair=True)
    settle_memories(server.world)


def test_a_near_copy_is_found_and_folded_into_the_older_one_once(server: DoctorServer) -> None:
    older, newer = puts(server, f"{LONGER}anyway", f"{LONGER}though")
    found = server.result(DoctorCheck.NEAR_DUPLICATES)
    assert (found["count"], found["sample_ids"], found["repaired"]) == (1, [newer], 0)
    mended = server.result(DoctorCheck.NEAR_DUPLICATES, repair=True)
    assert (mended["count"], mended["repaired"]) == (1, 1)
    kept, repeat = (
        server.stored_memories.stored(older).memory,
        server.stored_memories.stored(newer).memory,
    )
    assert (kept.status, kept.repeats) == (MemoryStatus.ACTIVE, 1)
    assert (repeat.status, repeat.superseded_by) == (MemoryStatus.SUPERSEDED, older)
    again = server.result(DoctorCheck.NEAR_DUPLICATES, repair=True)
    assert (again["count"], again["repaired"]) == (0, 0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("for 3 weeks", "for 4 weeks"),
        ("since May 3", "since May 4"),
        ("says Bob", "says Rob"),
        ("", "not"),
    ],
)
def test_texts_that_differ_in_a_number_a_date_a_name_or_a_no_both_stay(
    server: DoctorServer, one: str, other: str
) -> None:
    puts(server, f"{LONGER}{one}", f"{LONGER}{other}")
    assert server.result(DoctorCheck.NEAR_DUPLICATES)["count"] == 0


def test_near_copies_in_two_spaces_both_stay(server: DoctorServer) -> None:
    puts(server, f"{LONGER}anyway")
    puts(server, f"{LONGER}though")
    assert server.result(DoctorCheck.NEAR_DUPLICATES)["count"] == 0


def test_equal_texts_are_counted_once_though_their_vectors_are_near_too(
    server: DoctorServer,
) -> None:
    _, newer = puts(server, f"{LONGER}anyway", f"{LONGER}anyway!")
    found = server.result(DoctorCheck.NEAR_DUPLICATES, repair=True)
    assert (found["count"], found["repaired"], found["sample_ids"]) == (1, 1, [newer])


def test_what_a_subject_said_takes_in_nobody_elses_copy(server: DoctorServer) -> None:
    me, him = (person_of(server.callers.person(name)) for name in ("ann", "bob"))
    place, now = Space(SpaceKind.USER, f"ann-{new_id()}"), server.stored_memories.now
    for text, stater, at in (("anyway", me, now - DAY), ("though", him, now)):
        fields = {"content": f"{LONGER}{text}", "subjects": (me,), "stated_by": stater}
        server.stored_memories.puts(place, at=at, **fields)
    _settle(server)
    assert server.result(DoctorCheck.NEAR_DUPLICATES)["count"] == 0


def test_a_copy_is_found_behind_many_other_statements_of_its_space(server: DoctorServer) -> None:
    others = [f"{new_id()} {new_id()}" for _ in range(510)]
    *_, newer = puts(server, f"{LONGER}anyway", *others, f"{LONGER}though")
    found = server.result(DoctorCheck.NEAR_DUPLICATES)
    assert (found["count"], found["sample_ids"]) == (1, [newer])
