"""Every way by which a text gets into the memory family."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.api import Reply
from tests.support.memory.callers import Caller
from tests.support.memory.portability import a_line, imports
from tests.support.world import new_id

MINE: dict[str, Any] = {"space": {"kind": "user"}}


@dataclass(frozen=True, slots=True)
class Home:
    """Somebody with something that can be changed."""

    caller: Caller
    statement: str
    record: str
    person: str
    agent: str


def a_home(caller: Caller) -> Home:
    """One of everything that a text can be put into."""
    record = {"key": "k", "value": {"n": "plain"}} | MINE
    return Home(
        caller,
        statement=caller.adds(f"plain {new_id()}", **MINE)["id"],
        record=caller.post("/memories", body=record).expect(201)["id"],
        person=caller.post("/people", body={"name": f"Sam {new_id()}"}).expect(201)["id"],
        agent=caller.registers()["id"],
    )


def _posted(path: str, body: Callable[[str], Mapping[str, Any]]) -> Callable[[Home, str], Reply]:
    return lambda home, text: home.caller.post(path, body=dict(body(text)))


def _batched(home: Home, item: Mapping[str, Any]) -> Reply:
    return home.caller.post("/memories/batch", body={"items": [dict(item)]})


def _changed(home: Home, memory_id: str, body: Mapping[str, Any]) -> Reply:
    return home.caller.patch("/memories/{}", memory_id, body=dict(body))


WAYS: dict[str, Callable[[Home, str], Reply]] = {
    "add": _posted("/memories", lambda text: {"content": text} | MINE),
    "record": _posted("/memories", lambda text: {"key": "k", "value": {"note": text}} | MINE),
    "patch": lambda home, text: _changed(home, home.statement, {"content": text}),
    "patch of a record": lambda home, text: _changed(home, home.record, {"value": {"n": text}}),
    "batch": lambda home, text: _batched(home, {"op": "create", "content": text} | MINE),
    "person": _posted("/people", lambda text: {"name": text}),
    "alias": lambda home, text: home.caller.post(
        "/people/{}/aliases", home.person, body={"value": text}
    ),
    "chat title": lambda home, text: home.caller.put(
        "/chats/{}", new_id(), body={"kind": "group", "title": text}
    ),
    "agent name": _posted("/agents", lambda text: {"id": f"a-{new_id()[-12:]}", "name": text}),
    "run metadata": lambda home, text: home.caller.post(
        "/runs", body={"agent_id": home.agent, "metadata": {"note": text}}
    ),
}


def import_codes(caller: Caller, texts: Iterable[str]) -> set[str]:
    """By which codes an import refuses lines that hold these texts; all of them, or none."""
    lines = [line for text in texts for line in _lines(text)]
    report = imports(caller, lines)
    assert len(report["refused"]) in (0, len(lines)), report
    return {one["code"] for one in report["refused"]}


def _lines(text: str) -> list[dict[str, Any]]:
    record = {"content": None, "key": "k", "value": {"note": text}}
    return [a_line(text), a_line() | record, a_line(metadata={"note": text})]
