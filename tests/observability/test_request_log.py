"""Lines about requests."""

import io
import json
import threading

from recollect.observability.request_log import BufferedRequestLog


def test_a_line_is_json_with_names_and_numbers_only() -> None:
    stream = io.StringIO()
    log = BufferedRequestLog(stream, "json")
    log.write("r1", method="GET", route="/v1/health", status=200, seconds=0.0123)
    log.close()
    line = json.loads(stream.getvalue())
    assert line.pop("time").endswith("Z")
    assert line == {
        "event": "request",
        "request_id": "r1",
        "method": "GET",
        "route": "/v1/health",
        "status": 200,
        "milliseconds": 12.3,
        "level": "info",
        "logger": "recollect.rest",
    }


def test_lines_come_in_order_and_none_is_lost_at_the_end() -> None:
    stream = io.StringIO()
    log = BufferedRequestLog(stream, "console")
    for number in range(500):
        log.write(f"r{number}", method="GET", route="/x", status=200, seconds=0.0)
    log.close()
    lines = stream.getvalue().splitlines()
    assert [line.split("request_id=")[1].split()[0] for line in lines] == [
        f"r{number}" for number in range(500)
    ]


def test_lines_are_written_without_waiting_for_the_end() -> None:
    written = threading.Event()

    class Stream(io.StringIO):
        def flush(self) -> None:
            if self.getvalue():
                written.set()

    log = BufferedRequestLog(Stream(), "json")
    log.write("r1", method="GET", route="/x", status=200, seconds=0.0)
    assert written.wait(10)
    log.close()


def test_a_log_that_nobody_reads_stops_no_request() -> None:
    stream = io.StringIO()
    stream.close()
    log = BufferedRequestLog(stream, "json")
    log.write("r1", method="GET", route="/x", status=200, seconds=0.0)
    log.close()
    log.write("r2", method="GET", route="/x", status=200, seconds=0.0)
