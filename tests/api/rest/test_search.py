"""Search and indexing on the wire: bodies, cursors, envelopes, refusals."""

import json
from typing import Any

import pytest

from recollect.api.rest.app import RestSettings
from recollect.kernel.errors import SearchTypeUnavailable, VectorStoreDisabled
from recollect.kernel.pages import Page
from recollect.search.commands import SearchEntries
from recollect.search.model import EntryHitPage, EntrySearchComponent, SearchType
from tests.api.fakes import AT_TEXT, ID, Rest, a_hit, an_entry

SEARCH = "/v1/conversations/search"
INDEX = "/v1/conversations/index"
UNINDEXED = "/v1/conversations/unindexed"
ADMIN_SEARCH = "/v1/admin/conversations/search"
ITEM = {"conversationId": ID, "entryId": ID, "indexedContent": "t"}
LONGEST = 10_000


def fields(details: Any) -> list[str]:
    return [violation["field"] for violation in details["violations"]]


def asked(rest: Rest) -> SearchEntries:
    request: SearchEntries = rest.search.calls[-1][1][1]
    return request


def test_a_search_has_its_defaults(rest: Rest) -> None:
    assert rest.call("POST", SEARCH, {"query": "boats"}).status == 200
    assert asked(rest) == SearchEntries("boats", SearchType.AUTO, None, 20, True, True)
    nulls = dict.fromkeys(("searchType", "after", "limit", "includeEntry", "groupByConversation"))
    assert rest.call("POST", SEARCH, {"query": "boats", **nulls}).status == 200
    assert asked(rest) == SearchEntries("boats")


def test_a_search_reaches_the_service_with_its_members(rest: Rest) -> None:
    body = {
        "query": " Boats ",
        "searchType": "FullText",
        "after": "c1",
        "limit": 1000,
        "includeEntry": False,
        "groupByConversation": False,
        "colour": "ignored",
    }
    assert rest.call("POST", f"{SEARCH}?limit=x&after=c2", body).status == 200
    wanted = SearchEntries(" Boats ", SearchType.FULLTEXT, "c1", 1000, False, False)
    assert asked(rest) == wanted


def test_an_admin_search_has_its_own_members(rest: Rest) -> None:
    body = {"query": "boats", "userId": "bob", "includeDeleted": True, "justification": "why"}
    assert rest.call("POST", ADMIN_SEARCH, body, user="root").status == 200
    method, _, facts = rest.search.calls[0]
    assert method == "search_all"
    assert facts == {"user_id": "bob", "include_deleted": True, "justification": "why"}
    assert rest.call("POST", ADMIN_SEARCH, {"query": "boats"}, user="root").status == 200
    assert rest.search.calls[1][2] == {
        "user_id": None,
        "include_deleted": False,
        "justification": None,
    }


