"""What a stranger may learn of other people's memories: nothing.

Every operation of the memory family is asked about things that are hidden, in a world that has
them, and about things that don't exist, in a world without secrets. The answers are the same:
status, headers, body, apart from the id that was asked for. Only an id that a caller chooses for
something new may turn out to be taken.
"""

from typing import Any

import httpx2
import pytest

from tests.hostile.comparison import HIDDEN, ROWS, Told, rows_with, secrets_from, told_in_both
from tests.hostile.memory_probes import MINE, PROBES, REPEATING, SAID, Probe
from tests.hostile.secret_world import HUSHED, SECRETS, Scene
from tests.support.api import headers_of
from tests.support.memory.callers import Caller


def test_every_operation_is_probed() -> None:
    assert {one.operation for one in PROBES} == set(ROWS)


@pytest.mark.parametrize("who", list(HIDDEN))
def test_a_world_with_secrets_answers_a_stranger_like_one_without(
    scenes: tuple[Scene, Scene], who: str
) -> None:
    full, _ = scenes
    secrets = secrets_from(full, who)
    before = rows_with(full, secrets)
    told_apart: list[Any] = []
    for probe, told, meant in told_in_both(scenes, who, (*PROBES, *REPEATING)):
        told_apart += [(probe, told, meant)] if told != meant else []
        if probe not in REPEATING:
            _assert_silent(told, probe, who)
    assert not told_apart
    assert before <= rows_with(full, secrets)


@pytest.mark.parametrize("who", ["colleague", "outsider"])
def test_an_id_of_ones_choice_is_taken_and_no_more_is_said(
    scenes: tuple[Scene, Scene], who: str
) -> None:
    full, _ = scenes
    stranger = full.strangers[who]
    caller, agent_id = stranger.caller, stranger.ids["my_agent"][0]
    before = rows_with(full, {name: full.ids[name] for name in SECRETS})
    for memory_id in full.ids["memory"]:
        body = {"id": memory_id, "content": "x"} | MINE
        refusals = [caller.post("/memories", body=body)]
        items = {"items": [{"op": "create"} | body]}
        refusals.append(caller.post("/memories/batch", body=items))
        for reply in refusals:
            assert reply.refused(409, "conflict")["reason"] == "duplicate_id"
    run_id = full.ids["run"][0]
    reply = caller.post("/runs", body={"id": run_id, "agent_id": agent_id})
    assert reply.refused(409, "conflict") == {"reason": "id_taken"}
    session = {"content": "x", "agent_id": agent_id, "scope": "session", "run_id": run_id}
    caller.post("/memories", body=session).refused(403, "not_owner")
    reply = caller.post("/agents", body={"id": full.ids["agent"][0]})
    assert reply.refused(409, "conflict") == {"reason": "id_taken"}
    for chat_id in full.ids["chat"]:
        reply = caller.put("/chats/{}", chat_id, body={"kind": "group"})
        assert reply.refused(404, "not_found") == {"resource": "chat", "id": chat_id}
    assert rows_with(full, {name: full.ids[name] for name in SECRETS}) == before


@pytest.mark.parametrize("mode", ["fail", "merge", "replace"])
@pytest.mark.parametrize("who", ["colleague", "outsider"])
def test_who_imports_an_export_of_others_gets_none_of_their_things(
    scenes: tuple[Scene, Scene], who: str, mode: str
) -> None:
    full, _ = scenes
    stranger, admin = full.strangers[who].caller, full.callers.admin
    secrets = {name: full.ids[name] for name in SECRETS}
    before = rows_with(full, secrets)
    lines = _http(admin, "GET", "/export", {"status": "all"}).text
    assert SAID in lines
    answer = _http(stranger, "POST", "/import", {"dry_run": "false", "mode": mode}, lines)
    assert answer.status_code == 200, answer.text
    assert before <= rows_with(full, secrets)
    for memory_id in full.ids["memory"]:
        stranger.get("/memories/{}", memory_id).refused(404, "not_found")
    for chat_id in full.ids["chat"]:
        stranger.get("/chats/{}", chat_id).refused(404, "not_found")
    stranger.get("/runs/{}", full.ids["run"][0]).refused(404, "not_found")
    stranger.get("/approvals/{}", full.ids["approval"][0]).refused(404, "not_found")


def _http(
    caller: Caller, method: str, path: str, query: dict[str, str], lines: str | None = None
) -> httpx2.Response:
    headers = {"Content-Type": "application/x-ndjson"} | headers_of(caller.user.credentials)
    return caller.world.api.http.request(method, path, params=query, content=lines, headers=headers)


def _assert_silent(told: Told, probe: Probe, who: str) -> None:
    assert told[0] < 500, (probe, told)
    assert SAID not in told[1].lower(), (probe, told)
    if who != "colleague":
        assert HUSHED not in told[1], (probe, told)
