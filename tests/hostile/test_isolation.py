"""What others may learn of a tree: that it exists, by the 403, and nothing else.

Twins are compared: a question whose true answer is interesting, and the same question about
something that does not exist. Both get the same refusal, byte for byte.
"""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from recollect.api.registry import CONVERSATION_OPERATIONS
from recollect.http.operation import Operation, OperationFamily
from tests.hostile.field_values import content_for
from tests.hostile.refusals import refused
from tests.hostile.sample_tree import MARKER, SampleTree, a_sample_tree, operation
from tests.support.searching import TYPES
from tests.support.world import User, World, history, memory, new_id

IN_A_TREE = [
    row
    for row in CONVERSATION_OPERATIONS
    if row.family is OperationFamily.CONVERSATIONS and "{id}" in row.path
]
every_operation = pytest.mark.parametrize("row", IN_A_TREE, ids=[row.name for row in IN_A_TREE])
VIEWS = [
    f"channel={channel}&epoch={epoch}&forks={forks}"
    for channel in ("history", "memory")
    for epoch in ("latest", "all", "1")
    for forks in ("none", "all")
] + ["epoch=all", "forks=all", ""]


@pytest.fixture(scope="module")
def strangers(world: World) -> list[User]:
    """Nobody of the tree: a user, a user with the owner's client, and an admin."""
    sam = world.user("sam")
    return [sam, sam.with_key("k1"), sam.with_key("k2"), world.admin.with_key("k1")]


@pytest.fixture(scope="module")
def others(sample_tree: SampleTree) -> list[User]:
    """Members who don't call through k1: the owner, keyless and through k2, and a writer."""
    ann = sample_tree.world.named(sample_tree.owner.name)
    return [ann, ann.with_key("k2"), sample_tree.writer, sample_tree.writer.with_key("k2")]


@pytest.mark.usefixtures("untouched")
@every_operation
def test_a_stranger_learns_nothing_beyond_the_403(
    sample_tree: SampleTree, strangers: list[User], row: Operation
) -> None:
    for sam in strangers:
        if row.action is not None and sam.credentials.api_key is None:
            continue
        asked = [
            sample_tree.send(row, content, query=query, by=sam, ids=ids)
            for ids, query, content in questions(sample_tree, row, sam)
        ]
        for response in asked:
            refused(response, "forbidden")
        assert len({shown(response) for response in asked}) == 1


@pytest.mark.usefixtures("untouched")
def test_a_stranger_who_forks_by_writing_learns_no_more(
    sample_tree: SampleTree, strangers: list[User]
) -> None:
    points = (None, sample_tree.ids["entryId"], sample_tree.memory_id, new_id())
    for sam in strangers:
        for row, body in (
            (operation("appendEntry"), history(MARKER)),
            (operation("syncEntries"), memory([MARKER])),
        ):
            if row.action is not None and sam.credentials.api_key is None:
                continue
            asked = [
                sample_tree.send(row, json.dumps(body | fork_point), by=sam, ids={"id": new_id()})
                for parent in (sample_tree.ids["id"], sample_tree.fork_id)
                for point in points
                for fork_point in [{"forkedAtConversationId": parent, "forkedAtEntryId": point}]
            ]
            for response in asked:
                refused(response, "forbidden")
            assert len({shown(response) for response in asked}) == 1


@pytest.mark.usefixtures("untouched")
def test_a_stranger_learns_nothing_of_a_transfer(
    sample_tree: SampleTree, strangers: list[User]
) -> None:
    create = operation("createOwnershipTransfer")
    for sam in strangers:
        get = [
            sample_tree.send(operation("getOwnershipTransfer"), by=sam, ids={"transferId": id_})
            for id_ in (sample_tree.ids["transferId"], new_id())
        ]
        assert len({shown(response) for response in get}) == 1
        refused(get[0], "not_found")
        for name in ("acceptOwnershipTransfer", "deleteOwnershipTransfer"):
            refused(sample_tree.send(operation(name), by=sam), "forbidden")
        offers = [
            sample_tree.send(
                create, json.dumps({"conversationId": id_, "newOwnerUserId": to}), by=sam
            )
            for id_ in (sample_tree.ids["id"], sample_tree.fork_id)
            for to in (sample_tree.writer.name, sample_tree.owner.name, sam.name, "nobody")
        ]
        for response in offers:
            refused(response, "forbidden")
        assert len({shown(response) for response in offers}) == 1
        listed = sample_tree.send(operation("listOwnershipTransfers"), by=sam)
        assert listed.json() == {"data": []}