def test_the_justification_is_found_beside_any_query(rest: Rest) -> None:
    rest.gate.require_justification = True
    body = rb'{"query":"a\u0000\ud800b","justification":"why"}'
    assert rest.call("POST", ADMIN_SEARCH, body, user="root").status == 200
    assert asked(rest).query == "ab"


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        (rb"\u0000boats\u0000", "boats"),
        (rb"bo\ud800ats", "boats"),
        (rb"\udfff\ud800", ""),
        (rb"\ud83d\ude00", "\U0001f600"),
        ("日本 مرحبا".encode(), "日本 مرحبا"),
        (b"   ", "   "),
        (b"", ""),
        (b"x" * LONGEST + rb"\u0000", "x" * LONGEST),
    ],
)
def test_what_no_text_can_hold_is_dropped_from_a_query(rest: Rest, sent: bytes, meant: str) -> None:
    assert rest.call("POST", SEARCH, b'{"query":"' + sent + b'"}').status == 200
    assert asked(rest).query == meant


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"query": None}, "query"),
        ({"query": 7}, "query"),
        ({"query": ["boats"]}, "query"),
        ({"query": "q" * (LONGEST + 1)}, "query"),
        ({"searchType": "vague"}, "searchType"),
        ({"searchType": 1}, "searchType"),
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"limit": "20"}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": 10**30}, "limit"),
        ({"includeEntry": "true"}, "includeEntry"),
        ({"groupByConversation": 1}, "groupByConversation"),
        ({"after": 7}, "after"),
        ({"afterCursor": []}, "afterCursor"),
        ({"after": "a", "afterCursor": "b"}, "after"),
        ({"after": "", "afterCursor": "b"}, "after"),
    ],
)
@pytest.mark.parametrize("path", [SEARCH, ADMIN_SEARCH])
def test_a_wrong_member_of_a_search_is_named(
    rest: Rest, path: str, members: dict[str, Any], field: str
) -> None:
    answered = rest.call("POST", path, {"query": "q"} | members, user="root")
    assert fields(answered.refused(400, "validation_error")) == [field]
    assert not rest.asked


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("query", ""),
        ("query", " \t\n"),
        ("query", "\x00"),
        ("userId", ""),
        ("userId", "u" * 256),
        ("includeDeleted", "yes"),
        ("justification", "j" * 1001),
    ],
)
def test_a_wrong_member_of_an_admin_search_is_named(rest: Rest, member: str, value: Any) -> None:
    answered = rest.call("POST", ADMIN_SEARCH, {"query": "q"} | {member: value}, user="root")
    assert fields(answered.refused(400, "validation_error")) == [member]
    assert not rest.asked


def test_other_members_than_the_query_stay_strict(rest: Rest) -> None:
    body = rb'{"query":"q","after":"\u0000"}'
    assert fields(rest.call("POST", SEARCH, body).refused(400, "validation_error")) == ["after"]
    nested = rb'{"query":["\ud800"]}'
    rest.call("POST", SEARCH, nested).refused(400, "validation_error")


def test_a_page_of_results_is_an_envelope_of_kind_a(rest: Rest) -> None:
    rest.search.answers["search"] = EntryHitPage([])
    assert rest.call("POST", SEARCH, {"query": ""}).json == {"data": [], "nextCursor": None}
    rest.search.answers["search"] = EntryHitPage([a_hit()], "c2")
    assert rest.call("POST", SEARCH, {"query": "q", "after": "c1"}).json == {
        "data": [{"conversationId": ID, "entryId": ID, "score": 0.5}],
        "nextCursor": "c2",
    }


def test_a_result_shows_what_it_has(rest: Rest) -> None:
    hit = a_hit(
        conversation_title='a "title"',
        highlights="**boats**\n日本",
        entry=an_entry(client_id="k1", user_id="ann"),
    )
    for answer in ("search", "search_all"):
        rest.search.answers[answer] = EntryHitPage([hit])
    [shown] = rest.call("POST", SEARCH, {"query": "q"}).json["data"]
    entry = {
        "id": ID,
        "conversationId": ID,
        "userId": "ann",
        "channel": "history",
        "contentType": "history",
        "content": ["x"],
        "createdAt": AT_TEXT,
    }
    assert shown == {
        "conversationId": ID,
        "conversationTitle": 'a "title"',
        "entryId": ID,
        "score": 0.5,
        "highlights": "**boats**\n日本",
        "entry": entry,
    }
    [seen] = rest.call("POST", ADMIN_SEARCH, {"query": "q"}, user="root").json["data"]
    assert seen == shown | {"entry": entry | {"clientId": "k1"}}


def test_failed_stages_are_told_only_if_there_are_any(rest: Rest) -> None:
    for path, answer in ((SEARCH, "search"), (ADMIN_SEARCH, "search_all")):
        assert "degraded" not in rest.call("POST", path, {"query": "q"}, user="root").json
        rest.search.answers[answer] = EntryHitPage(
            [], None, (EntrySearchComponent.EMBEDDING, EntrySearchComponent.VECTORS)
        )
        answered = rest.call("POST", path, {"query": "q"}, user="root").json
        assert answered == {"data": [], "nextCursor": None, "degraded": ["embedding", "vectors"]}


