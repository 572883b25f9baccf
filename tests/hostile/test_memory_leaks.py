"""What a stranger may learn by walking page by page, by naming what others have, by listening."""

from typing import Any

import pytest

from recollect.api.registry import MEMORY_OPERATIONS
from recollect.http.operation import Operation
from tests.hostile.comparison import rows_with, secrets_from, told_in_both
from tests.hostile.import_probes import IMPORTING
from tests.hostile.memory_probes import MINE, SAID, SHARED
from tests.hostile.secret_world import ACME, OLGA, Scene, a_colleague
from tests.support.memory.callers import Caller
from tests.support.streams import following

LISTS = [
    row
    for row in MEMORY_OPERATIONS
    if (row.paging or row.name == "searchMemories") and "{" not in row.path
]

who_asks = pytest.mark.parametrize("who", ["colleague", "outsider"])


@who_asks
def test_a_walk_by_pages_of_one_is_as_long_as_in_a_world_without_secrets(
    scenes: tuple[Scene, Scene], who: str
) -> None:
    walks = []
    for scene in scenes:
        caller = scene.strangers[who].caller
        walks.append({row.name: _walked(caller, row) for row in LISTS})
    assert walks[0] == walks[1]
    assert walks[0]["listMemories"] > 1
    assert walks[0]["searchMemories"] > 1


@who_asks
def test_an_import_that_names_what_others_have_tells_no_more_than_one_that_names_nothing(
    scenes: tuple[Scene, Scene], who: str
) -> None:
    full, _ = scenes
    secrets = secrets_from(full, who)
    before = rows_with(full, secrets)
    told_apart = [one for one in told_in_both(scenes, who, IMPORTING) if one[1] != one[2]]
    assert not told_apart
    assert before <= rows_with(full, secrets)


@who_asks
def test_a_stream_of_events_tells_a_stranger_of_their_own_alone(
    scenes: tuple[Scene, Scene], who: str
) -> None:
    full, _ = scenes
    stranger, olga = full.strangers[who].caller, a_colleague(full.callers.world, OLGA, ACME)
    since: dict[str, Any] = {"from": "2000-01-01T00:00:00Z"}
    with following(stranger, **since) as stream:
        olga.adds(f"{SAID} while somebody listens", **MINE)
        last = stranger.registers()["id"]
        told: list[dict[str, Any]] = []
        while not told or told[-1]["agent_slug"] != last:
            told += [block.event for block in stream.events(1)]
    listed = stranger.lists("/events", limit=1000)
    assert {event["id"] for event in told} == {event["id"] for event in listed}
    assert {event["requester_id"] for event in told} == {stranger.name}
    assert SAID not in str(told)


def _walked(caller: Caller, row: Operation) -> int:
    """How many pages of one item there are."""
    place: dict[str, Any] = {"spaces": "all"} if row.name.endswith("Memories") else {}
    asked: dict[str, Any] = place | {"limit": 1}
    path, pages = row.path.removeprefix("/v1"), 0
    while True:
        if row.method == "GET":
            page = caller.get(path, **asked).expect(200)
        else:
            page = caller.post(path, body={"query": SHARED} | asked).expect(200)
        assert len(page["data"]) <= 1
        pages += len(page["data"])
        if page["next_cursor"] is None:
            return pages
        asked["after"] = page["next_cursor"]
