"""One rule for all locators: a value is there from its claim until it is released or runs out."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recollect.kernel.errors import Unavailable
from recollect.recordings.locators.database import DatabaseLocator
from recollect.recordings.locators.local import LocalLocator
from recollect.recordings.locators.redis import TIMEOUT_SECONDS, RedisLocator
from recollect.recordings.ports import Locator
from tests.support.clock import TestClock
from tests.support.engines import a_postgres_database, a_sqlite_database
from tests.support.servers.redis import INFINISPAN_COMMANDS, a_redis_server
from tests.support.storage import a_storage

LIFETIME = 10
SHORT = 0.05
KINDS = ("local", "sqlite", "postgres", "redis", "infinispan")


@dataclass
class Bench:
    """A locator and the loop it works on. `first` and `second` are two nodes with one store."""

    first: Locator
    second: Locator
    run: Callable[[Coroutine[Any, Any, Any]], Any]
    pass_time: Callable[[], None]


@pytest.fixture(scope="module", params=KINDS)
def bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    """Each locator in turn. No Infinispan can be had here: for it stands a server of the same
    protocol that refuses every command which Infinispan does not document."""
    with ExitStack() as stack:
        yield _bench(request, stack, tmp_path_factory.mktemp("locators"))


def _bench(request: pytest.FixtureRequest, stack: ExitStack, folder: Path) -> Bench:
    kind: str = request.param
    if kind in ("sqlite", "postgres"):
        database = (
            a_sqlite_database(folder)
            if kind == "sqlite"
            else stack.enter_context(a_postgres_database(request.getfixturevalue("postgres_url")))
        )
        storage = stack.enter_context(a_storage(database))
        first, second = (DatabaseLocator(storage.context) for _ in "12")
        clock = storage.runtime.clock
        assert isinstance(clock, TestClock)
        return Bench(first, second, storage.run, lambda: _advance(clock))
    runner = stack.enter_context(asyncio.Runner())
    if kind == "local":
        local = LocalLocator()
        return Bench(local, local, runner.run, lambda: runner.run(asyncio.sleep(2 * SHORT)))
    commands = INFINISPAN_COMMANDS if kind == "infinispan" else None
    server = stack.enter_context(a_redis_server(commands))
    both = RedisLocator(server.url), RedisLocator(server.url)
    for one in both:
        stack.callback(_close, runner, one)
    return Bench(*both, runner.run, lambda: runner.run(asyncio.sleep(2 * SHORT)))


def _close(runner: asyncio.Runner, locator: Locator) -> None:
    runner.run(locator.close())


def _advance(clock: TestClock) -> None:
    clock.advance(seconds=2 * SHORT)


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """One that no other test uses."""
    return f"response:{request.node.name}"


def found(bench: Bench, key: str) -> str | None:
    values: dict[str, str] = bench.run(bench.second.find([key]))
    return values.get(key)


def test_a_claim_is_seen_by_the_other_node_and_excludes_others(bench: Bench, key: str) -> None:
    assert bench.run(bench.first.claim(key, "one", LIFETIME))
    assert found(bench, key) == "one"
    assert not bench.run(bench.second.claim(key, "two", LIFETIME))
    assert found(bench, key) == "one"


def test_who_did_not_hear_the_answer_to_a_claim_can_ask_again(bench: Bench, key: str) -> None:
    bench.run(bench.first.claim(key, "one", SHORT))
    assert bench.run(bench.first.claim(key, "one", LIFETIME))
    bench.pass_time()
    assert found(bench, key) == "one"
    assert not bench.run(bench.second.claim(key, "two", LIFETIME))


def test_of_many_claims_at_once_one_succeeds(bench: Bench, key: str) -> None:
    async def race() -> list[bool]:
        claims = [
            node.claim(key, f"{number}@{where}", LIFETIME)
            for number in range(10)
            for where, node in enumerate((bench.first, bench.second))
        ]
        return await asyncio.gather(*claims)

    assert sum(bench.run(race())) == 1


def test_a_released_value_is_gone_and_can_be_claimed_again(bench: Bench, key: str) -> None:
    bench.run(bench.first.claim(key, "one", LIFETIME))
    bench.run(bench.first.release(key, "one"))
    assert found(bench, key) is None
    assert bench.run(bench.second.claim(key, "two", LIFETIME))


def test_nobody_renews_or_releases_what_is_anothers(bench: Bench, key: str) -> None:
    bench.run(bench.first.claim(key, "one", LIFETIME))
    assert not bench.run(bench.second.renew(key, "two", LIFETIME))
    bench.run(bench.second.release(key, "two"))
    assert found(bench, key) == "one"
    bench.run(bench.first.release(key, "one"))
    bench.run(bench.first.release(key, "one"))
    assert not bench.run(bench.first.renew(key, "one", LIFETIME))


def test_a_value_that_ran_out_is_gone_and_free(bench: Bench, key: str) -> None:
    bench.run(bench.first.claim(key, "one", SHORT))
    bench.pass_time()
    assert found(bench, key) is None
    assert not bench.run(bench.first.renew(key, "one", LIFETIME))
    assert bench.run(bench.second.claim(key, "two", LIFETIME))
    bench.run(bench.first.release(key, "one"))
    assert found(bench, key) == "two"


def test_a_renewed_value_outlives_its_first_life(bench: Bench, key: str) -> None:
    bench.run(bench.first.claim(key, "one", SHORT))
    assert bench.run(bench.first.renew(key, "one", LIFETIME))
    bench.pass_time()
    assert found(bench, key) == "one"


def test_many_keys_are_found_in_one_question(bench: Bench, key: str) -> None:
    keys = [f"{key}{number}" for number in range(300)]
    for one in keys[::3]:
        bench.run(bench.first.claim(one, f"at {one}", LIFETIME))
    expected = {one: f"at {one}" for one in keys[::3]}
    assert bench.run(bench.second.find(keys)) == expected
    assert bench.run(bench.second.find([])) == {}


def test_a_redis_that_went_away_is_told_and_comes_back() -> None:
    with a_redis_server() as server, asyncio.Runner() as runner:
        locator = RedisLocator(server.url)
        assert runner.run(locator.claim("key", "one", LIFETIME))
        server.stop()
        for call in (
            lambda: locator.claim("key", "two", LIFETIME),
            lambda: locator.renew("key", "one", LIFETIME),
            lambda: locator.find(["key"]),
            lambda: locator.release("key", "one"),
        ):
            with pytest.raises(Unavailable, match="does not answer"):
                runner.run(call())
        server.start()
        assert not runner.run(locator.renew("key", "one", LIFETIME))
        assert runner.run(locator.claim("key", "one", LIFETIME))
        runner.run(locator.close())


def test_a_claim_whose_answer_came_too_late_is_a_claim() -> None:
    """The client asks once more, and the server takes in both when it wakes up."""
    with a_redis_server() as server, asyncio.Runner() as runner:
        locator = RedisLocator(server.url)

        async def claim() -> bool:
            await locator.find(["key"])  # only what is connected can be sent to one that sleeps
            server.sleep()
            asyncio.get_running_loop().call_later(1.3 * TIMEOUT_SECONDS, server.wake)
            return await locator.claim("key", "one", LIFETIME)

        assert runner.run(claim())
        assert server.values() == {"key": "one"}
        runner.run(locator.close())


def test_a_redis_that_hangs_is_given_up_before_a_value_runs_out() -> None:
    with a_redis_server() as server, asyncio.Runner() as runner:
        locator = RedisLocator(server.url)
        runner.run(locator.claim("key", "one", LIFETIME))
        server.sleep()

        async def renew() -> None:
            async with asyncio.timeout(LIFETIME / 2):
                await locator.renew("key", "one", LIFETIME)

        with pytest.raises(Unavailable):
            runner.run(renew())
        server.wake()
        assert runner.run(locator.renew("key", "one", LIFETIME))
        runner.run(locator.close())
