"""What Prometheus gets to read."""

from concurrent.futures import ThreadPoolExecutor

import prometheus_client

from recollect.observability.metrics import Metrics, NoMetrics
from recollect.observability.prometheus import PrometheusMetrics

ROUTE = "/v1/conversations/{id}"


def lines(metrics: PrometheusMetrics) -> set[str]:
    """The samples of the rendered text."""
    body, content_type = metrics.render()
    assert content_type.startswith("text/plain; version=0.0.4")
    return {line for line in body.decode().splitlines() if not line.startswith("#")}


def observe_all(metrics: Metrics) -> None:
    """One of each."""
    metrics.record_request("GET", ROUTE, 200, 0.003)
    metrics.record_transaction("read", 0.002)
    metrics.record_transaction("write", 0.02)
    metrics.record_commit_batch(3)
    metrics.record_job("reindex", "done", 1.5)
    metrics.record_queue(7, 12.5, 2)


def test_every_observation_is_rendered_under_its_name() -> None:
    metrics = PrometheusMetrics()
    observe_all(metrics)
    assert lines(metrics) >= {
        f'recollect_requests_total{{method="GET",route="{ROUTE}",status="200"}} 1.0',
        f'recollect_request_seconds_count{{method="GET",route="{ROUTE}"}} 1.0',
        f'recollect_request_seconds_bucket{{le="0.0025",method="GET",route="{ROUTE}"}} 0.0',
        f'recollect_request_seconds_bucket{{le="0.005",method="GET",route="{ROUTE}"}} 1.0',
        'recollect_transaction_seconds_sum{kind="read"} 0.002',
        'recollect_transaction_seconds_sum{kind="write"} 0.02',
        'recollect_commit_batch_size_bucket{le="2.0"} 0.0',
        'recollect_commit_batch_size_bucket{le="4.0"} 1.0',
        'recollect_jobs_total{outcome="done",type="reindex"} 1.0',
        'recollect_job_seconds_sum{type="reindex"} 1.5',
        "recollect_queue_depth 7.0",
        "recollect_queue_age_seconds 12.5",
        "recollect_queue_stuck 2.0",
    }


def test_a_made_up_method_makes_no_series_of_its_own() -> None:
    metrics = PrometheusMetrics()
    for number in range(50):
        metrics.record_request(f"M{number}", ROUTE, 405, 0.001)
    expected = f'recollect_requests_total{{method="OTHER",route="{ROUTE}",status="405"}} 50.0'
    assert [line for line in lines(metrics) if "_requests_total" in line] == [expected]


def test_two_servers_in_one_process_count_apart() -> None:
    first, second = PrometheusMetrics(), PrometheusMetrics()
    first.record_commit_batch(1)
    assert "recollect_commit_batch_size_count 1.0" in lines(first)
    assert "recollect_commit_batch_size_count 0.0" in lines(second)
    assert b"recollect" not in prometheus_client.generate_latest()


def test_no_observation_of_a_thread_is_lost() -> None:
    metrics = PrometheusMetrics()
    with ThreadPoolExecutor(8) as threads:
        for _ in range(800):
            threads.submit(metrics.record_request, "GET", ROUTE, 200, 0.001)
    total = f'recollect_requests_total{{method="GET",route="{ROUTE}",status="200"}} 800.0'
    assert total in lines(metrics)


def test_no_metrics_takes_every_observation() -> None:
    observe_all(NoMetrics())


def test_calls_over_grpc_are_told_from_those_over_http() -> None:
    metrics = PrometheusMetrics()
    metrics.record_request("GRPC", "/memory.v1.EntriesService/AppendEntry", 200, 0.001)
    route = "/memory.v1.EntriesService/AppendEntry"
    expected = f'recollect_requests_total{{method="GRPC",route="{route}",status="200"}} 1.0'
    assert expected in lines(metrics)
