"""What a stranger may learn of other people's memories: nothing.

Every operation of the memory family is asked about things that are hidden, in a world that has
them, and about things that don't exist, in a world without secrets. The answers are the same:
status, headers, body, apart from the id that was asked for. Only an id that a caller chooses for
something new may turn out to be taken.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from recollect.api.memory import MEMORY_OPERATIONS
from tests.hostile.memory_probes import MINE, PROBES, REPEATING, SAID, Probe
from tests.hostile.secret_world import (
    HUSHED,
    OLGA,
    SECRETS,
    Ids,
    Scene,
    a_scene,
    unknown,
)
from tests.hostile.stored import contents
from tests.support.api import headers_of
from tests.support.engines import TestDatabase
from tests.support.town import Asker

ROWS = {row.name: row for row in MEMORY_OPERATIONS}
# What even a colleague may not know, and what nobody of another org may.
HIDDEN = {
    "colleague": SECRETS,
    "outsider": (*SECRETS, "person", "user", "org_memory"),
    "unregistered": (*SECRETS, "person", "user", "org_memory"),
}
_EACH_ITS_OWN = (
    (re.compile(r'("next_cursor": ?)"[^"]+"'), r'\1"(cursor)"'),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "(id)"),
    (re.compile(r"\bprobe-[a-z0-9]{5}\b"), "(id)"),
    (re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?"), "(time)"),
)
_OWN_HEADERS = ("x-request-id", "date", "content-length")

Told = tuple[int, str, tuple[str, ...]]


@pytest.fixture(scope="module")
def scenes(new_database: Callable[[], TestDatabase]) -> Iterator[tuple[Scene, Scene]]:
    """One with secrets and one without."""
    with ExitStack() as stack:
        full = stack.enter_context(a_scene(new_database(), secrets=True))
        yield full, stack.enter_context(a_scene(new_database(), secrets=False))


def test_every_operation_is_probed() -> None:
    assert {one.operation for one in PROBES} == set(ROWS)


@pytest.mark.parametrize("who", list(HIDDEN))
def test_a_world_with_secrets_answers_a_stranger_like_one_without(
    scenes: tuple[Scene, Scene], who: str
) -> None:
    full, empty = scenes
    here, there = full.strangers[who], empty.strangers[who]
    secrets = {name: full.ids[name] for name in HIDDEN[who]}
    ids = {**full.ids, **here.ids}
    other_ids = {**empty.ids, **unknown(secrets), **there.ids}
    before = _rows_with(full, secrets)
    told_apart: list[Any] = []
    for place, probe in enumerate((*PROBES, *REPEATING)):
        for number in range(_variants(probe, ids)):
            told = _told(here.asker, probe, ids, number)
            meant = _told(there.asker, probe, other_ids, number)
            told_apart += [(probe, number, told, meant)] if told != meant else []
            if place < len(PROBES):
                _assert_silent(told, probe, who)
    assert not told_apart
    assert before <= _rows_with(full, secrets)


@pytest.mark.parametrize("who", ["colleague", "outsider"])
def test_an_id_of_ones_choice_is_taken_and_no_more_is_said(
    scenes: tuple[Scene, Scene], who: str
) -> None:
    full, _ = scenes
    stranger = full.strangers[who]
    asker, agent_id = stranger.asker, stranger.ids["my_agent"][0]
    before = _rows_with(full, {name: full.ids[name] for name in SECRETS})
    for memory_id in full.ids["memory"]:
        body = {"id": memory_id, "content": "x"} | MINE
        refusals = [asker.post("/memories", body=body)]
        items = {"items": [{"op": "create"} | body]}
        refusals.append(asker.post("/memories/batch", body=items))
        for reply in refusals:
            assert reply.refused(409, "conflict")["reason"] == "duplicate_id"
    run_id = full.ids["run"][0]
    reply = asker.post("/runs", body={"id": run_id, "agent_id": agent_id})
    assert reply.refused(409, "conflict") == {"reason": "id_taken"}
    session = {"content": "x", "agent_id": agent_id, "scope": "session", "run_id": run_id}
    asker.post("/memories", body=session).refused(403, "not_owner")
    reply = asker.post("/agents", body={"id": full.ids["agent"][0]})
    assert reply.refused(409, "conflict") == {"reason": "id_taken"}
    for chat_id in full.ids["chat"]:
        reply = asker.put("/chats/{}", chat_id, body={"kind": "group"})
        assert reply.refused(404, "not_found") == {"resource": "chat", "id": chat_id}
    assert _rows_with(full, {name: full.ids[name] for name in SECRETS}) == before


@pytest.mark.parametrize("mode", ["fail", "merge", "replace"])
@pytest.mark.parametrize("who", ["colleague", "outsider"])
def test_who_imports_an_export_of_others_gets_none_of_their_things(
    scenes: tuple[Scene, Scene], who: str, mode: str
) -> None:
    full, _ = scenes
    stranger, admin = full.strangers[who].asker, full.town.admin
    secrets = {name: full.ids[name] for name in SECRETS}
    before = _rows_with(full, secrets)
    lines = _http(admin, "GET", "/export", {"status": "all"}).text
    assert SAID in lines
    answer = _http(stranger, "POST", "/import", {"dry_run": "false", "mode": mode}, lines)
    assert answer.status_code == 200, answer.text
    assert before <= _rows_with(full, secrets)
    for memory_id in full.ids["memory"]:
        stranger.get("/memories/{}", memory_id).refused(404, "not_found")
    for chat_id in full.ids["chat"]:
        stranger.get("/chats/{}", chat_id).refused(404, "not_found")
    stranger.get("/runs/{}", full.ids["run"][0]).refused(404, "not_found")
    stranger.get("/approvals/{}", full.ids["approval"][0]).refused(404, "not_found")


def _variants(probe: Probe, ids: Ids) -> int:
    """How often to ask, so that every id comes at least once."""
    return max((len(ids[name]) for name in probe.names), default=1)


def _told(asker: Asker, probe: Probe, ids: Ids, number: int) -> Told:
    """What a caller can compare: without ids and times, which are each world's own."""
    chosen = {name: of[number % len(of)] for name, of in ids.items()}
    response = _sent(asker, probe, chosen)
    text = response.text
    for name in probe.names:
        text = text.replace(json.dumps(chosen[name]), f'"${name}"')
    for pattern, word in _EACH_ITS_OWN:
        text = pattern.sub(word, text)
    headers = {k: v for k, v in response.headers.items() if k not in _OWN_HEADERS}
    return response.status_code, text, tuple(f"{k}: {v}" for k, v in sorted(headers.items()))