def test_a_stranger_finds_nothing_in_lists(sample_tree: SampleTree, strangers: list[User]) -> None:
    row = operation("listConversations")
    for sam in strangers:
        for mode in ("all", "roots", "latest-fork"):
            listed = sample_tree.send(row, query=f"mode={mode}&query={MARKER}", by=sam)
            assert listed.json() == {"data": [], "nextCursor": None}
        cursors = [
            sample_tree.send(row, query=f"after={id_}", by=sam)
            for id_ in (
                sample_tree.ids["id"],
                sample_tree.fork_id,
                sample_tree.ids["entryId"],
                new_id(),
            )
        ]
        for response in cursors:
            refused(response, "bad_request")
        assert len({shown(response) for response in cursors}) == 1


def test_a_stranger_finds_nothing_by_search(sample_tree: SampleTree, strangers: list[User]) -> None:
    row = operation("searchConversations")
    for sam in strangers:
        for kind in TYPES:
            for query in (MARKER, "A", "title", sample_tree.owner.name, sample_tree.ids["id"]):
                body = json.dumps({"query": query, "searchType": kind})
                found = sample_tree.send(row, body, by=sam)
                assert found.json() == {"data": [], "nextCursor": None}


def test_a_cursor_of_somebody_elses_list_shows_nothing_of_it(world: World) -> None:
    ann, bob, sam = (world.user(name) for name in ("ann", "bob", "sam"))
    for _ in range(3):
        tree = ann.starts(MARKER)
        ann.shares(tree, bob, "reader")
        ann.offers(tree, bob)
    own = sam.starts()
    cursor = ann.call("list_transfers", limit=1).expect(200)["nextCursor"]
    assert sam.call("list_transfers", after=cursor).expect(200) == {"data": []}
    cursor = ann.call("list_memberships", tree, limit=1).expect(200)["nextCursor"]
    listed = sam.call("list_memberships", own, after=cursor).expect(200)["data"]
    assert {m["userId"] for m in listed} <= {sam.name}
    entry = ann.says(tree, "x")
    sam.call("list_entries", own, after=entry["id"]).refused(400, "bad_request")
    sam.call("list_forks", own, after=tree["id"]).refused(400, "bad_request")


