"""Sixteen clients on two nodes: the result is that of one node, and of a model in memory.

Each client has conversations and memories of its own, whose every answer a model foretells, and
all of them change what is common to them. Programs are drawn by Hypothesis; nodes and surfaces are
drawn call by call. A failure names its seed: with `--hypothesis-seed` the same is drawn again.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.conftest import SoakSize
from tests.nodes import shared_changes as common_ground
from tests.nodes.cluster import Cluster, a_cluster
from tests.nodes.own_memories import OwnMemories
from tests.nodes.own_trees import WORDS, OwnTrees
from tests.nodes.programs import COMMON, OWN_MEMORIES, OWN_TREES, Program, Step, programs
from tests.nodes.shared_changes import CommonGround, Member
from tests.nodes.surfaces import NodeClient, Surfaces
from tests.recordings.callers import until
from tests.support.engines import TestDatabase, a_postgres_database
from tests.support.processes import run_doctor
from tests.support.searching import waiting, waiting_memories
from tests.support.servers.embedding import EmbeddingServer

CLIENTS = 16
STEPS = 32
_RUNS = itertools.count(1)


@pytest.fixture
def cluster(postgres_url: str, embeddings: EmbeddingServer, tmp_path: Path) -> Iterator[Cluster]:
    """Real processes, on a fresh database."""
    with (
        a_postgres_database(postgres_url) as database,
        a_cluster(tmp_path, database, embeddings) as running,
    ):
        yield running


def test_two_nodes_under_sixteen_clients_behave_as_one(
    cluster: Cluster, tmp_path: Path, soak_size: SoakSize, request: pytest.FixtureRequest
) -> None:
    number = int(request.config.getoption("--hypothesis-seed") or random.getrandbits(32))
    print(f"--hypothesis-seed={number}")
    calls: list[int] = []

    def compare(drawn: list[Program]) -> None:
        two = Run(cluster.nodes, drawn)
        calls.append(two.in_parallel())
        one = Run(cluster.nodes[:1], drawn)
        one.in_sequence()
        for answers, expected in zip(two.answers, one.answers, strict=True):
            for answer, alone in zip(answers, expected, strict=True):
                assert answer == alone
        settle(cluster.database)
        two.same_on_each_node()

    prove(compare, rounds=soak_size(2, 20), number=number)
    assert sum(calls) >= soak_size(1_000, 10_000)
    check_positions(cluster.database)
    run_doctor(tmp_path, cluster.database)


class Run:
    """The programs on some nodes, with people of its own."""

    def __init__(self, nodes: Sequence[Surfaces], drawn: Sequence[Program]) -> None:
        self._nodes = nodes
        self._programs = drawn
        self._prefix = f"run{next(_RUNS)}"
        self._clients: list[Client] = []

    @property
    def answers(self) -> list[list[tuple[str, int, str]]]:
        """What each client was told of its own."""
        return [client.node_client.answers for client in self._clients]

    def in_parallel(self) -> int:
        """All clients at once, on common ground too; how many calls they made."""
        with ThreadPoolExecutor(len(self._programs)) as pool:
            self._clients = list(pool.map(self._client, itertools.count(), self._programs))
            ground = CommonGround(self._way(0), len(self._programs))
            members = [
                Member(ground, self._way(program.turns), number)
                for number, program in enumerate(self._programs)
            ]
            works = [
                pool.submit(client.run, program, member)
                for client, program, member in zip(
                    self._clients, self._programs, members, strict=True
                )
            ]
            for work in works:
                work.result()
        for start in range(len(self._nodes)):
            common_ground.check(ground, self._way(start))
        ways = [client.node_client for client in self._clients] + [
            member.node_client for member in members
        ]
        return sum(node_client.calls for node_client in ways)

    def in_sequence(self) -> None:
        """One client after the other, without common ground."""
        for number, program in enumerate(self._programs):
            client = self._client(number, program)
            client.run(program, None)
            self._clients.append(client)

    def same_on_each_node(self) -> None:
        """Once every vector is made, each node ranks alike."""
        for client, word in zip(self._clients, itertools.cycle(WORDS)):
            client.trees.ranks_alike(self._nodes, word)
            client.memories.ranks_alike(self._nodes, word)

    def _client(self, number: int, program: Program) -> "Client":
        return Client(self._way(program.turns), number)

    def _way(self, turns: int) -> NodeClient:
        return NodeClient(self._nodes, prefix=self._prefix, turns=turns)


class Client:
    """Does what a program says."""

    def __init__(self, node_client: NodeClient, number: int) -> None:
        self.node_client = node_client
        self.number = number
        self.trees = OwnTrees(node_client, number)
        self.memories = OwnMemories(node_client, number)

    def run(self, program: Program, member: Member | None) -> None:
        """Every step; what is common only as a member of it."""
        parts: dict[str, Any] = {
            **dict.fromkeys(OWN_TREES, self.trees),
            **dict.fromkeys(OWN_MEMORIES, self.memories),
            **dict.fromkeys(COMMON, member),
        }
        for count, step in enumerate(program.steps, 1):
            if parts[step.act] is not None:
                self._do(parts[step.act], step, count)
        self.trees.check()
        self.memories.check()

    def _do(self, part: Any, step: Step, count: int) -> None:
        try:
            getattr(part, step.act)(step.pick, step.other)
        except AssertionError as error:
            error.add_note(f"client {self.number}, step {count}: {step}")
            raise


def prove(compare: Callable[[list[Program]], None], *, rounds: int, number: int) -> None:
    """Draw programs and compare. Nothing is made smaller: clients that run at once would not do
    the same again."""
    drawing = given(programs(CLIENTS, STEPS))(compare)
    settings(
        max_examples=rounds,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )(seed(number)(drawing))()


def settle(database: TestDatabase) -> None:
    """Wait until the worker has made every vector."""
    until(lambda: not waiting(database) and not waiting_memories(database))


def check_positions(database: TestDatabase) -> None:
    """Positions of a tree have no gap and come once."""
    rows = database.rows(
        "SELECT t.last_seq, count(e.id), count(DISTINCT e.seq), coalesce(max(e.seq), 0) "
        "FROM conversation_groups t LEFT JOIN entries e ON e.conversation_group_id = t.id "
        "GROUP BY t.id, t.last_seq"
    )
    assert rows
    assert [row for row in rows if len(set(row)) > 1] == []
