"""Traces: what the rest of the code knows of them. Without a tracer nothing is recorded.

A request or a job opens a trace. What runs inside of it adds spans with `span`, and needs no
tracer for that: the running context has it. Names and attributes are words from our own tables,
never ids of callers and never contents.
"""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Protocol

Attributes = Mapping[str, str | int]


class RequestSpan(Protocol):
    """The span of a request that runs."""

    def end(self, status: int) -> None:
        """The request was answered with this HTTP status, or the one that stands for it."""
        ...


class Tracer(Protocol):
    """Records spans. Calls are cheap and never raise."""

    def start_request(
        self, name: str, attributes: Attributes, headers: Iterable[tuple[str, str]]
    ) -> RequestSpan:
        """Begin the span of a request, as a child of what `traceparent` in its headers names. It
        is the current span of the running context until that context ends."""
        ...

    def run_job(self, type: str, attempt: int) -> AbstractContextManager[object]:
        """A trace of its own for one run of a job."""
        ...

    def run_span(
        self, name: str, attributes: Attributes, *, outgoing: bool
    ) -> AbstractContextManager[object]:
        """A span inside the current one. `outgoing` if another system is called."""
        ...

    def outgoing_headers(self) -> dict[str, str]:
        """Headers that make the span of another system a child of the current one."""
        ...


current_tracer: ContextVar[Tracer | None] = ContextVar("recollect_tracer", default=None)
_NOTHING = nullcontext()


def span(
    name: str, *, outgoing: bool = False, **attributes: str | int
) -> AbstractContextManager[object]:
    """`with span("search.rank"):` is a part of the request or job that runs, if that is traced."""
    tracer = current_tracer.get()
    return _NOTHING if tracer is None else tracer.run_span(name, attributes, outgoing=outgoing)


def outgoing_headers() -> dict[str, str]:
    """`traceparent` for a call of another system; nothing if nothing is traced."""
    tracer = current_tracer.get()
    return {} if tracer is None else tracer.outgoing_headers()
