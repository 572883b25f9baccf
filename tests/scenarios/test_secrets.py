"""Each text of the contract by each way in: refused without a trace, or kept as it was sent."""

import pytest

from tests.scenarios.conftest import LoggedServer
from tests.scenarios.secret_texts import (
    ACCEPTED,
    ACCEPTED_RECORD,
    REFUSED,
    SECRET_RECORD,
    SPACED_CARD,
)
from tests.scenarios.write_paths import MINE, WAYS, Home, a_home, import_codes

pytestmark = pytest.mark.scenario(50)


@pytest.fixture
def home(logged_server: LoggedServer) -> Home:
    return a_home(logged_server.callers.person("ann"))


@pytest.mark.parametrize("way", WAYS)
def test_a_refused_text_is_refused_by_each_way_in_and_written_nowhere(
    logged_server: LoggedServer, home: Home, way: str
) -> None:
    for text, part in REFUSED.values():
        reply = WAYS[way](home, text)
        assert set(reply.refused(422, "secret_refused")) >= {"field", "family"}, text
        assert part not in str(reply.body).lower()
    assert_unwritten(logged_server)


def test_an_import_refuses_each_of_them_and_writes_none(
    logged_server: LoggedServer, home: Home
) -> None:
    texts = [text for text, _ in REFUSED.values()]
    assert import_codes(home.caller, texts) == {"secret_refused"}
    assert_unwritten(logged_server)


def test_a_member_named_as_a_secret_is_refused_in_new_and_in_changed_records(home: Home) -> None:
    body = {"key": "k", "value": SECRET_RECORD}
    replies = [
        home.caller.post("/memories", body=body | MINE),
        home.caller.patch("/memories/{}", home.record, body={"value": SECRET_RECORD}),
        home.caller.post("/memories/batch", body={"items": [{"op": "create"} | body | MINE]}),
    ]
    for reply in replies:
        details = reply.refused(422, "secret_refused")
        assert details["family"] == "record_member"
        assert "zqx" not in str(reply.body)


@pytest.mark.parametrize("way", WAYS)
def test_an_accepted_text_is_accepted_by_each_way_in(home: Home, way: str) -> None:
    statuses = {text: WAYS[way](home, text).status for text in ACCEPTED}
    assert set(statuses.values()) <= {200, 201}, statuses


def test_an_accepted_text_is_stored_as_it_was_sent(home: Home) -> None:
    written = [home.caller.adds(text, **MINE)["id"] for text in ACCEPTED]
    read = [home.caller.get("/memories/{}", id_).expect(200)["content"] for id_ in written]
    assert read == list(ACCEPTED)
    body = {"key": "rules", "value": ACCEPTED_RECORD} | MINE
    rules = home.caller.post("/memories", body=body).expect(201)["memory"]
    assert rules["value"] == ACCEPTED_RECORD
    assert import_codes(home.caller, ACCEPTED) == set()


def test_the_digits_of_a_spaced_card_are_tagged_and_in_no_log(
    logged_server: LoggedServer, home: Home
) -> None:
    assert home.caller.adds(f"My card is {SPACED_CARD}", **MINE)["pii_tags"] == ["credit_card"]
    body = {"key": "payment", "value": {"note": SPACED_CARD}} | MINE
    record = home.caller.post("/memories", body=body).expect(201)["memory"]
    assert record["pii_tags"] == ["credit_card"]
    home.caller.patch("/memories/{}", record["id"], body={"pii_tags": []}).expect(200)
    assert home.caller.get("/memories/{}", record["id"]).expect(200)["pii_tags"] == ["credit_card"]
    assert SPACED_CARD not in logged_server.process.logged_of_all()


def assert_unwritten(logged_server: LoggedServer) -> None:
    """Neither log nor database, with its events, holds a part of a refused text."""
    written = logged_server.written()
    assert '"status": 422' in logged_server.process.logged()
    assert not [part for _, part in REFUSED.values() if part in written]