def _sent(asker: Asker, probe: Probe, ids: Mapping[str, str]) -> httpx.Response:
    row, body = ROWS[probe.operation], _filled(probe.body, ids)
    path = {name: quote(ids[of[1:]], safe="") for name, of in probe.path.items()}
    return asker.world.api.http.request(
        row.method,
        row.path.removeprefix("/v1").format(**path),
        params=_filled(probe.query, ids),
        content=None if body is None else body if isinstance(body, str) else json.dumps(body),
        headers={"Content-Type": row.takes} | headers_of(asker.user.credentials),
    )


def _http(
    asker: Asker, method: str, path: str, query: dict[str, str], lines: str | None = None
) -> httpx.Response:
    headers = {"Content-Type": "application/x-ndjson"} | headers_of(asker.user.credentials)
    return asker.world.api.http.request(method, path, params=query, content=lines, headers=headers)


def _filled(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(member, ids) for name, member in value.items()}
    if isinstance(value, list):
        return [_filled(item, ids) for item in value]
    named = isinstance(value, str) and value.startswith("$")
    return ids[value[1:]] if named else value


def _assert_silent(told: Told, probe: Probe, who: str) -> None:
    assert told[0] < 500, (probe, told)
    assert SAID not in told[1].lower(), (probe, told)
    if who != "colleague":
        assert HUSHED not in told[1], (probe, told)


def _rows_with(scene: Scene, secrets: Ids) -> set[str]:
    """All rows that hold one of these ids, or Olga's."""
    marks = [OLGA, *(id_ for of in secrets.values() for id_ in of)]
    rows = (row for table in contents(scene.town.world.database).items() for row in _named(table))
    return {row for row in rows if any(mark in row for mark in marks)}


def _named(table: tuple[str, list[str]]) -> Iterator[str]:
    name, rows = table
    if name != "audit_events":
        yield from (f"{name} {row}" for row in rows)
