"""Reads that look for a caller's memories in all spaces, and that an index therefore has to narrow:
which request each of them sends. What a caller may read is the same in each database."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from urllib.parse import urlencode

from bench.harness import memory_library
from bench.harness.seeds import START
from bench.harness.server import request
from recollect.kernel.clock import to_text

ReadRequest = Callable[[str, str], bytes]
"""Of a user, who asks a question. Not every read has one."""

_LIMIT = 10
# After the last memory. All was recorded by then, and every row is judged as it was.
_AS_OF = to_text(START + timedelta(days=20))


def search(user: str, question: str) -> bytes:
    """In one's own space."""
    return _post("search", user, query=question, user_id=user, limit=_LIMIT)


def recall(user: str, question: str) -> bytes:
    """The same, for a prompt."""
    return _post("recall", user, query=question, user_id=user)


def _search_in_group(user: str, question: str) -> bytes:
    chat_id = memory_library.group_of(user)
    return _post("search", user, query=question, chat_id=chat_id, limit=_LIMIT)


def _recall_latest(user: str, _: str) -> bytes:
    return _post("recall", user)


def _search_as_of(user: str, question: str) -> bytes:
    return _post("search", user, query=question, spaces="all", as_of=_AS_OF, limit=_LIMIT)


def _list_all(user: str, _: str) -> bytes:
    return _get("memories", user, spaces="all")


def _list_by_chat(user: str, _: str) -> bytes:
    return _get("memories", user, chat_id=memory_library.private_chat_of(user))


def _list_events(user: str, _: str) -> bytes:
    return _get("events", user)


def _export(user: str, _: str) -> bytes:
    return _get("export", user)


FLAT_READS: Mapping[str, ReadRequest] = {
    "memory-latest": _recall_latest,
    "memory-as-of": _search_as_of,
    "memory-all": _list_all,
    "memory-chat": _list_by_chat,
    "memory-group": _search_in_group,
    "memory-events": _list_events,
    "memory-export": _export,
}


def _post(path: str, user: str, **body: object) -> bytes:
    return request("POST", f"/v1/memories/{path}", user_id=user, body=body)


def _get(path: str, user: str, **asked: str) -> bytes:
    query = f"?{urlencode(asked)}" if asked else ""
    return request("GET", f"/v1/{path}{query}", user_id=user)
