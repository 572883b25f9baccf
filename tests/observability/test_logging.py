"""Log lines: one format for all, and no content in any."""

import asyncio
import json
import logging
from typing import Any

import pytest
import structlog

from recollect.kernel.errors import Internal, InvalidInput
from recollect.observability.logging import CONTENT_KEYS, WITHHELD, configure

HUSH = "purple elephants"

pytestmark = pytest.mark.usefixtures("logging_restored")


def logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The lines so far, none of which may hold content."""
    output = capsys.readouterr()
    assert output.out == ""
    assert HUSH not in output.err
    return [json.loads(line) for line in output.err.splitlines()]


def test_a_line_has_time_level_event_and_the_requests_id(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure("info", "json")
    with structlog.contextvars.bound_contextvars(request_id="r-1"):
        structlog.get_logger("recollect.test").info("done", entry_id="e-1", rows=3)
        logging.getLogger("uvicorn.error").info("Started server process [%d]", 7)
    structlog.get_logger("recollect.test").info("later")
    ours, servers, later = logged(capsys)
    assert (ours["event"], ours["level"], ours["logger"]) == ("done", "info", "recollect.test")
    assert (ours["entry_id"], ours["rows"], ours["request_id"]) == ("e-1", 3, "r-1")
    assert ours["time"].endswith("Z")
    assert servers["event"] == "Started server process [7]"
    assert servers["request_id"] == "r-1"
    assert "request_id" not in later


def test_lines_below_the_level_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    configure("warning", "json")
    for logger in (structlog.get_logger("a"), logging.getLogger("b")):
        logger.info("small")
        logger.warning("large")
    assert [line["event"] for line in logged(capsys)] == ["large", "large"]


def test_configuring_again_replaces_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", "json")
    configure("error", "json")
    structlog.get_logger("a").info("small")
    structlog.get_logger("a").error("large")
    assert [line["event"] for line in logged(capsys)] == ["large"]


def test_members_that_hold_content_are_withheld(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", "json")
    structlog.get_logger("a").info("stored", **dict.fromkeys(CONTENT_KEYS, HUSH))
    (line,) = logged(capsys)
    assert {line[name] for name in CONTENT_KEYS} == {WITHHELD}


@pytest.mark.parametrize("format", ["json", "console"])
def test_an_exception_is_told_without_its_message(
    capsys: pytest.CaptureFixture[str], format: Any
) -> None:
    configure("info", format)

    def fail(hidden: str) -> None:
        try:
            raise KeyError(hidden)
        except KeyError as error:
            raise InvalidInput(f"bad value {hidden}") from error

    for logger in (structlog.get_logger("a"), logging.getLogger("uvicorn.error")):
        try:
            fail(HUSH)
        except InvalidInput:
            logger.exception("request_failed")
    text = capsys.readouterr().err
    assert HUSH not in text
    assert text.count("InvalidInput") == text.count("after KeyError") == 2
    assert "test_logging" in text
    assert "request_failed" in text


def test_a_fault_of_ours_is_told_with_its_ids(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", "json")
    error = Internal("entries.content of row r1 does not open with key 'k'")
    structlog.get_logger("a").error("request_failed", exc_info=error)
    (line,) = logged(capsys)
    assert line["exception"].startswith("Internal: entries.content of row r1")


def test_the_access_log_has_no_query_string(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", "json")
    path = f"/v1/conversations?query={HUSH}"
    logging.getLogger("uvicorn.access").info(
        '%s - "%s %s HTTP/%s" %d', "127.0.0.1:5", "GET", path, "1.1", 200
    )
    (line,) = logged(capsys)
    assert line["event"] == '127.0.0.1:5 - "GET /v1/conversations HTTP/1.1" 200'


def test_of_a_librarys_message_only_the_template_is_kept(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure("info", "json")
    logging.getLogger("some.driver").warning("slow statement %s took %d ms", HUSH, 7)
    (line,) = logged(capsys)
    assert line["event"] == "slow statement %s took %d ms"


def test_a_lost_task_is_told_without_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", "json")

    async def lose() -> None:
        loop = asyncio.get_running_loop()
        error = ValueError(HUSH)
        loop.call_exception_handler(
            {"message": "Task exception was never retrieved", "exception": error, "task": HUSH}
        )

    asyncio.run(lose())
    (line,) = logged(capsys)
    assert line["event"] == "Task exception was never retrieved"
    assert line["exception"].startswith("ValueError")
