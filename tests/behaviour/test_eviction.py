"""Eviction: old deleted trees go for good, whole, once, while everything else goes on."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.conftest import Serve
from tests.support.api import headers_of
from tests.support.world import User, World, at_once, new_id

pytestmark = pytest.mark.rest_only("administration has no methods")

YEAR = {"retentionPeriod": "P1Y", "resourceTypes": ["conversations"]}
PER_TREE = ("conversations", "entries", "conversation_memberships")
WAIT_SECONDS_MAX = 20


def a_deleted_tree(user: User, entries: int = 2) -> str:
    """The id of a deleted tree with a fork."""
    tree = new_id()
    for number in range(entries):
        last = user.says(tree, str(number))
    user.with_key("k1").notes(tree, "m")
    user.forks(tree, last)
    user.deletes(tree)
    return tree


def rows_left(world: World, tree: str) -> int:
    """How many rows any table still has of the tree."""
    counts = [
        world.database.rows(
            f"SELECT count(*) FROM {table} WHERE conversation_group_id = :tree", tree=tree
        )[0][0]
        for table in PER_TREE
    ]
    roots = world.database.rows(
        "SELECT count(*) FROM conversation_groups WHERE id = :tree", tree=tree
    )
    return int(sum(counts) + roots[0][0])


def tasks_for(world: World, tree: str) -> int:
    """How many vector deletions are queued for the tree."""
    tasks = world.database.rows(
        "SELECT task_body, task_name FROM tasks WHERE task_type = 'vector_store_delete'"
    )
    assert all(name for _, name in tasks), "a task without a name may be queued twice"
    parsed = [b if isinstance(b, dict) else json.loads(b) for b, _ in tasks]
    return sum(body == {"conversationGroupId": tree} for body in parsed)


def streamed(response: httpx2.Response) -> Iterator[dict[str, Any]]:
    """The data of a stream of events."""
    for line in response.iter_lines():
        if line.startswith("data:"):
            yield json.loads(line.removeprefix("data:"))
        else:
            assert line == "", f"unexpected line {line!r}"


def test_what_is_old_enough_goes_and_the_rest_stays(world: World) -> None:
    ann = world.user("ann")
    old = a_deleted_tree(ann)
    world.clock.advance(days=300)
    young, live = a_deleted_tree(ann), ann.starts()
    world.clock.advance(days=100)
    world.admin.call("evict", body=YEAR).expect(204)
    assert rows_left(world, old) == 0
    assert rows_left(world, young) > 0
    ann.gets(live)
    world.admin.call("admin_get_conversation", old).refused(404, "not_found")
    world.admin.call("admin_restore_conversation", young).expect(200)
    assert tasks_for(world, old) == 1
    assert tasks_for(world, young) == 0


def test_eviction_frees_the_id(world: World) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    tree = a_deleted_tree(ann)
    world.clock.advance(days=400)
    world.admin.call("evict", body=YEAR).expect(204)
    bob.says(tree, "mine now")
    assert bob.gets(tree)["ownerUserId"] == bob.name
    assert bob.texts(tree) == ["mine now"]


@pytest.mark.parametrize("period", ["P1Y", "P1M", "P2W", "P3D", "PT1H", "P1Y2M3DT4H5M6S"])
def test_every_iso_duration_is_taken(world: World, period: str) -> None:
    world.admin.call("evict", body=YEAR | {"retentionPeriod": period}).expect(204)


def test_calendar_months_are_counted_by_the_calendar(world: World) -> None:
    tree = a_deleted_tree(world.user("ann"))
    world.clock.advance(days=27)
    world.admin.call("evict", body=YEAR | {"retentionPeriod": "P1M"}).expect(204)
    assert rows_left(world, tree) > 0
    world.clock.advance(days=5)
    world.admin.call("evict", body=YEAR | {"retentionPeriod": "P1M"}).expect(204)
    assert rows_left(world, tree) == 0


@pytest.mark.scenario(39)
@pytest.mark.parametrize(
    "body",
    [
        YEAR | {"retentionPeriod": period}
        for period in ("90 days", "", "P", "PT", "P1DT", "P0D", "-P1D", "1Y", 90, None)
    ]
    + [YEAR | {"resourceTypes": types} for types in ([], ["memberships"], "conversations", [7])]
    + [{"resourceTypes": ["conversations"]}, {}],
)
def test_a_bad_request_evicts_nothing(world: World, body: dict[str, Any]) -> None:
    tree = a_deleted_tree(world.user("ann"), entries=1)
    world.clock.advance(days=400)
    world.admin.call("evict", body=body).expect(400)
    assert rows_left(world, tree) > 0


@pytest.mark.scenario(39)
def test_eviction_needs_an_admin(world: World) -> None:
    for user in (world.auditor, world.user("ann")):
        user.call("evict", body=YEAR).refused(403, "forbidden")


@pytest.mark.scenario(39)
@pytest.mark.parametrize("asked_by", ["accept", "async"])
def test_a_stream_tells_progress_from_0_to_100(serve: Serve, asked_by: str) -> None:
    world = serve(eviction__batch_size=1, eviction__batch_delay_ms=0)
    trees = [a_deleted_tree(world.user("ann"), entries=1) for _ in range(7)]
    world.clock.advance(days=400)
    headers = headers_of(world.admin.credentials)
    params = {"async": "true"} if asked_by == "async" else {}
    headers |= {"Accept": "text/event-stream"} if asked_by == "accept" else {}
    with world.api.http.stream(
        "POST", "/admin/evict", json=YEAR, headers=headers, params=params
    ) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        progress = [data["progress"] for data in streamed(response)]
    assert progress[0] == 0
    assert progress[-1] == 100
    assert progress == sorted(progress)
    assert max(progress[:-1]) <= 99
    assert [rows_left(world, tree) for tree in trees] == [0] * 7


def test_a_stream_refuses_like_any_other_call(world: World) -> None:
    headers = headers_of(world.admin.credentials) | {"Accept": "text/event-stream"}
    body = YEAR | {"retentionPeriod": "90 days"}
    reply = world.api.http.post("/admin/evict", json=body, headers=headers)
    assert reply.status_code == 400
    assert reply.json()["code"] in ("bad_request", "validation_error")


def test_a_disconnect_does_not_stop_it(serve: Serve) -> None:
    world = serve(eviction__batch_size=1, eviction__batch_delay_ms=20)
    trees = [a_deleted_tree(world.user("ann"), entries=1) for _ in range(10)]
    world.clock.advance(days=400)
    headers = headers_of(world.admin.credentials) | {"Accept": "text/event-stream"}
    with world.api.http.stream("POST", "/admin/evict", json=YEAR, headers=headers) as response:
        assert next(streamed(response)) == {"progress": 0}
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while any(rows_left(world, tree) for tree in trees):
        assert time.monotonic() < deadline, "the run stopped with its listener"
        world.user("ann").call("list_conversations").expect(200)


def test_a_failure_is_told_without_the_drivers_words(serve: Serve) -> None:
    world = serve(jobs__embedded_worker=False)
    tree = a_deleted_tree(world.user("ann"))
    world.clock.advance(days=400)
    world.database.rows("ALTER TABLE tasks RENAME TO tasks_elsewhere")
    world.admin.call("evict", body=YEAR).refused(500, "internal_error")
    headers = headers_of(world.admin.credentials) | {"Accept": "text/event-stream"}
    response = world.api.http.post("/admin/evict", json=YEAR, headers=headers)
    assert response.status_code == 200
    event, data = response.text.strip().split("\n\n")[-1].split("\n")
    assert event == "event: error"
    assert set(json.loads(data.removeprefix("data:"))) == {"error"}
    assert "tasks" not in response.text
    assert rows_left(world, tree) > 0
    world.database.rows("ALTER TABLE tasks_elsewhere RENAME TO tasks")
    world.admin.call("evict", body=YEAR).expect(204)
    assert rows_left(world, tree) == 0


@pytest.mark.scenario(38)
def test_readers_see_whole_pages_or_nothing_and_each_tree_goes_once(serve: Serve) -> None:
    world = serve(eviction__batch_size=2, eviction__batch_delay_ms=0)
    ann = world.user("ann")
    trees = [a_deleted_tree(ann, entries=20) for _ in range(12)]
    live = ann.starts()
    world.clock.advance(days=400)
    kept = trees.pop()
    world.admin.call("admin_restore_conversation", kept).expect(200)

    def read() -> list[int]:
        sizes: list[int] = []
        waiting = list(trees)
        while waiting:
            query: dict[str, Any] = {"limit": 7}
            for _ in range(3):
                reply = world.auditor.call("admin_list_entries", waiting[0], **query)
                if reply.status == 404:
                    waiting.pop(0)
                    break
                page = reply.expect(200)
                sizes.append(len(page["data"]))
                query["after"] = page["nextCursor"]
            ann.gets(live)
        return sizes

    def evict() -> list[int]:
        return [world.admin.call("evict", body=YEAR).status]

    first, second, *statuses = at_once([read, read, evict, evict, evict])
    assert set(first + second) <= {7}
    assert statuses == [[204]] * 3
    assert [tasks_for(world, tree) for tree in trees] == [1] * 11
    assert [rows_left(world, tree) for tree in trees] == [0] * 11
    assert ann.texts(kept) == [str(n) for n in range(20)]


@pytest.mark.scenario(38)
def test_of_restore_and_eviction_at_once_one_wins(serve: Serve) -> None:
    world = serve(eviction__batch_size=1, eviction__batch_delay_ms=0)
    ann = world.user("ann")
    trees = [a_deleted_tree(ann, entries=1) for _ in range(8)]
    world.clock.advance(days=400)

    def restore() -> list[int]:
        return [world.admin.call("admin_restore_conversation", t).status for t in trees[::-1]]

    def evict() -> list[int]:
        return [world.admin.call("evict", body=YEAR).status]

    restored, evicted = at_once([restore, evict])
    assert evicted == [204]
    for tree, status in zip(trees[::-1], restored, strict=True):
        assert status in (200, 404)
        if status == 200:
            assert ann.texts(tree) == ["0"]
        else:
            assert rows_left(world, tree) == 0
        assert tasks_for(world, tree) == (0 if status == 200 else 1)
