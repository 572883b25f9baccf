"""What a refusal shows: the field, what would be right; and that it leaves nothing behind."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.hostile.stored import contents
from tests.scenarios.conftest import LoggedServer
from tests.scenarios.write_paths import MINE, Home, a_home
from tests.support.api import Reply
from tests.support.memory.portability import a_line, codes, imports
from tests.support.world import new_id

# The word stands in every text that is refused here, and nowhere else.
WORD = "zqrefusal"
SSN = "219-09-9999"
EVENTS = "audit_events"
OPEN = {"visibility": "public"}
IMMUTABLE = {
    "id": WORD,
    "kind": "record",
    "key": WORD,
    "space": {"kind": "user"},
    "visibility": "public",
    "scope": "org",
    "agent_id": WORD,
    "run_id": WORD,
    "created_at": "2026-01-01T00:00:00Z",
    "observed_at": "2026-01-01T00:00:00Z",
    "stated_by": WORD,
    "learned_in": WORD,
}


@dataclass(frozen=True, slots=True)
class Case:
    """Members of a write, how they are refused, and what the answer says would be right."""

    members: dict[str, Any]
    code: str
    field: str
    right: str


CASES = {
    "secret": Case(
        MINE | {"content": f"API key: sk-{WORD}"}, "secret_refused", "content", "without"
    ),
    "secret in a record": Case(
        MINE | {"key": "k", "value": {"note": f"the passcode is {WORD}48"}},
        "secret_refused",
        "value.note",
        "without",
    ),
    "critical data in public": Case(
        {"content": f"{WORD} {SSN}", "agent_id": "$dual"} | OPEN,
        "pii_not_allowed",
        "content",
        "private",
    ),
    "critical data in the org": Case(
        {"content": f"{WORD} {SSN}", "agent_id": "$dual", "scope": "org"},
        "pii_not_allowed",
        "content",
        "private",
    ),
    "critical tag in public": Case(
        {"content": WORD, "agent_id": "$dual", "pii_tags": ["health"]} | OPEN,
        "pii_not_allowed",
        "pii_tags",
        "private",
    ),
    "personal in public": Case(
        {"content": WORD, "agent_id": "$dual", "sensitivity": "personal"} | OPEN,
        "sensitivity_not_allowed",
        "sensitivity",
        "`public`",
    ),
    "private in single mode": Case(
        {"content": WORD, "agent_id": "$single", "visibility": "private"},
        "private_unavailable",
        "visibility",
        'visibility: "public"',
    ),
    "record in single mode": Case(
        {"key": "k", "value": {"a": WORD}, "agent_id": "$single"},
        "private_unavailable",
        "visibility",
        'visibility: "public"',
    ),
    "unknown tag": Case(
        MINE | {"content": WORD, "pii_tags": [WORD]},
        "validation_error",
        "pii_tags[0]",
        "address, biometric, credit_card",
    ),
    "unknown policy": Case(
        MINE | {"content": WORD, "retention_policy": WORD},
        "policy_scope",
        "retention_policy",
        "dev, production, compliance, permanent",
    ),
    "misspelt member": Case(
        {"content": WORD, "agent_id": "$dual", "visibilty": "private"},
        "validation_error",
        "visibilty",
        "did you mean `visibility`?",
    ),
}
CHANGES = {
    "secret": Case({"content": f"API key: sk-{WORD}"}, "secret_refused", "content", "without"),
    "critical data in public": Case(
        {"content": f"{WORD} {SSN}"}, "pii_not_allowed", "content", "private"
    ),
    "unknown tag": Case({"pii_tags": [WORD]}, "validation_error", "pii_tags[0]", "address, bio"),
    "unknown policy": Case(
        {"retention_policy": WORD}, "policy_scope", "retention_policy", "dev, production"
    ),
    "misspelt member": Case({"tagz": [WORD]}, "validation_error", "tagz", "did you mean `tags`?"),
    **{
        f"immutable {name}": Case(
            {name: value}, "immutable_field", name, "write a new memory, or move this one"
        )
        for name, value in IMMUTABLE.items()
    },
}


@dataclass(frozen=True, slots=True)
class Stage:
    """A home with agents of both modes and a public memory."""

    home: Home
    agents: dict[str, str]
    public: str

    def filled(self, members: dict[str, Any]) -> dict[str, Any]:
        """With an agent's id where its mode stands."""
        agent = members.get("agent_id", "")
        return members | ({"agent_id": self.agents[agent]} if agent in self.agents else {})


@pytest.fixture(scope="module")
def stage(logged_server: LoggedServer) -> Stage:
    home = a_home(logged_server.callers.person("ann"))
    single = home.caller.registers(space_mode="single")["id"]
    public = home.caller.adds(f"plain {new_id()}", agent_id=home.agent)["id"]
    return Stage(home, {"$dual": home.agent, "$single": single}, public)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("batch", [False, True], ids=["alone", "batch"])
def test_a_refused_write_says_why_and_leaves_nothing(
    logged_server: LoggedServer, stage: Stage, name: str, batch: bool
) -> None:
    case, caller = CASES[name], stage.home.caller
    body = stage.filled(case.members)
    items = {"items": [{"op": "create", "content": f"fine {WORD}"} | MINE, {"op": "create"} | body]}
    path, sent = ("/memories/batch", items) if batch else ("/memories", body)
    assert_refused(logged_server, case, lambda: caller.post(path, body=sent))


@pytest.mark.parametrize("name", CHANGES)
def test_a_refused_change_says_why_and_leaves_nothing(
    logged_server: LoggedServer, stage: Stage, name: str
) -> None:
    case, caller, id_ = CHANGES[name], stage.home.caller, stage.public
    assert_refused(
        logged_server, case, lambda: caller.patch("/memories/{}", id_, body=case.members)
    )
    if "id" in case.members:
        return
    items = [{"op": "update", "id": id_} | case.members]
    body = {"items": items}
    assert_refused(logged_server, case, lambda: caller.post("/memories/batch", body=body))


def test_a_refused_line_of_an_import_leaves_nothing(
    logged_server: LoggedServer, stage: Stage
) -> None:
    open_space = {"space": {"kind": "agent_public", "id": stage.home.agent}}
    lines = [
        a_line(f"API key: sk-{WORD}"),
        a_line(f"{WORD} {SSN}", agent_id=stage.home.agent, **open_space),
        a_line(WORD, pii_tags=[WORD]),
        a_line(WORD, retention_policy=WORD),
        a_line(WORD, visibilty="private"),
    ]
    before = _rows(logged_server)
    report = imports(stage.home.caller, lines)
    assert [code for _, code in codes(report)] == [
        "secret_refused",
        "pii_not_allowed",
        "validation_error",
        "policy_scope",
        "validation_error",
    ]
    assert WORD not in str(report)
    assert _rows(logged_server) == before
    assert WORD not in logged_server.written()


def assert_refused(logged_server: LoggedServer, case: Case, send: Callable[[], Reply]) -> None:
    """By code, field and advice; and nothing but events is new, none with a word of it."""
    before = _rows(logged_server)
    reply = send()
    details = reply.refused(422, case.code)
    fields = [one["field"] for one in details.get("violations", ())] or [details["field"]]
    assert fields == [case.field]
    assert case.right in reply.body["error"]
    assert WORD not in str(reply.body)
    assert SSN not in str(reply.body)
    assert _rows(logged_server) == before
    written = logged_server.written()
    assert WORD not in written
    assert SSN not in written


def _rows(logged_server: LoggedServer) -> dict[str, list[str]]:
    rows = contents(logged_server.process.database)
    rows.pop(EVENTS)
    return rows
