"""Writes the synchronous twin of a module: the same words without `async` and `await`."""

import re

# What has another name where nothing is awaited.
_NAMES = {
    "AsyncIterator": "Iterator",
    "AsyncIterable": "Iterable",
    "AbstractAsyncContextManager": "AbstractContextManager",
    "AsyncClient": "Client",
    "AsyncExitStack": "ExitStack",
    "asynccontextmanager": "contextmanager",
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "aiter_lines": "iter_lines",
    "aread": "read",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "StopAsyncIteration": "StopIteration",
    "asend": "send",
    "asleep": "sleep",
    "async_transport": "transport",
    "_async": "_sync",
    "asyncio": "time",
}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORD = re.compile(r"\b(?:async|await)\s+")
_HEADER = "# Written by the code generator from `_async/{name}`: change that file instead.\n"


def write_twin(name: str, text: str) -> str:
    """The synchronous text of the module `_async/<name>`."""
    plain = _KEYWORD.sub("", text)
    return _HEADER.format(name=name) + _WORD.sub(lambda found: _rename(found[0]), plain)


def _rename(word: str) -> str:
    if word in _NAMES:
        return _NAMES[word]
    # Our own classes: AsyncRecollect is Recollect.
    return word.removeprefix("Async") if word.startswith("Async") and word != "Async" else word
