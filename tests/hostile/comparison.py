"""What a stranger is told in a world with secrets and in one without, made comparable."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx2

from recollect.api.registry import MEMORY_OPERATIONS
from tests.hostile.memory_probes import Probe
from tests.hostile.secret_world import ACME, OLGA, SECRETS, Ids, Scene, a_colleague, unknown
from tests.hostile.stored import contents
from tests.support.api import headers_of
from tests.support.memory.callers import Caller

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


def told_in_both(
    scenes: tuple[Scene, Scene], who: str, probes: Iterable[Probe]
) -> Iterator[tuple[Probe, Told, Told]]:
    """Each probe, with every id that it may name: the answer about what is hidden, and the one
    about what does not exist."""
    full, empty = scenes
    here, there = full.strangers[who], empty.strangers[who]
    ids = {**full.ids, **here.ids}
    other_ids = {**empty.ids, **unknown(secrets_from(full, who)), **there.ids}
    for probe in probes:
        for number in range(_variants(probe, ids)):
            told = _told(here.caller, probe, ids, number)
            yield probe, told, _told(there.caller, probe, other_ids, number)


def secrets_from(scene: Scene, who: str) -> Ids:
    """The ids of all that is hidden from somebody."""
    return {name: scene.ids[name] for name in HIDDEN[who]}


def _variants(probe: Probe, ids: Ids) -> int:
    """How often to ask, so that every id comes at least once."""
    return max((len(ids[name]) for name in probe.names), default=1)


def _told(caller: Caller, probe: Probe, ids: Ids, number: int) -> Told:
    """What a caller can compare: without ids and times, which are each world's own."""
    chosen = {name: of[number % len(of)] for name, of in ids.items()}
    response = _sent(caller, probe, chosen)
    text = response.text
    for name in probe.names:
        text = text.replace(json.dumps(chosen[name]), f'"${name}"')
    for pattern, word in _EACH_ITS_OWN:
        text = pattern.sub(word, text)
    headers = {k: v for k, v in response.headers.items() if k not in _OWN_HEADERS}
    return response.status_code, text, tuple(f"{k}: {v}" for k, v in sorted(headers.items()))


def _sent(caller: Caller, probe: Probe, ids: Mapping[str, str]) -> httpx2.Response:
    row, body = ROWS[probe.operation], _filled(probe.body, ids)
    key = {} if probe.key is None else {"Idempotency-Key": probe.key}
    path = {name: quote(ids[of[1:]], safe="") for name, of in probe.path.items()}
    return caller.world.api.http.request(
        row.method,
        row.path.removeprefix("/v1").format(**path),
        params=_filled(probe.query, ids),
        content=None if body is None else _written(body),
        headers={"Content-Type": row.takes} | key | headers_of(caller.user.credentials),
    )


def _written(body: Any) -> str:
    lines = body if isinstance(body, list) else [body]
    return "\n".join(json.dumps(line) for line in lines)


def _filled(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(member, ids) for name, member in value.items()}
    if isinstance(value, list):
        return [_filled(item, ids) for item in value]
    named = isinstance(value, str) and value.startswith("$")
    return ids[value[1:]] if named else value


def rows_with(scene: Scene, secrets: Ids) -> set[str]:
    """All rows that hold one of these ids, or Olga's. Of the memory that colleagues may read it is
    what she reads herself: in its row stands when it was last of use to anybody."""
    marks = [OLGA, *(id_ for of in secrets.values() for id_ in of)]
    rows = (
        row for table in contents(scene.callers.world.database).items() for row in _named(table)
    )
    found = {row for row in rows if any(mark in row for mark in marks)}
    olga, shared = a_colleague(scene.callers.world, OLGA, ACME), scene.ids["org_memory"]
    used = {row for row in found if row.startswith("memories ") and any(i in row for i in shared)}
    return found - used | {str(olga.get("/memories/{}", id_).expect(200)) for id_ in shared}


def _named(table: tuple[str, list[str]]) -> Iterator[str]:
    name, rows = table
    if name != "audit_events":
        yield from (f"{name} {row}" for row in rows)
