"""A server that is down, slow, or whose answers get lost: a typed error, and nothing doubled."""

import asyncio
import gc
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from recollect_client import (
    NO_RETRIES,
    AsyncRecollect,
    Forbidden,
    LimitExceeded,
    Recollect,
    RetryPolicy,
    ServerUnreachable,
    Unauthenticated,
    Unavailable,
)
from tests.client.conftest import server_url
from tests.client.proxy import LossyProxy
from tests.support.world import CLIENT_KEYS, World, a_token

QUICK = RetryPolicy(attempts=4, pause_seconds=0.01, pause_seconds_max=0.02)
KEY = CLIENT_KEYS["trusted"]


def a_lossy_proxy(world: World, *, lost: int) -> LossyProxy:
    at = urlsplit(server_url(world.api))
    assert at.hostname is not None
    assert at.port is not None
    return LossyProxy(at.hostname, at.port, lost=lost)


def test_a_write_whose_answer_is_lost_is_done_once(world: World) -> None:
    user = world.user("ann").name
    with (
        a_lossy_proxy(world, lost=2) as proxy,
        Recollect.connect(proxy.url, api_key=KEY, retries=QUICK) as memory,
    ):
        talk = memory.user(user).conversation()
        talk.append("Once")
        assert [entry.content[0]["text"] for entry in talk.history()] == ["Once"]


def test_a_deletion_whose_answer_is_lost_succeeds(world: World) -> None:
    user = world.user("ann").name
    with Recollect.connect(server_url(world.api), api_key=KEY) as memory:
        written = memory.user(user).remember("Forget me.")
    with (
        a_lossy_proxy(world, lost=1) as proxy,
        Recollect.connect(proxy.url, api_key=KEY, retries=QUICK) as memory,
    ):
        memory.user(user).forget(written.id)
        assert not list(memory.user(user).memories())


def test_a_change_whose_answer_is_lost_is_not_sent_twice(world: World) -> None:
    user = world.user("ann").name
    with Recollect.connect(server_url(world.api), api_key=KEY) as memory:
        written = memory.user(user).remember("Monday")
    with (
        a_lossy_proxy(world, lost=1) as proxy,
        Recollect.connect(proxy.url, api_key=KEY, retries=QUICK) as memory,
    ):
        with pytest.raises(ServerUnreachable):
            memory.user(user).update(written.id, content="Tuesday", version=1)
        now = memory.user(user).get(written.id)
        assert (now.content, now.version) == ("Tuesday", 2)


def test_without_retries_a_lost_answer_is_an_error(world: World) -> None:
    with (
        a_lossy_proxy(world, lost=1) as proxy,
        Recollect.connect(proxy.url, api_key=KEY, retries=NO_RETRIES) as memory,
        pytest.raises(ServerUnreachable) as caught,
    ):
        memory.user(world.user("ann").name).remember("Perhaps.")
    assert caught.value.code == "no_answer"


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port on which nobody listens: it is taken, and not listened on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def test_a_server_that_is_down_is_unreachable(closed_port: int) -> None:
    url = f"http://127.0.0.1:{closed_port}"
    with Recollect.connect(url, retries=QUICK) as memory, pytest.raises(Unavailable) as caught:
        memory.user("ann").remember("Hello?")
    assert (type(caught.value), caught.value.code) == (ServerUnreachable, "not_connected")


def test_a_server_that_does_not_answer_in_time_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with (
            Recollect.connect(url, timeout_seconds=0.05, retries=NO_RETRIES) as memory,
            pytest.raises(ServerUnreachable, match="in time"),
        ):
            memory.user("ann").remember("Hello?")


def test_each_kind_of_refusal_has_its_class(world: World) -> None:
    url, user = server_url(world.api), world.user("ann").name
    with Recollect.connect(url, token="no token") as stranger, pytest.raises(Unauthenticated):
        stranger.conversation().append("Hello")
    with Recollect.connect(url, token=a_token(user)) as ann:
        talk = ann.conversation()
        talk.append("Mine")
        with pytest.raises(LimitExceeded):
            ann.user(user).remember("x" * 17 * 1024 * 1024)
    with (
        Recollect.connect(url, token=a_token(world.user("bob").name)) as bob,
        pytest.raises(Forbidden),
    ):
        bob.conversation(talk.id).details()


def test_a_url_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="url: must begin with http"):
        Recollect.connect("localhost:8080")


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_event_loop_after_another_makes_its_own_connections(world: World) -> None:
    user = world.user("ann").name

    def ask_in_two_loops() -> list[str]:
        memory = AsyncRecollect.connect(server_url(world.api), api_key=KEY, retries=NO_RETRIES)

        async def write(text: str) -> list[str]:
            await memory.user(user).remember(text)
            return [one.content async for one in memory.user(user).memories()]

        asyncio.run(write("The tea is gone."))
        return asyncio.run(write("The coffee is gone."))

    assert ask_in_two_loops() == ["The coffee is gone.", "The tea is gone."]
    # Sockets of a loop that has ended can't be closed in it. They end with the client: now, and
    # not in a later test.
    gc.collect()
