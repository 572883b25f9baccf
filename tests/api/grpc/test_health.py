"""Health as gRPC's own tools ask for it, and as our protocol has it."""

from typing import Any

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from grpc_health.v1 import health_pb2, health_pb2_grpc

from recollect.api.grpc.health import WATCHERS_MAX
from recollect.kernel.errors import Unavailable
from tests.api.grpc.adapter import SECONDS_MAX, Adapter
from tests.recordings.callers import until
from tests.support.grpc.protocol import protocol

Status = health_pb2.HealthCheckResponse
GET_HEALTH = "SystemService/GetHealth"


def checked(adapter: Adapter, service: str = "") -> Any:
    """What a probe is told."""
    stub: Any = health_pb2_grpc.HealthStub(adapter.channel)
    request = health_pb2.HealthCheckRequest(service=service)
    return stub.Check(request, timeout=SECONDS_MAX).status


def watched(adapter: Adapter) -> Any:
    """What somebody who keeps watching is told, one by one."""
    stub: Any = health_pb2_grpc.HealthStub(adapter.channel)
    return stub.Watch(health_pb2.HealthCheckRequest(), timeout=SECONDS_MAX)


def is_watched(adapter: Adapter) -> bool:
    """Is there room for one who watches?"""
    try:
        return bool(next(watched(adapter)).status == Status.SERVING)
    except grpc.RpcError:
        return False


def test_the_server_and_each_of_its_services_serve(adapter: Adapter) -> None:
    services = {method.containing_service.full_name for method in protocol().methods.values()}
    assert {checked(adapter, name) for name in ("", *services)} == {Status.SERVING}


def test_without_its_database_it_does_not_serve(adapter: Adapter) -> None:
    adapter.fakes.status.answers["ping"] = Unavailable("the database does not answer")
    assert checked(adapter) == Status.NOT_SERVING
    answer = adapter.client.send((), GET_HEALTH, Empty().SerializeToString())
    answer.refused(grpc.StatusCode.UNAVAILABLE, "unavailable")


def test_a_service_that_there_is_not_is_not_found(adapter: Adapter) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        checked(adapter, "memory.v1.Nothing")
    error: Any = refused.value
    assert error.code() is grpc.StatusCode.NOT_FOUND


def test_health_of_our_protocol_needs_no_credentials(adapter: Adapter) -> None:
    answer = adapter.client.send((), GET_HEALTH, Empty().SerializeToString())
    assert answer.expect().status == "ok"


def test_so_many_watch_and_others_are_told_to_ask(adapter: Adapter) -> None:
    watching = []
    for _ in range(WATCHERS_MAX):
        watching.append(watched(adapter))
        assert next(watching[-1]).status == Status.SERVING
    one_more = watched(adapter)
    assert one_more.code() is grpc.StatusCode.UNAVAILABLE
    assert checked(adapter) == Status.SERVING
    for states in watching:
        states.cancel()
    until(lambda: is_watched(adapter))


def test_who_watches_is_told_the_state_and_does_not_keep_the_server_from_stopping(
    adapter: Adapter,
) -> None:
    states = watched(adapter)
    assert next(states).status == Status.SERVING
    adapter.begin_stop(SECONDS_MAX).result(SECONDS_MAX / 2)
    assert [state.status for state in states] == [Status.NOT_SERVING]
