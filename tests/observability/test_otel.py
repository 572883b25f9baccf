"""Traces and metrics for a collector: what a server sends, and what it never sends."""

import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import httpx2
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from recollect_client import Recollect
from tests.client.conftest import server_url
from tests.support.engines import a_fast_folder, a_sqlite_database
from tests.support.hosting import a_world
from tests.support.searching import embedding_flags
from tests.support.servers.embedding import EmbeddingServer
from tests.support.servers.otlp import Collector, attributes

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TEXT = "Ann can't eat peanuts."
STAGES = ["search.embed", "search.gather", "search.fresh", "search.rank", "search.page"]


class Seen(NamedTuple):
    """What the collector got, the last `/metrics` page, and what the embedding endpoint got."""

    collector: Collector
    page: str
    embeddings: EmbeddingServer


@pytest.fixture(scope="module")
def seen() -> Iterator[Seen]:
    """A server that was used and stopped: a stop sends what is left."""
    with a_fast_folder() as folder, Collector() as collector, EmbeddingServer() as embeddings:
        flags = embedding_flags(embeddings) | {
            "auth.mode": "local",
            "otel.enabled": True,
            "otel.endpoint": collector.url,
        }
        with a_world(a_sqlite_database(folder), flags) as world:
            url = server_url(world.api)
            with Recollect.connect(url) as memory:
                memory.user("ann-4711").remember(TEXT, wait="extracted")
                memory.user("ann-4711").search("peanuts")
            caller = {"traceparent": f"00-{TRACE}-{PARENT}-01", "x-requester-id": "ann-4711"}
            httpx2.get(f"{url}/v1/memories/not-there", headers=caller)
            page = httpx2.get(f"{url}/metrics").text
        yield Seen(collector, page, embeddings)


def test_a_request_is_a_child_of_the_callers_span_and_named_after_its_operation(
    seen: Seen,
) -> None:
    (asked,) = seen.collector.named("GET /v1/memories/{memory_id}")
    assert (asked.trace_id.hex(), asked.parent_span_id.hex()) == (TRACE, PARENT)
    assert asked.kind == Span.SPAN_KIND_SERVER
    assert attributes(asked)["http.response.status_code"] == 404


def test_transactions_are_inside_of_their_request(seen: Seen) -> None:
    (written,) = seen.collector.named("POST /v1/memories")
    inside = seen.collector.below(written)
    assert {attributes(span)["kind"] for span in inside if span.name == "transaction"} == {
        "read",
        "write",
    }
    assert {span.trace_id for span in inside} == {written.trace_id}


def test_a_search_has_a_span_for_each_stage(seen: Seen) -> None:
    (searched,) = seen.collector.named("POST /v1/memories/search")
    names = [span.name for span in seen.collector.below(searched)]
    assert [name for name in STAGES if name not in names] == []


def test_a_job_is_a_trace_of_its_own_and_calls_the_endpoint_inside_of_it(seen: Seen) -> None:
    jobs = [span for span in seen.collector.spans if span.name.startswith("job ")]
    assert jobs
    assert {span.parent_span_id for span in jobs} == {b""}
    inside = [span for job in jobs for span in seen.collector.below(job)]
    (call,) = [span for span in inside if span.name == "embeddings"]
    assert call.kind == Span.SPAN_KIND_CLIENT
    sent = [headers["traceparent"].split("-")[1:3] for headers in seen.embeddings.headers]
    assert [call.trace_id.hex(), call.span_id.hex()] in sent


def test_the_collector_gets_the_numbers_of_the_metrics_page(seen: Seen) -> None:
    shown = {
        line.split()[2].removesuffix("_total")
        for line in seen.page.splitlines()
        if line.startswith("# TYPE recollect_")
    }
    assert shown == set(seen.collector.metrics)
    of_route = {
        attributes(point)["route"]: (point.as_int, attributes(point)["status"])
        for point in seen.collector.metrics["recollect_requests"].sum.data_points
    }
    assert of_route["/v1/memories/search"] == (1, 200)
    line = 'recollect_requests_total{method="POST",route="/v1/memories/search",status="200"} 1.0'
    assert line in seen.page.splitlines()


def test_the_sender_is_named(seen: Seen) -> None:
    assert {resource["service.name"] for resource in seen.collector.resources} == {"recollect"}


def test_no_content_and_no_id_is_sent(seen: Seen) -> None:
    sent = b"".join(seen.collector.bodies).lower()
    assert b"/v1/memories" in sent
    for kept in ("peanuts", "ann-4711", "not-there"):
        assert kept.encode() not in sent


def test_a_grpc_call_is_named_after_its_method() -> None:
    with a_fast_folder() as folder, Collector() as collector:
        flags = {"otel.enabled": True, "otel.endpoint": collector.url, "otel.metrics": False}
        with a_world(a_sqlite_database(folder), flags, surface="grpc") as world:
            world.nobody.call("health").expect(200)
        (called,) = [span for span in collector.spans if span.kind == Span.SPAN_KIND_SERVER]
        assert called.name == "memory.v1.SystemService/GetHealth"
        assert collector.metrics == {}


def test_without_the_setting_nothing_of_opentelemetry_is_imported() -> None:
    assert run("load(environ={})") == "0 modules"


def test_without_the_package_the_setting_says_what_to_install() -> None:
    outcome = run(
        "sys.modules.update({'opentelemetry': None})",
        "load(environ={}, flags={'otel.enabled': True})",
    )
    assert "pip install 'recollect[otel]'" in outcome


def run(*steps: str) -> str:
    """Build a server in a process of its own; how many modules it imported, or its error."""
    *before, loaded = steps
    program = "\n".join(
        [
            "import sys",
            "from recollect.app.application import build",
            "from recollect.kernel.errors import InvalidInput",
            "from recollect.settings.load import load",
            *before,
            "try:",
            f"    build({loaded}.settings)",
            "except InvalidInput as error:",
            "    print(error.message)",
            "else:",
            "    print(sum(m.startswith('opentelemetry') for m in sys.modules), 'modules')",
        ]
    )
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
