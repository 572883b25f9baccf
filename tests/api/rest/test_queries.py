"""Query parameters, cursors, path ids."""

from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.api.rest.app import RestSettings
from recollect.conversations.entries.entry import Channel, ForkFilter
from recollect.conversations.model import ListMode
from recollect.conversations.sharing.transfer import TransferRole
from recollect.kernel.pages import Page
from tests.api.fakes import ID, Rest, a_membership, seen

ENTRIES = f"/v1/conversations/{ID}/entries"
ADMIN = "/v1/admin/conversations"


def test_parameters_have_their_defaults(rest: Rest) -> None:
    rest.call("GET", "/v1/conversations")
    rest.call("GET", ENTRIES)
    rest.call("GET", f"{ADMIN}/{ID}/entries", user="root")
    (_, _, listed), (_, entries, page) = rest.conversations.calls[0], rest.entries.calls[0]
    assert listed == {"mode": ListMode.LATEST_FORK, "query": None, "after": None, "limit": 20}
    assert (entries[2].channel, entries[2].epoch, entries[2].forks) == (
        None,
        "latest",
        ForkFilter.NONE,
    )
    assert page == {"after": None, "limit": 50}
    assert rest.admin.calls[0][1][2].epoch == "all"


def test_words_come_in_any_letter_case(rest: Rest) -> None:
    rest.call("GET", f"{ENTRIES}?channel=MEMORY&epoch=All&forks=ALL")
    query = rest.entries.calls[0][1][2]
    assert (query.channel, query.epoch, query.forks) == (Channel.MEMORY, "all", ForkFilter.ALL)
    rest.call("GET", f"{ADMIN}?includeDeleted=TRUE&onlyDeleted=False&mode=Roots", user="root")
    wanted = rest.admin.calls[0][1][1]
    assert (wanted.include_deleted, wanted.only_deleted) == (True, False)
    assert wanted.mode is ListMode.ROOTS


def test_an_unknown_transfer_role_means_all(rest: Rest) -> None:
    for role, meant in [("Sender", TransferRole.SENDER), ("boss", TransferRole.ALL)]:
        rest.call("GET", f"/v1/ownership-transfers?role={role}")
        assert rest.transfers.calls[-1][2]["role"] is meant


def test_kind_b_without_limit_asks_for_everything(rest: Rest) -> None:
    rest.call("GET", f"/v1/conversations/{ID}/memberships")
    assert rest.sharing.calls[0][2] == {"after": None, "limit": None}


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ("/v1/conversations?limit=0", "limit"),
        ("/v1/conversations?limit=1001", "limit"),
        ("/v1/conversations?limit=", "limit"),
        ("/v1/conversations?limit=+5", "limit"),
        ("/v1/conversations?limit=%D9%A5", "limit"),
        ("/v1/conversations?limit=99999999999999999999999", "limit"),
        ("/v1/conversations?limit=1&limit=2", "limit"),
        ("/v1/conversations?mode=newest", "mode"),
        ("/v1/conversations?query=" + "q" * 1001, "query"),
        ("/v1/conversations?after=a&afterCursor=b", "after"),
        ("/v1/conversations?after=a&after=b", "after"),
        (f"{ENTRIES}?epoch=9223372036854775808", "epoch"),
        (f"{ENTRIES}?epoch=" + "9" * 5000, "epoch"),
        (f"{ENTRIES}?channel=journal", "channel"),
        (f"{ENTRIES}?forks=some", "forks"),
        (f"{ADMIN}?includeDeleted=yes", "includeDeleted"),
        (f"{ADMIN}?deletedAfter=yesterday", "deletedAfter"),
        (f"{ADMIN}?deletedBefore=0001-01-01T00:00:00%2B14:00", "deletedBefore"),
        (f"{ADMIN}?userId=%00", "userId"),
        (f"{ADMIN}?userId=", "userId"),
        ("/v1/admin/events?conversationId=x", "conversationId"),
        ("/v1/admin/events?kind=gossip", "kind"),
        ("/v1/admin/events?justification=" + "j" * 1001, "justification"),
        ("/v1/admin/events?justification=a%00", "justification"),
        ("/v1/admin/events?justification=a&justification=b", "justification"),
    ],
)
def test_a_wrong_parameter_is_a_validation_error(rest: Rest, target: str, field: str) -> None:
    details = rest.call("GET", target, user="root").refused(400, "validation_error")
    assert [violation["field"] for violation in details["violations"]] == [field]
    assert not rest.asked