def test_a_deleted_tree_looks_like_none(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    sample_tree = a_sample_tree(world)
    sample_tree.owner.deletes(sample_tree.ids["id"])
    for row in IN_A_TREE:
        if row.name in CREATE_OR_SHOW:
            continue
        for by in (sample_tree.owner, ann, world.admin.with_key("k1")):
            asked = [
                sample_tree.send(row, content_for(row), by=by, ids={"id": id_})
                for id_ in (sample_tree.ids["id"], sample_tree.fork_id, new_id())
            ]
            for response in asked:
                assert refused(response, "not_found")["resource"] == "conversation"
            assert len({shown(response) for response in asked}) == 1, row.name


@pytest.mark.parametrize("view", VIEWS)
def test_another_clients_memory_is_in_no_listing(
    sample_tree: SampleTree, others: list[User], view: str
) -> None:
    query = dict(pair.split("=") for pair in view.split("&") if pair)
    for user in others:
        for branch in (sample_tree.ids["id"], sample_tree.fork_id):
            listed = user.walks("list_entries", branch, limit=1, **query)
            assert sample_tree.memory_id not in json.dumps(listed)
            assert f"memory {MARKER}" not in json.dumps(listed)
            whole = user.call("list_entries", branch, **query).expect(200)
            assert [e["id"] for e in whole["data"]] == [e["id"] for e in listed]


@pytest.mark.usefixtures("untouched")
def test_another_clients_memory_is_no_fork_point_and_no_cursor(
    sample_tree: SampleTree, others: list[User]
) -> None:
    fork, append = operation("forkConversation"), operation("appendEntry")
    for user in others:
        twins = (sample_tree.memory_id, new_id())
        forks = [sample_tree.send(fork, by=user, ids={"entryId": id_}) for id_ in twins]
        assert refused(forks[0], "not_found") == {"resource": "entry", "id": sample_tree.memory_id}
        point: dict[str, Any] = {"forkedAtConversationId": sample_tree.ids["id"]}
        body = history("x")
        appends = [
            sample_tree.send(
                append,
                json.dumps(body | point | {"forkedAtEntryId": i}),
                by=user,
                ids={"id": new_id()},
            )
            for i in twins
        ]
        refused(appends[0], "not_found")
        cursors = [
            sample_tree.send(operation("listEntries"), query=f"after={i}&{view}", by=user)
            for i in twins
            for view in VIEWS
        ]
        refused(cursors[0], "bad_request")
        for asked in (forks, appends, cursors):
            assert len({shown(response) for response in asked}) == 1


def test_another_clients_memory_moves_nothing_that_others_see(sample_tree: SampleTree) -> None:
    ann = sample_tree.world.named(sample_tree.owner.name)
    k2 = ann.with_key("k2")
    root = sample_tree.ids["id"]

    def seen() -> list[Any]:
        names = ("get_conversation", "list_entries", "list_forks", "list_memberships")
        return [user.call(name, root).body for user in (ann, k2) for name in names] + [
            user.call("list_conversations", mode=mode).body
            for user in (ann, k2)
            for mode in ("all", "roots", "latest-fork")
        ]

    before = seen()
    for items in ([1], [1, 2], [3], []):
        sample_tree.owner.syncs(root, items)
    sample_tree.owner.notes(root, f"memory {MARKER}")
    assert seen() == before
    first = k2.syncs(root, [f"memory {MARKER}"])
    assert (first["epoch"], first["noOp"], first["epochIncremented"]) == (1, False, False)


CREATE_OR_SHOW = {"appendEntry", "syncEntries", "listEntries"}


def questions(
    sample_tree: SampleTree, row: Operation, caller: User
) -> Iterator[tuple[dict[str, str], str, bytes | None]]:
    """Ids, query and body of calls that differ in what they would find."""
    content = content_for(row)
    yield {}, "", content
    yield {"id": sample_tree.fork_id}, "", content
    if "{entryId}" in row.path:
        yield from (({"entryId": id_}, "", content) for id_ in (sample_tree.memory_id, new_id()))
    if "{userId}" in row.path:
        names = (sample_tree.owner.name, "nobody", caller.name)
        yield from (({"userId": quote(name)}, "", content) for name in names)
    if row.paging is not None:
        cursors = (
            sample_tree.ids["id"],
            sample_tree.ids["entryId"],
            sample_tree.memory_id,
            new_id(),
            "x",
        )
        yield from (({}, f"after={cursor}", content) for cursor in cursors)
    if row.name == "syncEntries":
        yield {}, "", json.dumps(memory([f"memory {MARKER}"])).encode()
    if row.name == "shareConversation":
        for name in (sample_tree.writer.name, sample_tree.owner.name, caller.name):
            yield {}, "", json.dumps({"userId": name, "accessLevel": "reader"}).encode()


def shown(response: httpx2.Response) -> tuple[int, str, tuple[str, ...]]:
    """What a caller can compare: status, body and headers, without the ids of the question."""
    body = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "(id)", response.text)
    headers = {k: v for k, v in response.headers.items() if k not in ("x-request-id", "date")}
    return response.status_code, body, tuple(f"{k}: {v}" for k, v in sorted(headers.items()))
