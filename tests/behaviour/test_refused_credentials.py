"""Too many refused credentials of one address, over REST and gRPC."""

from dataclasses import replace
from typing import Any

import grpc
import pytest

from tests.conftest import Host
from tests.support.world import World, a_token

pytestmark = [pytest.mark.rest_only("calls both surfaces itself"), pytest.mark.amendment(17)]

MOST = 4
LIST = "/memory.v1.ConversationsService/ListConversations"


def bad_over_rest(world: World, token: str = "no token") -> tuple[int, str | None]:
    ann = world.user("ann")
    caller = replace(ann, credentials=replace(ann.credentials, token=token))
    reply = caller.call("list_conversations")
    return reply.status, reply.headers.get("retry-after")


def over_grpc(world: World, token: str) -> tuple[grpc.StatusCode, str | None]:
    target = str(world.api.http.base_url.netloc, "ascii")
    with grpc.insecure_channel(target) as channel:
        call: Any = channel.unary_unary(LIST)
        try:
            call(b"", metadata=(("authorization", f"Bearer {token}"),), timeout=30)
        except grpc.RpcError as error:
            refusal: Any = error
            return refusal.code(), dict(refusal.trailing_metadata()).get("retry-after")
    return grpc.StatusCode.OK, None


def test_bad_credentials_wait_and_good_ones_never(host: Host) -> None:
    with host(auth__failures_per_minute=MOST) as world:
        assert [bad_over_rest(world)[0] for _ in range(MOST - 1)] == [401] * (MOST - 1)
        assert over_grpc(world, "no token")[0] is grpc.StatusCode.UNAUTHENTICATED
        status, wait = bad_over_rest(world)
        assert status == 429
        assert 1 <= int(wait or 0) <= 60
        code, wait = over_grpc(world, "no token")
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert 1 <= int(wait or 0) <= 60
        assert bad_over_rest(world, a_token("ann"))[0] == 200
        assert over_grpc(world, a_token("ann"))[0] is grpc.StatusCode.OK
        world.nobody.call("list_conversations").refused(401, "unauthorized")


def test_an_unknown_key_counts_as_a_bad_token_does(host: Host) -> None:
    with host(auth__failures_per_minute=1) as world:
        ann = world.user("ann")
        guess = replace(ann, credentials=replace(ann.credentials, api_key="guess"))
        guess.call("list_conversations").refused(401, "unauthorized")
        guess.call("list_conversations").refused(429, "too_many_attempts")