@pytest.mark.parametrize(
    ("members", "after", "echoed"),
    [
        ({}, None, False),
        ({"after": ""}, None, False),
        ({"after": "c1"}, "c1", False),
        ({"afterCursor": None}, None, False),
        ({"afterCursor": ""}, None, True),
        ({"afterCursor": "c1"}, "c1", True),
        ({"after": "c1", "afterCursor": "c1"}, "c1", True),
    ],
)
def test_the_cursor_of_a_search_has_two_names(
    rest: Rest, members: dict[str, Any], after: str | None, echoed: bool
) -> None:
    rest.search.answers["search"] = EntryHitPage([a_hit()], "c2")
    answered = rest.call("POST", SEARCH, {"query": "q"} | members).json
    assert asked(rest).after == after
    assert answered["nextCursor"] == "c2"
    assert answered.get("afterCursor") == ("c2" if echoed else None)


def test_a_type_that_is_switched_off_is_501_without_code(rest: Rest) -> None:
    rest.search.answers["search"] = SearchTypeUnavailable("semantic is off", ["fulltext"])
    answered = rest.call("POST", SEARCH, {"query": "q", "searchType": "semantic"})
    assert answered.status == 501
    assert answered.json == {
        "error": "search_type_unavailable",
        "message": "semantic is off",
        "availableTypes": ["fulltext"],
    }


def test_no_search_at_all_is_501(rest: Rest) -> None:
    rest.search.answers["search"] = VectorStoreDisabled()
    details = rest.call("POST", SEARCH, {"query": "q"}).refused(501, "vector_store_disabled")
    assert set(details) == {"message"}


def test_an_index_call_takes_a_list(rest: Rest) -> None:
    rest.indexing.answers["index"] = 2
    items = [ITEM, ITEM | {"conversationId": ID.upper(), "indexedContent": "u", "more": 1}]
    answered = rest.call("POST", INDEX, items, user="root")
    assert (answered.status, answered.json) == (200, {"indexed": 2})
    _, (principal, texts), _ = rest.indexing.calls[0]
    assert principal.user_id == "root"
    assert [(t.conversation_id, t.entry_id, t.text) for t in texts] == [
        (ID, ID, "t"),
        (ID, ID, "u"),
    ]


def test_a_large_index_call_is_read_too(rest: Rest) -> None:
    items = [ITEM | {"indexedContent": "t" * 10_000}] * 1000
    assert rest.call("POST", INDEX, items, user="root").status == 200
    assert len(rest.indexing.calls[0][1][1]) == 1000


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "body"),
        (b"{", "body"),
        ({}, "body"),
        (ITEM, "body"),
        (b"null", "body"),
        ([], "body"),
        ([ITEM] * 1001, "body"),
        ([7], "[0]"),
        ([ITEM, None], "[1]"),
        ([ITEM, ITEM | {"entryId": "x"}], "[1].entryId"),
        ([ITEM | {"conversationId": None}], "[0].conversationId"),
        ([ITEM | {"indexedContent": ""}], "[0].indexedContent"),
        ([ITEM | {"indexedContent": "t" * 100_001}], "[0].indexedContent"),
        ([ITEM | {"indexedContent": 7}], "[0].indexedContent"),
        (json.dumps([ITEM | {"indexedContent": "\x00"}]).encode(), "[0].indexedContent"),
        (json.dumps([ITEM | {"indexedContent": "\ud800"}]).encode(), "[0].indexedContent"),
    ],
)
def test_a_wrong_index_call_names_its_fault(rest: Rest, body: Any, field: str) -> None:
    answered = rest.call("POST", INDEX, body, user="root")
    assert fields(answered.refused(400, "validation_error")) == [field]
    assert not rest.asked


