"""Ids: version and variant, order within a process, and what counts as canonical text."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.ids import Uuid7Ids, derive_id, parse_uuid

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


class ScriptedClock:
    """Gives the instants of a list in turn, then the last one for ever."""

    def __init__(self, *instants: datetime) -> None:
        self._instants = list(instants)

    def now(self) -> datetime:
        """The next instant of the list."""
        return self._instants.pop(0) if len(self._instants) > 1 else self._instants[0]


def test_new_ids_have_the_version_and_variant_of_uuid7() -> None:
    made = UUID(Uuid7Ids(ScriptedClock(NOON)).new())
    assert made.version == 7
    assert made.variant == "specified in RFC 4122"


def test_new_ids_start_with_the_milliseconds_of_the_clock() -> None:
    made = UUID(Uuid7Ids(ScriptedClock(NOON)).new())
    assert made.int >> 80 == NOON.timestamp() * 1000


def test_ids_of_one_instant_grow_past_the_counter_of_one_millisecond() -> None:
    maker = Uuid7Ids(ScriptedClock(NOON))
    made = [maker.new() for _ in range(10_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert {UUID(id_).version for id_ in made} == {7}


@given(st.lists(st.timedeltas(timedelta(days=-999), timedelta(days=999)), min_size=1))
def test_ids_grow_even_when_the_clock_goes_back(steps: list[timedelta]) -> None:
    maker = Uuid7Ids(ScriptedClock(*(NOON + step for step in steps)))
    made = [maker.new() for _ in range(len(steps) + 1)]
    assert all(a < b for a, b in pairwise(made))


def test_ids_are_unique_across_threads_and_grow_in_each() -> None:
    maker = Uuid7Ids(ScriptedClock(NOON))
    with ThreadPoolExecutor(8) as pool:
        batches = list(pool.map(lambda _: [maker.new() for _ in range(500)], range(8)))
    assert all(batch == sorted(batch) for batch in batches)
    assert len({id_ for batch in batches for id_ in batch}) == 8 * 500


@given(st.uuids(), st.booleans())
def test_canonical_text_of_any_uuid_parses_in_any_letter_case(id_: UUID, upper: bool) -> None:
    text = str(id_)
    assert parse_uuid(text.upper() if upper else text) == text


@given(st.text(max_size=60))
def test_what_parses_is_the_canonical_text_of_a_uuid(text: str) -> None:
    parsed = parse_uuid(text)
    assert parsed is None or parsed == str(UUID(parsed)) == text.lower()


CANONICAL = "0a6a36c3-d780-4480-8ff6-ee61b5aec1a0"


@pytest.mark.parametrize(
    "text",
    [
        "",
        CANONICAL.replace("-", ""),
        "{" + CANONICAL[:-2] + "}",
        "urn:uuid:" + CANONICAL,
        CANONICAL + "\n",
        " " + CANONICAL[1:],
        CANONICAL[:-1] + "g",
        CANONICAL[:-1] + "_",
        CANONICAL[:-1] + "１",
        CANONICAL[:-1] + "ſ",
        CANONICAL[:9] + "-" + CANONICAL[10:],
    ],
)
def test_other_spellings_of_a_uuid_are_refused(text: str) -> None:
    assert parse_uuid(text) is None


@given(st.uuids(version=4), st.integers(0, 998))
def test_ids_that_count_on_from_a_reserved_one_are_ids_of_the_same_instant(
    random: UUID, number: int
) -> None:
    reserved = f"01a1e4a8-e6b8-7000-{str(random)[19:]}"
    one, next_one = derive_id(reserved, number), derive_id(reserved, number + 1)
    assert len({reserved, one, next_one}) == 3
    assert parse_uuid(one) == one == derive_id(reserved, number)
    assert (UUID(one).version, UUID(one).variant) == (7, UUID(reserved).variant)
    assert one[:19] == reserved[:19]
