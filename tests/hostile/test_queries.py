"""Query parameters that can't be read, of every operation that takes any."""

import base64
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from recollect.api.registry import CONVERSATION_OPERATIONS
from recollect.http.operation import Operation
from recollect.http.params import Param
from tests.hostile.field_values import content_for
from tests.hostile.refusals import refused, violated
from tests.hostile.sample_tree import MARKER, SampleTree, operation
from tests.support.world import new_id

WITH_QUERY = [row for row in CONVERSATION_OPERATIONS if row.query]
LISTS = [row for row in CONVERSATION_OPERATIONS if row.paging is not None and not row.paging.search]
every_list = pytest.mark.parametrize("row", LISTS, ids=[row.name for row in LISTS])
every_query = pytest.mark.parametrize("row", WITH_QUERY, ids=[row.name for row in WITH_QUERY])

TAKE_CONVERSATIONS = ("Forks", "Conversations")
BAD_LIMITS = (
    "0",
    "-1",
    "1001",
    "x",
    "1e3",
    "1.0",
    "%2B5",
    "5%20",
    "0x10",
    "٣",
    "9" * 5000,
    "%00",
    "",
)
BAD_INSTANTS = (
    "yesterday",
    "2026-13-01",
    "99999-01-01T00:00:00Z",
    "1e10",
    "",
    "%00",
    "T",
    "0" * 9999,
)
BAD_CURSORS = ("x", "%00", "%FF%FE", "..", "' OR 1=1 --", "%ED%A0%80", "a" * 10_000, "=", "bnVsbA")


def bad_values(param: Param) -> Iterator[str]:
    """Escaped values that the parameter does not take."""
    schema = param.schema
    if "enum" in schema:
        yield from ("bogus", "", "%00", schema["enum"][0] + "%20", quote("ſ"), MARKER)
    if schema.get("type") == "boolean":
        yield from ("yes", "1", "0", "", "null", "%00")
    if schema.get("format") == "uuid":
        yield from ("x", "", "0" * 32, f"%7B{new_id()}%7D", f"{new_id()}%00", f"{new_id()}%0A")
    if schema.get("format") == "date-time":
        yield from BAD_INSTANTS
    if schema.get("minLength"):
        yield from ("", "%00", f"a%00{MARKER}")
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)


STRICT = [row for row in WITH_QUERY if any(value for p in row.query for value in bad_values(p))]
strict_query = pytest.mark.parametrize("row", STRICT, ids=[row.name for row in STRICT])


def good_values(param: Param) -> Iterator[str]:
    """Values at the edge of what the parameter takes."""
    schema = param.schema
    for word in schema.get("enum", ()):
        yield from (word, word.upper(), word.title())
    if schema.get("type") == "boolean":
        yield from ("true", "FALSE", "tRuE", "False")
    if schema.get("format") == "uuid":
        yield new_id().upper()
    if schema.get("format") == "date-time":
        yield from (
            "2026-01-31",
            "0001-01-01T00:00:00Z",
            "2026-01-31T12:00:00%2B05:30",
            "9999-12-31T23:59:59.999999Z",
        )
    if "maxLength" in schema:
        yield from ("x" * schema["maxLength"], quote("🎉") * schema["maxLength"], "%25%5F%27")


@pytest.mark.usefixtures("untouched")
@every_query
def test_a_value_that_cannot_be_read_names_its_parameter(
    sample_tree: SampleTree, row: Operation
) -> None:
    for param in row.query:
        for value in bad_values(param):
            response = sample_tree.send(row, content_for(row), query=f"{param.name}={value}")
            assert violated(response) == {param.name}, value


@every_query
def test_values_at_the_edge_are_read(sample_tree: SampleTree, row: Operation) -> None:
    content = content_for(row)
    for param in row.query:
        for value in good_values(param):
            response = sample_tree.send(row, content, query=f"{param.name}={value}")
            assert response.status_code in (200, 204), (param.name, value, response.text)


@pytest.mark.usefixtures("untouched")
@every_query
def test_one_parameter_with_two_values_is_refused(sample_tree: SampleTree, row: Operation) -> None:
    for param in row.query:
        values = "&".join(f"{param.name}={n}" for n in range(1_000))
        assert violated(sample_tree.send(row, content_for(row), query=values)) == {param.name}


@pytest.mark.usefixtures("untouched")
@strict_query
def test_all_violations_are_told_at_once(sample_tree: SampleTree, row: Operation) -> None:
    bad = {param.name: next(bad_values(param), None) for param in row.query}
    wrong = {name: value for name, value in bad.items() if value is not None}
    query = "&".join(f"{name}={value}" for name, value in wrong.items())
    assert violated(sample_tree.send(row, content_for(row), query=query)) == set(wrong)


@pytest.mark.usefixtures("untouched")
@every_list
def test_a_limit_that_is_none_is_refused(sample_tree: SampleTree, row: Operation) -> None:
    for value in BAD_LIMITS:
        assert violated(sample_tree.send(row, query=f"limit={value}")) == {"limit"}, value