def test_the_role_comes_before_the_syntax_of_an_index_call(rest: Rest) -> None:
    rest.call("POST", INDEX, b"{").refused(403, "forbidden")
    rest.call("GET", f"{UNINDEXED}?limit=x").refused(403, "forbidden")
    rest.call("POST", ADMIN_SEARCH, b"{").refused(403, "forbidden")
    assert not rest.asked


def test_unindexed_entries_are_an_envelope_of_kind_c(rest: Rest) -> None:
    answered = rest.call("GET", UNINDEXED, user="root").json
    assert set(answered) == {"data", "cursor"}
    assert answered["cursor"] is None
    [item] = answered["data"]
    assert set(item) == {"conversationId", "entry"}
    assert (item["conversationId"], item["entry"]["id"]) == (ID, ID)
    assert rest.indexing.calls[0][2] == {"cursor": None, "limit": 100}


@pytest.mark.parametrize(
    ("query", "cursor", "members"),
    [
        ("cursor=c1&limit=7", "c1", {"data", "cursor"}),
        ("after=c1&limit=7", "c1", {"data", "cursor"}),
        ("afterCursor=c1&limit=7", "c1", {"data", "cursor", "afterCursor"}),
        ("cursor=c1&after=c1&afterCursor=c1&limit=7", "c1", {"data", "cursor", "afterCursor"}),
        ("cursor=&limit=7", None, {"data", "cursor"}),
    ],
)
def test_the_cursor_of_unindexed_entries_has_three_names(
    rest: Rest, query: str, cursor: str | None, members: set[str]
) -> None:
    rest.indexing.answers["list_unindexed"] = Page([an_entry()], "c2")
    answered = rest.call("GET", f"{UNINDEXED}?{query}", user="root").json
    assert set(answered) == members
    assert {answered[name] for name in members - {"data"}} == {"c2"}
    assert rest.indexing.calls[0][2] == {"cursor": cursor, "limit": 7}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("cursor=a&after=b", "cursor"),
        ("cursor=a&afterCursor=b", "cursor"),
        ("after=a&afterCursor=b", "cursor"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
    ],
)
def test_a_wrong_parameter_of_unindexed_is_named(rest: Rest, query: str, field: str) -> None:
    answered = rest.call("GET", f"{UNINDEXED}?{query}", user="root")
    assert fields(answered.refused(400, "validation_error")) == [field]
    assert not rest.asked


def test_a_setting_repeats_the_cursor_of_searches_and_unindexed_entries() -> None:
    rest = Rest(RestSettings(emit_after_cursor=True))
    assert rest.call("POST", SEARCH, {"query": "q"}).json["afterCursor"] is None
    assert rest.call("GET", UNINDEXED, user="root").json["afterCursor"] is None


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", SEARCH, "POST"),
        ("PATCH", SEARCH, "POST"),
        ("DELETE", SEARCH, "POST"),
        ("GET", INDEX, "POST"),
        ("DELETE", INDEX, "POST"),
        ("POST", UNINDEXED, "GET, HEAD"),
        ("DELETE", UNINDEXED, "GET, HEAD"),
        ("GET", ADMIN_SEARCH, "POST"),
        ("DELETE", ADMIN_SEARCH, "POST"),
    ],
)
def test_these_words_are_no_ids_of_conversations(
    rest: Rest, method: str, path: str, allowed: str
) -> None:
    answered = rest.call(method, path, user="root")
    answered.refused(405, "method_not_allowed")
    assert answered.headers["allow"] == allowed
    assert not rest.asked


def test_below_these_words_there_is_no_conversation(rest: Rest) -> None:
    details = rest.call("GET", f"{SEARCH}/entries").refused(404, "not_found")
    assert details == {"resource": "conversation", "id": "search"}