@pytest.mark.parametrize("epoch", ["0", "00", "-1", "1.5", "newest", "", "%D9%A5"])
def test_a_bad_epoch_is_a_broken_rule(rest: Rest, epoch: str) -> None:
    details = rest.call("GET", f"{ENTRIES}?epoch={epoch}").refused(400, "bad_request")
    assert details["field"] == "epoch"
    assert not rest.asked


def test_an_epoch_may_be_as_large_as_the_database_can_hold(rest: Rest) -> None:
    assert rest.call("GET", f"{ENTRIES}?epoch=9223372036854775807").status == 200
    assert rest.entries.calls[0][1][2].epoch == 2**63 - 1


@pytest.mark.parametrize(
    "text",
    ["2026-01-01T05:30:00%2B05:30", "2026-01-01T05:30:00+05:30", "2026-01-01T00:00:00", "20260101"],
)
def test_instants_carry_any_offset_and_none_means_utc(rest: Rest, text: str) -> None:
    assert rest.call("GET", f"/v1/admin/events?from={text}", user="root").status == 200
    assert rest.admin.calls[0][1][1].since == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_title_query_is_any_text_without_what_no_title_holds(rest: Rest) -> None:
    for sent, meant in [("%00a%00", "a"), ("", None), ("%ff", "\ufffd"), ("x%20%25y", "x %y")]:
        assert rest.call("GET", f"/v1/conversations?query={sent}").status == 200
        assert rest.conversations.calls[-1][2]["query"] == meant


@pytest.mark.parametrize(
    ("query", "after"),
    [
        ("after=c1", "c1"),
        ("afterCursor=c1", "c1"),
        ("after=c1&afterCursor=c1", "c1"),
        ("after=", None),
        ("afterCursor=", None),
    ],
)
def test_both_names_of_the_cursor_work_and_empty_is_the_first_page(
    rest: Rest, query: str, after: str | None
) -> None:
    assert rest.call("GET", f"/v1/conversations?{query}").status == 200
    assert rest.conversations.calls[0][2]["after"] == after


def test_the_cursor_is_repeated_for_who_used_its_other_name(rest: Rest) -> None:
    rest.conversations.answers["list"] = Page([seen()], "c2")
    plain = rest.call("GET", "/v1/conversations?after=c1").json
    assert (set(plain), plain["nextCursor"]) == ({"data", "nextCursor"}, "c2")
    named = rest.call("GET", "/v1/conversations?afterCursor=").json
    assert (named["nextCursor"], named["afterCursor"]) == ("c2", "c2")


def test_a_setting_repeats_the_cursor_for_everybody() -> None:
    rest = Rest(RestSettings(emit_after_cursor=True))
    assert rest.call("GET", "/v1/conversations").json["afterCursor"] is None
    rest.sharing.answers["list"] = Page([a_membership()], "c2")
    members = rest.call("GET", f"/v1/conversations/{ID}/memberships").json
    assert (members["nextCursor"], members["afterCursor"]) == ("c2", "c2")


def test_kind_b_shows_a_cursor_only_if_there_is_one(rest: Rest) -> None:
    target = f"/v1/conversations/{ID}/memberships?afterCursor="
    assert set(rest.call("GET", target).json) == {"data"}


@pytest.mark.parametrize(
    ("method", "target", "resource", "body"),
    [
        ("GET", "/v1/conversations/nope", "conversation", None),
        ("GET", "/v1/conversations/nope/entries", "conversation", None),
        ("POST", "/v1/conversations/nope/entries", "conversation", {"content": ["a"]}),
        ("POST", f"{ENTRIES}/nope/fork", "entry", None),
        ("DELETE", "/v1/ownership-transfers/nope", "transfer", None),
        ("POST", "/v1/admin/conversations/nope/restore", "conversation", None),
    ],
)
def test_a_path_id_that_is_no_uuid_is_not_found(
    rest: Rest, method: str, target: str, resource: str, body: Any
) -> None:
    details = rest.call(method, target, body, user="root").refused(404, "not_found")
    assert details == {"resource": resource, "id": "nope"}
    assert not rest.asked


def test_a_member_in_a_path_may_be_any_text(rest: Rest) -> None:
    for sent in ("bob", "a/b", "Zoë 日本", "."):
        path = f"/v1/conversations/{ID}/memberships/{sent}"
        assert rest.call("DELETE", path).status == 204
        assert rest.sharing.calls[-1][1][2] == sent


@pytest.mark.parametrize("user", ["u" * 256, "a\x00b"])
def test_a_member_in_a_path_obeys_the_limits_of_user_ids(rest: Rest, user: str) -> None:
    path = f"/v1/conversations/{ID}/memberships/{user}"
    rest.call("DELETE", path).refused(400, "validation_error")
