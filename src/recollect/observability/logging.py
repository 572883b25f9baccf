"""Logging: our own events and those of libraries, one line each, in one format, to stderr.

A line contains ids, names and numbers, never user content. Content could come in by an exception's
message, a query string or a library's log arguments, so those are removed here, in the last step.
"""

import logging
import sys
from collections.abc import Iterator
from traceback import walk_tb
from types import TracebackType
from typing import Literal

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from recollect.kernel.errors import Internal, Unavailable

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["json", "console"]

WITHHELD = "[withheld]"
CONTENT_KEYS = frozenset(
    {
        "api_key",
        "authorization",
        "body",
        "content",
        "highlights",
        "indexed_content",
        "key",
        "metadata",
        "password",
        "preview",
        "query",
        "secret",
        "text",
        "title",
        "token",
        "value",
    }
)

_SERVER_LOGGERS = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi")
_FRAMES_MAX = 30


def configure(level: Level = "info", format: Format = "json") -> None:
    """Set up logging for the process; a later call replaces an earlier one.

    The middleware binds each request's id with `structlog.contextvars`.
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*_shared_processors(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(format))
    handler.addFilter(_drop_arguments)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(number)
    for name in _SERVER_LOGGERS:
        # uvicorn's loggers come with handlers of their own.
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True


def configure_in_process(level: Level) -> None:
    """Send our events to the `logging` of the process that we are a part of, unless that process
    has set up structlog itself.

    The defaults of structlog print to stdout, with the values of all variables of a failed call.
    """
    if structlog.is_configured():
        return
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            _withhold_content,
            _outline_exception,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def _shared_processors() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        _withhold_content,
    ]


def _formatter(format: Format) -> logging.Formatter:
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    render: list[Processor] = [remove_meta, _outline_exception]
    if format == "json":
        render.append(structlog.processors.JSONRenderer(ensure_ascii=False))
    else:
        render.append(structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()))
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_shared_processors(), processors=render
    )


def _withhold_content(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    for name in CONTENT_KEYS & event.keys():
        event[name] = WITHHELD
    return event


def _outline_exception(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Replace an exception by its class and the locations of its frames.

    The message is shown only for Internal and Unavailable, whose texts are written for the log.
    """
    exc_info = event.pop("exc_info", None)
    error = sys.exc_info()[1] if exc_info is True else exc_info
    if isinstance(error, tuple):
        error = error[1]
    if isinstance(error, BaseException):
        event["exception"] = "\n".join(_outline(error))
    return event


def _outline(error: BaseException) -> Iterator[str]:
    # Of a chain of exceptions only the direct cause is shown.
    known = isinstance(error, Internal | Unavailable)
    yield f"{type(error).__qualname__}: {error}" if known else type(error).__qualname__
    yield from _frames(error.__traceback__)
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        yield f"after {type(cause).__qualname__}"
        yield from _frames(cause.__traceback__)


def _frames(traceback: TracebackType | None) -> list[str]:
    frames = [
        f"  {frame.f_globals.get('__name__')}:{line} {frame.f_code.co_name}"
        for frame, line in walk_tb(traceback)
    ]
    return frames[-_FRAMES_MAX:]


def _drop_arguments(record: logging.LogRecord) -> bool:
    """A filter that removes arguments from log records of libraries, and keeps their template.

    uvicorn's messages are known: of those, only the query string is removed.
    """
    if isinstance(record.msg, dict):
        return True
    if record.name == "uvicorn.access":
        record.args = tuple(
            argument.split("?", 1)[0] if isinstance(argument, str) else argument
            for argument in record.args or ()
        )
    elif record.name not in _SERVER_LOGGERS:
        record.msg = str(record.msg).split("\n", 1)[0]
        record.args = ()
    return True