@every_list
def test_the_smallest_and_the_largest_limit_are_taken(
    sample_tree: SampleTree, row: Operation
) -> None:
    for value in ("1", "1000", "0001"):
        assert sample_tree.send(row, query=f"limit={value}").status_code == 200


@pytest.mark.usefixtures("untouched")
@every_list
def test_an_unknown_cursor_is_a_bad_request_under_every_name(
    sample_tree: SampleTree, row: Operation
) -> None:
    for cursor in (*BAD_CURSORS, new_id(), MARKER, *_foreign_cursors(sample_tree, row)):
        for name in cursor_names(row):
            response = sample_tree.send(row, query=f"{name}={cursor}")
            assert refused(response, "bad_request")["field"] == cursor_names(row)[0], cursor


@pytest.mark.usefixtures("untouched")
@every_list
def test_two_cursors_that_differ_are_refused(sample_tree: SampleTree, row: Operation) -> None:
    for query in ("after=a&afterCursor=b", "after=a&after=b", f"after=&afterCursor={new_id()}"):
        assert violated(sample_tree.send(row, query=query)) == {cursor_names(row)[0]}


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("name", ["listEntries", "adminListEntries"])
@pytest.mark.parametrize(
    "epoch", ["0", "-1", "x", "1.5", "", "%00", "1e3", "000", "٣", "latest%20"]
)
def test_a_bad_epoch_is_a_bad_request(sample_tree: SampleTree, name: str, epoch: str) -> None:
    response = sample_tree.send(operation(name), query=f"epoch={epoch}")
    assert refused(response, "bad_request")["field"] == "epoch"


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("name", ["listEntries", "adminListEntries"])
def test_an_epoch_beyond_what_is_stored_is_refused_or_empty(
    sample_tree: SampleTree, name: str
) -> None:
    for epoch in (str(2**63), "9" * 5_000):
        assert violated(sample_tree.send(operation(name), query=f"epoch={epoch}")) == {"epoch"}


def test_the_largest_epoch_shows_no_memory(sample_tree: SampleTree) -> None:
    query = f"epoch={2**63 - 1}&channel=memory"
    response = sample_tree.send(operation("listEntries"), query=query)
    assert response.json() == {"data": [], "nextCursor": None}


@pytest.mark.parametrize("word", ["bogus", "", "%00", "ALL", "SENDER", "x" * 10_000, "%FF"])
def test_any_word_is_a_transfer_role(sample_tree: SampleTree, word: str) -> None:
    response = sample_tree.send(operation("listOwnershipTransfers"), query=f"role={word}")
    assert response.status_code == 200


@pytest.mark.parametrize(
    "query", ["%00", "%00%00", "%ED%A0%80", "%FF", "%", "%zz", "a%00b", "_%25"]
)
def test_any_text_is_a_valid_query(sample_tree: SampleTree, query: str) -> None:
    response = sample_tree.send(operation("listConversations"), query=f"query={query}")
    assert response.status_code == 200


def test_nul_is_dropped_from_a_query(sample_tree: SampleTree) -> None:
    wanted = f"{MARKER[:5]}%00{MARKER[5:]}"
    response = sample_tree.send(operation("listConversations"), query=f"query={wanted}&mode=roots")
    assert [c["id"] for c in response.json()["data"]] == [sample_tree.ids["id"]]


@every_list
def test_strange_and_huge_query_strings_are_read_or_ignored(
    sample_tree: SampleTree, row: Operation
) -> None:
    many = "&".join(f"p{n}={n}" for n in range(4_000))
    for query in (
        "&&&",
        "=",
        "=x",
        "&=&",
        "a;b",
        "%",
        "?",
        "after",
        "after=",
        many,
        "z=" + "y" * 60_000,
    ):
        assert sample_tree.send(row, query=query).status_code == 200, query[:100]


@pytest.mark.usefixtures("untouched")
def test_a_justification_obeys_its_limits_wherever_it_is(sample_tree: SampleTree) -> None:
    for row in (row for row in CONVERSATION_OPERATIONS if row.takes_justification):
        body = content_for(row)
        for query in (
            "justification=" + "j" * 1_001,
            "justification=%00",
            "justification=a&justification=b",
        ):
            response = sample_tree.send(row, body, query=query)
            assert violated(response) == {"justification"}, (row.name, query[:50])


def cursor_names(row: Operation) -> tuple[str, ...]:
    """What the list's cursor may be called; the first is its proper name."""
    assert row.paging is not None
    return row.paging.envelope.cursor_names


def _foreign_cursors(sample_tree: SampleTree, row: Operation) -> Iterator[str]:
    """Cursors that the server made for other lists."""
    for maker, takers in (("listMemberships", ("Memberships",)), ("listForks", TAKE_CONVERSATIONS)):
        if not row.name.endswith(takers):
            made = sample_tree.send(operation(maker), query="limit=1").json()["nextCursor"]
            yield quote(made)
    yield base64.urlsafe_b64encode(b'["memberships","x"]').decode()
    yield base64.urlsafe_b64encode(b"[" * 1_000).decode()
