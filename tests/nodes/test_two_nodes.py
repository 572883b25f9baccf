"""What one node was told the other one knows at once, whatever it had in memory before.

Each test lets the second node fill its caches first, changes something on the first, and asks the
second again.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.nodes.pair import Pair
from tests.support.api import Reply
from tests.support.searching import TYPES
from tests.support.world import User, history, id_of, new_id, text_of

YEAR = {"retentionPeriod": "P1Y", "resourceTypes": ["conversations"]}


def found(user: User, query: str, type_: str = "auto") -> list[str]:
    """The texts that a search shows."""
    hits = user.finds(query, searchType=type_, groupByConversation=False, includeEntry=True)
    return [text_of(hit["entry"]) for hit in hits]


def titles(user: User) -> list[str]:
    """What a list of conversations shows."""
    return [one["title"] for one in user.walks("list_conversations")]


@pytest.mark.parametrize("type_", TYPES)
def test_what_is_written_on_one_node_is_found_on_the_other(pair: Pair, type_: str) -> None:
    ann = pair.first.user("ann")
    talk = ann.starts()
    ann.says(talk, "the harbour was quiet")
    pair.settle()
    assert found(pair.there(ann), "harbour", type_) == ["the harbour was quiet"]
    ann.says(talk, "the harbour was loud")
    pair.settle()
    both = {"the harbour was quiet", "the harbour was loud"}
    assert {*found(pair.there(ann), "harbour", type_)} == both
    assert found(ann, "harbour", type_) == found(pair.there(ann), "harbour", type_)


def test_a_new_text_for_the_index_replaces_the_old_one_on_the_other_node(pair: Pair) -> None:
    ann = pair.first.user("ann")
    talk = ann.starts()
    entry = ann.says(talk, "meet me at the lighthouse")
    pair.settle()
    assert found(pair.there(ann), "lighthouse")
    redacted = {
        "conversationId": id_of(talk),
        "entryId": entry["id"],
        "indexedContent": "meet me at the market",
    }
    pair.first.indexer.call("index", body=[redacted]).expect(200)
    pair.settle()
    assert found(pair.there(ann), "lighthouse", "fulltext") == []
    assert found(pair.there(ann), "market", "fulltext") == ["meet me at the lighthouse"]


def test_who_was_removed_on_one_node_sees_nothing_on_the_other(pair: Pair) -> None:
    ann, bob = pair.first.user("ann"), pair.first.user("bob")
    talk = ann.starts("harbour talk")
    ann.says(talk, "the harbour was quiet")
    ann.shares(talk, bob, "reader")
    pair.settle()
    bob_there = pair.there(bob)
    assert found(bob_there, "harbour")
    assert titles(bob_there) == ["harbour talk"]
    ann.call("remove_membership", talk, bob.name).expect(204)
    assert found(bob_there, "harbour") == []
    assert titles(bob_there) == []
    bob_there.call("list_entries", talk).expect(403)


def test_a_level_that_was_lowered_on_one_node_counts_on_the_other(pair: Pair) -> None:
    ann, bob = pair.first.user("ann"), pair.first.user("bob")
    talk = ann.starts()
    ann.shares(talk, bob, "writer")
    pair.there(bob).says(talk, "still a writer")
    ann.call("change_membership", talk, bob.name, body={"accessLevel": "reader"}).expect(200)
    pair.there(bob).call("append", talk, body=history("no more")).expect(403)
    assert pair.there(bob).texts(talk) == ["still a writer"]


def test_a_tree_deleted_on_one_node_is_gone_on_the_other_until_it_is_restored(pair: Pair) -> None:
    ann = pair.first.user("ann")
    talk = ann.starts()
    ann.says(talk, "the harbour was quiet")
    pair.settle()
    assert found(pair.there(ann), "harbour")
    ann.deletes(talk)
    assert found(pair.there(ann), "harbour") == []
    pair.there(ann).call("get_conversation", talk).expect(404)
    pair.first.admin.call("admin_restore_conversation", talk).expect(200)
    assert found(pair.there(ann), "harbour") == ["the harbour was quiet"]


def test_an_id_that_was_evicted_and_taken_again_shows_nothing_of_its_first_life(pair: Pair) -> None:
    ann, talk = pair.first.user("ann"), new_id()
    ann.says(talk, "the harbour was quiet")
    pair.settle()
    assert found(pair.there(ann), "harbour")
    ann.deletes(talk)
    pair.first.clock.advance(days=800)
    pair.second.clock.advance(days=800)
    pair.first.admin.call("evict", body=YEAR).expect(204)
    pair.there(ann).says(talk, "a harbour of another life")
    pair.settle()
    assert found(pair.there(ann), "harbour") == ["a harbour of another life"]
    assert found(ann, "harbour") == ["a harbour of another life"]


def test_a_walk_may_change_nodes_on_every_page(pair: Pair) -> None:
    ann = pair.first.user("ann")
    for number in range(7):
        ann.says(ann.starts(), f"the harbour on day {number}")
    pair.settle()
    asked = {"query": "harbour", "limit": 2}
    searched = walked(pair, ann, lambda user, after: user.call("search", body=asked | after))
    listed = walked(
        pair, ann, lambda user, after: user.call("list_conversations", limit=2, **after)
    )
    assert len(searched) == len({hit["entryId"] for hit in searched}) == 7
    assert len(listed) == len({one["id"] for one in listed}) == 7


def walked(
    pair: Pair, user: User, page_of: Callable[[User, dict[str, Any]], Reply]
) -> list[dict[str, Any]]:
    """All items of a list whose pages come from both nodes by turns."""
    items: list[dict[str, Any]] = []
    after: dict[str, Any] = {}
    here, there = user, pair.there(user)
    while True:
        page = page_of(here, after).expect(200)
        items += page["data"]
        if page["nextCursor"] is None:
            return items
        after = {"after": page["nextCursor"]}
        here, there = there, here
