"""Query text is data: any string is a valid query, and finds the entry that holds it."""

import json
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from recollect.text.tokens import query_tokens
from tests.conftest import SoakSize
from tests.hostile.refusals import refused
from tests.hostile.sample_tree import MARKER, SampleTree, operation
from tests.support.api import headers_of
from tests.support.searching import TYPES, settle
from tests.support.world import User, World, new_id

QUERIES: dict[str, str] = {
    "a quote and a comment": '" OR 1=1 --',
    "a statement": "'; DROP TABLE entries; --",
    "a star": "foo*",
    "a star alone": "*",
    "an open NEAR": "NEAR(",
    "a NEAR": "NEAR(foo bar, 5)",
    "an open quote": '"unbalanced',
    "doubled quotes": '""quoted"" "" """',
    "an apostrophe": "O'Brien isn't here",
    "words of operators": "this AND that OR NOT those",
    "operators alone": "AND OR NOT",
    "signs": "-minus +plus ~tilde",
    "a column": "terms:colour entry_id:7",
    "brackets": "{curly} [square] (round",
    "an anchor": "^start end$",
    "back slashes": "back\\slash \\' \\",
    "wild cards of LIKE": "100%_sure",
    "operators of tsquery": "rain & snow | !hail <-> fog:*B",
    "a weight": "storm:*ABCD",
    "markup": "<b>bold</b> <script>alert(1)</script> &amp;",
    "stars of a highlight": "**starred** words",
    "a format": "%s {0} $1 ${HOME} :name ?",
    "punctuation alone": "?!... --- ()",
    "emoji alone": "\U0001f389\U0001f680",
    "a family of emoji": "\U0001f469\u200d\U0001f469\u200d\U0001f467 at home",
    "Japanese": "東京で会いましょう",
    "Chinese": "我们明天去北京",
    "Thai": "สวัสดีชาวโลก",
    "Arabic": "مرحبا بالعالم",
    "Hebrew with points": "שָׁלוֹם עוֹלָם",
    "Hindi": "नमस्ते दुनिया",
    "Cyrillic": "Привет, мир ёлка",
    "accents": "Crème brûlée à l'école",
    "parted accents": "cafe\u0301 nin\u0303o",
    "letters that fold": "İstanbul STRASSE straße ﬁne Ⅷ",
    "right to left marks": "\u202eabc\u202c def",
    "nothing to see": "zero\u200bwidth \ufeffmark",
    "controls": "bell\x07 tab\there line\nfeed \x7f \x85",
    "private and beyond": "\ue000 \U0010ffff plain",
    "a long word": "longest " + "w" * 9_992,
    "many words": "again " * 1_666,
    "many different words": " ".join(f"d{n}" for n in range(1_700)),
    "many signs": '"*(' * 3_333,
    "an id": "0190b0a3-5f0e-7cc3-9f3f-1a2b3c4d5e6f",
    "JSON": '{"query":"x","limit":0}',
}
STRANGE_ESCAPES: dict[str, str] = {
    r"wid\u0000get": "widget",
    r"\u0000\u0000widget\u0000": "widget",
    r"wid\ud800get": "widget",
    r"widget \udfff\ud800": "widget",
    r"widget\ud83d": "widget",
}
SEED = 20260131
every_type = pytest.mark.parametrize("kind", TYPES)


@pytest.fixture(scope="module")
def world(vector_world: World) -> World:
    """A server whose worker makes vectors."""
    return vector_world


@pytest.fixture(scope="module")
def sayer(world: World) -> User:
    """Somebody who has said all of it, each in a conversation of its own."""
    ann = world.user("ann")
    for text in (*QUERIES.values(), "widget"):
        ann.says(new_id(), text)
    settle(world)
    return ann


def send(user: User, content: str, name: str = "search") -> httpx2.Response:
    """A search with exactly this body."""
    http: httpx2.Client = user.api.http  # type: ignore[attr-defined]
    path = {"search": "/conversations/search", "admin": "/admin/conversations/search"}[name]
    headers = headers_of(user.credentials) | {"Content-Type": "application/json"}
    return http.post(path, content=content, headers=headers)


def found(response: httpx2.Response) -> list[str]:
    """The texts of the results of a search that succeeded and whose every stage did."""
    assert response.status_code == 200, response.text[:500]
    page = response.json()
    assert "degraded" not in page, page["degraded"]
    return [result["entry"]["content"][0]["text"] for result in page["data"]]


@every_type
@pytest.mark.parametrize("name", QUERIES)
def test_a_text_is_found_by_itself(sayer: User, kind: str, name: str) -> None:
    text = QUERIES[name]
    body = json.dumps({"query": text, "searchType": kind, "limit": 1_000})
    results = found(send(sayer, body))
    if query_tokens(text):
        assert text in results


@every_type
@pytest.mark.parametrize("escaped", STRANGE_ESCAPES)
def test_what_no_text_can_hold_is_dropped(sayer: User, kind: str, escaped: str) -> None:
    body = f'{{"query":"{escaped}","searchType":"{kind}"}}'
    assert STRANGE_ESCAPES[escaped] in found(send(sayer, body))


@every_type
@pytest.mark.parametrize("query", [r"\u0000", r"\ud800\ud800", r"\udfff \u0000"])
def test_a_query_of_which_nothing_is_left_is_blank(
    world: World, sayer: User, kind: str, query: str
) -> None:
    body = f'{{"query":"{query}","searchType":"{kind}"}}'
    assert found(send(sayer, body)) == []
    refused(send(world.admin, body, "admin"), "validation_error")


@every_type
def test_admins_may_ask_anything_too(world: World, sayer: User, kind: str) -> None:
    for text in QUERIES.values():
        body = {"query": text, "searchType": kind, "userId": sayer.name, "limit": 1_000}
        results = found(send(world.admin, json.dumps(body), "admin"))
        assert text in results or not query_tokens(text)


@every_type
def test_whatever_text_there_is_can_be_asked_for(
    sayer: User, soak_size: SoakSize, kind: str
) -> None:
    bounds = settings(
        max_examples=soak_size(25, 1_000),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )

    def asked(query: str) -> None:
        found(send(sayer, json.dumps({"query": query, "searchType": kind, "limit": 3})))

    seed(SEED)(bounds(given(st.text(st.characters(codec=None), max_size=200))(asked)))()


@every_type
def test_the_words_of_a_query_are_in_no_log_event_or_refusal(
    sample_tree: SampleTree, kind: str
) -> None:
    body: dict[str, Any] = {"query": MARKER, "searchType": kind, "after": MARKER}
    row = operation("searchConversations")
    assert refused(sample_tree.send(row, json.dumps(body)), "bad_request")["field"] == "after"
    row = operation("adminSearchConversations")
    assert refused(sample_tree.send(row, json.dumps(body)), "bad_request")["field"] == "after"
    events = sample_tree.world.auditor.walks("admin_list_events", action="searchConversations")
    assert MARKER not in json.dumps(events)
