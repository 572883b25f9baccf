"""The pages for people and coding agents: what they say, and what they never say or load."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from recollect import __version__
from recollect.api.front.assets import MEDIA_TYPES
from recollect.api.front.reference_page import render_reference_page
from recollect.api.openapi.document import merged_document
from recollect.api.registry import OPERATIONS
from recollect.api.rest.app import RestSettings
from recollect.kernel.errors import Unavailable
from tests.api.fakes import Answered, Rest

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
PAGES = ("/", "/docs")
# Elements that must be closed; the others have no content.
VOID = {"meta", "link", "input", "br"}


class Page(HTMLParser):
    """The tags of a page. An element that is not closed fails."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def values(self, name: str) -> list[str]:
        return [value for _, attrs in self.tags if (value := attrs.get(name))]


def get(rest: Rest, path: str, **headers: str) -> Answered:
    return rest.call("GET", path, user=None, headers=BROWSER | headers)


def header(answered: Answered, name: str) -> Any:
    return dict(answered.headers).get(name)


def local() -> Rest:
    return Rest(RestSettings(local_mode=True))


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_whole_and_loads_nothing_from_elsewhere(path: str) -> None:
    rest = local()
    answered = get(rest, path)
    assert answered.status == 200
    assert header(answered, "content-type") == "text/html; charset=utf-8"
    page = Page(answered.body.decode())
    for link in page.values("href") + page.values("src"):
        assert link.startswith(("/", "#")), link
        assert not link.startswith("//")
    loaded = [x for x in page.values("src") + page.values("href") if x.startswith("/assets/")]
    assert {get(rest, one).status for one in loaded} == {200}
    for tag, attrs in page.tags:
        assert tag != "style"
        assert tag != "script" or attrs.get("src")
        assert not [name for name in attrs if name == "style" or name.startswith("on")]
    ids = page.values("id")
    assert len(set(ids)) == len(ids)
    assert {link[1:] for link in page.values("href") if link.startswith("#")} <= set(ids)


@pytest.mark.parametrize("path", [*PAGES, "/llms.txt", "/assets/style.css"])
def test_a_page_may_use_what_this_server_sends_and_nothing_else(path: str) -> None:
    policy = header(get(local(), path), "content-security-policy")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert set(re.findall(r"(?<=-src )'[a-z]+'", policy)) == {"'none'", "'self'"}
    assert header(get(local(), path), "x-content-type-options") == "nosniff"


def test_no_file_of_the_pages_names_another_place() -> None:
    rest = local()
    for name in MEDIA_TYPES:
        text = get(rest, f"/assets/{name}").body.decode()
        assert set(re.findall(r"https?://[^\"')\s]+", text)) <= {"http://www.w3.org/2000/svg"}


def test_a_program_gets_the_start_in_json() -> None:
    for accept in ("application/json", "*/*"):
        answered = local().call("GET", "/", user=None, headers={"accept": accept})
        shown = answered.json
        assert (shown["name"], shown["status"], shown["mode"]) == ("Recollect", "ok", "local")
        assert shown["version"] == __version__
    rest = local()
    assert {get(rest, path).status for path in shown["links"].values()} == {200}


def test_with_tokens_the_start_says_no_more_than_the_health_check() -> None:
    rest = Rest()
    health = rest.call("GET", "/v1/health", user=None).json
    shown = rest.call("GET", "/", user=None).json
    assert set(shown) - set(health) == {"name", "mode", "links"}
    assert __version__ not in get(rest, "/").body.decode()
    assert "X-Requester-Id" not in get(rest, "/").body.decode()
    assert "Authorization: Bearer" in get(rest, "/").body.decode()


def test_the_calls_to_copy_have_the_address_that_the_browser_used() -> None:
    for host in ("localhost:9000", "127.0.0.1", "[::1]:8080"):
        assert f"http://{host}/v1/memories" in get(local(), "/", host=host).body.decode()
    for host in ("x<script>", 'a"b', "a b", ""):
        answered = get(Rest(), "/", host=host).body.decode()
        assert "http://127.0.0.1:8080/v1/memories" in answered
        assert "<script>" not in answered


def test_an_unwell_server_says_so() -> None:
    rest = local()
    rest.status.answers["ping"] = Unavailable("the database does not answer")
    assert get(rest, "/").status == 503
    assert "The database does not answer" in get(rest, "/").body.decode()
    answered = rest.call("GET", "/", user=None)
    assert (answered.status, answered.json["status"]) == (503, "unavailable")


KEPT = ("/docs", "/llms.txt", "/openapi-merged.json", *(f"/assets/{n}" for n in MEDIA_TYPES))


@pytest.mark.parametrize("path", KEPT)
def test_what_a_browser_has_already_is_not_sent_again(path: str) -> None:
    rest = local()
    first = get(rest, path)
    tag = header(first, "etag")
    assert header(first, "cache-control") == "no-cache"
    for known in (tag, f'"other", W/{tag}'):
        again = get(rest, path, **{"if-none-match": known})
        assert (again.status, again.body) == (304, b"")
        assert header(again, "content-length") is None
    assert get(rest, path, **{"if-none-match": '"other"'}).body == first.body
    head = rest.call("HEAD", path, user=None)
    assert (head.status, head.body, header(head, "etag")) == (200, b"", tag)
    assert int(header(head, "content-length")) == len(first.body)


def test_the_start_is_never_kept() -> None:
    assert header(get(local(), "/"), "cache-control") == "no-store"
    head = local().call("HEAD", "/", user=None)
    assert (head.status, head.body) == (200, b"")


@pytest.mark.parametrize(
    "name",
    [
        "none.css",
        "..",
        "%2e%2e",
        "..%2fassets.py",
        "%2e%2e%2fassets.py",
        "style.css%00",
        "llms.txt",
    ],
)
def test_no_other_file_can_be_had(name: str) -> None:
    answered = get(local(), f"/assets/{name}")
    assert (answered.status, answered.json["code"]) == (404, "not_found")
    assert get(local(), f"/assets/style.css/{name}").status == 404
    assert get(local(), "/assets/").status == 404


def test_the_reference_has_every_operation_and_every_schema() -> None:
    document = merged_document()
    ids = set(Page(render_reference_page(document)).values("id"))
    assert {row.name for row in OPERATIONS} <= ids
    assert set(document["components"]["schemas"]) <= ids
    assert {tag["name"] for tag in document["tags"]} <= ids


def test_what_the_document_says_is_no_html() -> None:
    document = merged_document()
    document["info"]["description"] = "<b>bold</b> `<i>`"
    shown = render_reference_page(document)
    assert "&lt;b&gt;bold&lt;/b&gt; <code>&lt;i&gt;</code>" in shown
