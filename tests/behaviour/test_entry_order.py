"""Lists of entries from the end: newest first, and the last so many."""

from typing import Any

import pytest

from tests.support.world import User, World, new_id

pytestmark = pytest.mark.amendment(12)


@pytest.fixture
def tree(world: World) -> tuple[User, str, str]:
    """The root shows A B C and the fork A B X Y Z, each with memory of k1 in two epochs."""
    ann, root = world.user("ann"), new_id()
    agent = ann.with_key("k1")
    entries = [ann.says(root, text) for text in ("A", "B", "C")]
    agent.syncs(root, ["old"])
    agent.syncs(root, ["new"])
    fork = ann.forks(root, entries[2])["id"]
    for text in ("X", "Y", "Z"):
        ann.says(fork, text)
    return ann, root, fork


def walked(user: User, conversation: str, **query: Any) -> list[str]:
    """The texts of all pages, two entries each."""
    found = user.walks("list_entries", conversation, limit=2, **query)
    return [str(e["content"][0].get("text")) for e in found]


def test_newest_first_walks_the_visible_path_backwards(tree: tuple[User, str, str]) -> None:
    ann, root, fork = tree
    assert walked(ann, root, order="desc") == ["C", "B", "A"]
    assert walked(ann, fork, order="DESC") == ["Z", "Y", "X", "B", "A"]
    assert walked(ann, fork, order="asc") == walked(ann, fork) == ["A", "B", "X", "Y", "Z"]
    assert walked(ann, fork, order="desc", forks="all") == ["Z", "Y", "X", "C", "B", "A"]


def test_newest_first_shows_the_memory_of_the_epoch_that_was_asked_for(
    tree: tuple[User, str, str],
) -> None:
    ann, root, _ = tree
    agent = ann.with_key("k1")
    assert agent.texts(root, order="desc") == ["new", "C", "B", "A"]
    assert agent.texts(root, order="desc", epoch="all") == ["new", "old", "C", "B", "A"]
    assert agent.texts(root, order="desc", epoch=1, channel="memory") == ["old"]
    assert ann.with_key("k2").texts(root, order="desc") == ["C", "B", "A"]


def test_a_cursor_leads_on_in_either_order(tree: tuple[User, str, str]) -> None:
    ann, root, _ = tree
    middle = ann.call("list_entries", root).expect(200)["data"][1]
    assert ann.texts(root, order="desc", after=middle["id"]) == ["A"]
    assert ann.texts(root, order="asc", after=middle["id"]) == ["C"]
    ann.call("list_entries", root, order="desc", after=new_id()).refused(400, "bad_request")


@pytest.mark.parametrize(("tail", "texts"), [(1, "Z"), (4, "BXYZ"), (5, "ABXYZ"), (1000, "ABXYZ")])
def test_a_tail_is_the_last_entries_in_their_order(
    tree: tuple[User, str, str], tail: int, texts: str
) -> None:
    ann, _, fork = tree
    page = ann.call("list_entries", fork, tail=tail).expect(200)
    assert [entry["content"][0]["text"] for entry in page["data"]] == [*texts]
    assert page["nextCursor"] is None


def test_a_tail_keeps_to_epochs_and_forks(tree: tuple[User, str, str]) -> None:
    ann, root, _ = tree
    page = ann.with_key("k1").call("list_entries", root, tail=2).expect(200)
    assert [e["content"][0] for e in page["data"]] == [{"role": "USER", "text": "C"}, "new"]
    page = ann.call("list_entries", root, tail=4, forks="all").expect(200)
    assert [e["content"][0]["text"] for e in page["data"]] == ["C", "X", "Y", "Z"]
    assert ann.call("list_entries", new_id(), tail=3).expect(200)["data"] == []


@pytest.mark.parametrize(
    "query",
    [
        {"tail": 2, "order": "asc"},
        {"tail": 2, "limit": 50},
        {"tail": 2, "after": "0190b0a3-5f0e-7cc3-9f3f-1a2b3c4d5e6f"},
        {"tail": 1001},
        {"tail": -1},
        {"order": "newest"},
    ],
)
def test_a_tail_is_no_page_and_has_a_size(
    tree: tuple[User, str, str], query: dict[str, Any]
) -> None:
    ann, root, _ = tree
    details = ann.call("list_entries", root, **query).refused(400, "validation_error")
    assert details["violations"][0]["field"] == next(iter(query))


@pytest.mark.rest_only("administration has no methods")
def test_an_admin_reads_every_clients_memory_from_the_end(
    world: World, tree: tuple[User, str, str]
) -> None:
    _, root, _ = tree
    read = world.admin.call
    newest = read("admin_list_entries", root, order="desc", epoch="latest", limit=2).expect(200)
    assert [e["content"][0] for e in newest["data"]] == ["new", {"role": "USER", "text": "C"}]
    for epoch, last in (("latest", ["C", "new"]), ("all", ["old", "new"])):
        page = read("admin_list_entries", root, tail=2, epoch=epoch).expect(200)
        items = [e["content"][0] for e in page["data"]]
        assert [item if isinstance(item, str) else item["text"] for item in items] == last
