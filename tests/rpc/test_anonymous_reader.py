"""Messages of callers without credentials, while the server stops."""

import asyncio
from typing import Any

import pytest
from grpc_health.v1 import health_pb2

from recollect.kernel.errors import Unavailable
from recollect.rpc.request_reader import AnonymousReader


class SilentCall:
    """A call whose message never comes."""

    async def read(self) -> Any:
        await asyncio.Event().wait()


def test_a_read_that_begins_after_the_stop_is_refused() -> None:
    async def read_late() -> None:
        reader = AnonymousReader()
        reader.stop()
        call: Any = SilentCall()
        async with asyncio.timeout(5):
            await reader.read_next(health_pb2.HealthCheckRequest, call)

    with pytest.raises(Unavailable, match="stopping"):
        asyncio.run(read_late())
