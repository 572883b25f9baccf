"""Ids in paths that name nothing, methods that a path lacks, and paths that lead nowhere."""

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

import pytest

from recollect.api.registry import CONVERSATION_OPERATIONS
from recollect.http.operation import Operation
from tests.hostile.field_values import content_for
from tests.hostile.refusals import refused, violated, well_formed
from tests.hostile.sample_tree import MARKER, SampleTree
from tests.support.api import headers_of
from tests.support.world import new_id

RESOURCES = {
    "id": "conversation",
    "entryId": "entry",
    "transferId": "transfer",
    "keyId": "api_key",
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
PATHS = sorted({row.path for row in CONVERSATION_OPERATIONS})
WITH_ID = [row for row in CONVERSATION_OPERATIONS if "{" in row.path]
every_id = pytest.mark.parametrize("row", WITH_ID, ids=[row.name for row in WITH_ID])
every_path = pytest.mark.parametrize("path", PATHS)


def bad_ids() -> Iterator[str]:
    """Texts that are no canonical UUID, escaped."""
    good = new_id()
    yield from ("x", "0", "-1", "null", "%20", "%00", "%FF", "%ED%A0%80", "'", quote("ü🎉"))
    yield from (
        good.replace("-", ""),
        f"%7B{good}%7D",
        f"urn:uuid:{good}",
        f"{good}%0A",
        f"%20{good}",
    )
    yield from (good[:-1], f"{good}0", f"g{good[1:]}", f"{good[:8]}_{good[9:]}", f"{good}%00")
    yield from ("a" * 20_000, "%2e%2e", "..%3B", "*", "%25%30%30", quote("٣" * 36), "%3Cscript%3E")


@pytest.mark.usefixtures("untouched")
@every_id
def test_an_id_that_is_no_uuid_is_not_found(sample_tree: SampleTree, row: Operation) -> None:
    content = content_for(row)
    for name in re.findall(r"{(\w+)}", row.path):
        if name in ("userId", "asset"):
            continue
        for bad in bad_ids():
            details = refused(sample_tree.send(row, content, ids={name: bad}), "not_found")
            sent = unquote(bad)
            assert details == {"resource": RESOURCES[name], "id": sent}, bad


@pytest.mark.usefixtures("untouched")
@every_id
def test_an_id_with_a_slash_in_it_is_not_found(sample_tree: SampleTree, row: Operation) -> None:
    for name in re.findall(r"{(\w+)}", row.path):
        if name != "userId":
            response = sample_tree.send(row, content_for(row), ids={name: "%2F"})
            assert response.status_code == 404
            assert well_formed(response)["code"] == "not_found"


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
@pytest.mark.parametrize("user", ["u" * 256, "%00", f"a%00{MARKER}", quote("🎉" * 256)])
def test_a_user_id_in_a_path_obeys_its_limits(
    sample_tree: SampleTree, method: str, user: str
) -> None:
    row = next(r for r in CONVERSATION_OPERATIONS if r.method == method and "{userId}" in r.path)
    assert violated(sample_tree.send(row, content_for(row), ids={"userId": user})) == {"userId"}


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "user", ["u" * 255, "%20", "a%2Fb", "..%2F..", "%0A", "%FF", "%25", "%EF%BF%BF"]
)
def test_any_other_text_may_be_a_user_id(sample_tree: SampleTree, user: str) -> None:
    change = next(r for r in CONVERSATION_OPERATIONS if r.name == "updateMembership")
    details = refused(
        sample_tree.send(change, content_for(change), ids={"userId": user}), "not_found"
    )
    assert details == {"resource": "membership", "id": unquote(user)}


@pytest.mark.usefixtures("untouched")
@every_path
def test_a_method_that_the_path_lacks_is_405_and_names_those_it_has(
    sample_tree: SampleTree, path: str
) -> None:
    rows = [row for row in CONVERSATION_OPERATIONS if row.path == path]
    allowed = {row.method for row in rows}
    allowed |= {"HEAD"} if "GET" in allowed else set()
    for method in (m for m in METHODS if m not in allowed):
        headers = headers_of(sample_tree.caller(rows[0]).credentials)
        for credentials in (headers, {}):
            response = sample_tree.request(
                method, sample_tree.path(rows[0]), b'{"a":1}', credentials
            )
            if method != "HEAD":
                refused(response, "method_not_allowed")
            assert response.status_code == 405
            assert set(response.headers["allow"].split(", ")) == allowed


@every_path
def test_head_is_get_without_a_body(sample_tree: SampleTree, path: str) -> None:
    row = next(
        (row for row in CONVERSATION_OPERATIONS if row.path == path and row.method == "GET"), None
    )
    if row is None:
        return
    headers = headers_of(sample_tree.caller(row).credentials)
    head, got = (
        sample_tree.request("HEAD", sample_tree.path(row), None, headers),
        sample_tree.send(row),
    )
    # Of a response that nobody records there is nothing to follow.
    assert head.status_code == (204 if row.name == "replayResponse" else 200)
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert head.headers.get("content-type") == got.headers.get("content-type")


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "path",
    [
        "/v1",
        "/v1/",
        "/v1//conversations",
        "/V1/conversations",
        "/v1/Conversations",
        "/v1/conversations/",
        "/v1/conversations;x=1",
        "/v2/conversations",
        "/v1/admin",
        "/v1/admin/",
        "/v1/conversations/%00/x/y/z",
        "/v1/%63onversations%00",
        "/favicon.ico",
        "/.env",
        "/docs/",
        "/v1/conversations/../admin/%2e%2e/x",
        "/" + "a" * 50_000,
    ],
)
def test_a_path_that_leads_nowhere_is_404(sample_tree: SampleTree, path: str) -> None:
    headers = headers_of(sample_tree.world.admin.credentials)
    for method in ("GET", "POST", "PUT"):
        response = sample_tree.request(method, path, None, headers)
        assert response.status_code == 404, response.text
        body = well_formed(response)
        assert body["code"] == "not_found"
