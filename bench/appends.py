"""Appends over HTTP by 32 clients, against the bare engine that runs the same statements, one
transaction each, with the same durability and number of connections. The words are indexed by both;
the vectors, which the statements queue, are left to a worker that is not there."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bench.harness.bare import bare_psycopg, bare_sqlite
from bench.harness.capture import Step, capture
from bench.harness.load import clients_of
from bench.harness.pgbench import pgbench
from bench.harness.results import Goal, Result
from bench.harness.rounds import Rounds, Run, alternate
from bench.harness.seeds import TEXT, TEXT_CHARS, Tree, plant
from bench.harness.server import request, serving
from bench.harness.stage import Stage, postgres_program
from recollect.settings import DatabaseSettings

NAME = "appends"
CLIENTS = 32
USERS = 4
GOALS = {"sqlite": Goal(1.5, at_least=True), "postgres": Goal(0.7, at_least=True)}
CONTENT = [{"role": "USER", "text": TEXT[:TEXT_CHARS]}]


def run(stage: Stage) -> Result:
    """How many times the bare engine's rate the server reaches."""
    trees = [tree_of(number) for number in range(CLIENTS)]
    with stage.database() as served, stage.database() as bare:
        for url in (served, bare):
            plant(url, trees)
        steps = capture(bare, trees[0], CONTENT)
        with (
            _bare_sides(stage, bare, steps, trees) as sides,
            serving(served, stage.folder, JOBS__EMBEDDED_WORKER="false") as server,
            clients_of(server.port) as load,
        ):
            rounds = alternate({"HTTP": load.side(lanes(trees)), **sides}, stage.effort)
    return _result(stage.engine, rounds, list(sides))


def lanes(trees: Sequence[Tree]) -> list[list[bytes]]:
    """A client for each tree, which appends to it."""
    return [
        [
            request(
                "POST",
                f"/v1/conversations/{tree.id}/entries",
                user_id=tree.owner,
                body={"content": CONTENT},
            )
        ]
        for tree in trees
    ]


def tree_of(number: int) -> Tree:
    """The tree of one client."""
    tree = Tree(f"user-{number % USERS}", number)
    tree.say(tree.root(), 20)
    return tree


@contextmanager
def _bare_sides(
    stage: Stage, url: str, steps: Sequence[Step], trees: Sequence[Tree]
) -> Iterator[dict[str, Run]]:
    """The side that is judged comes first."""
    if stage.engine == "sqlite":
        with bare_sqlite(url, steps, trees) as side:
            yield {"bare": side}
        return
    connections = DatabaseSettings().pool_size
    with bare_psycopg(url, steps, trees, connections=connections) as side:
        program = postgres_program("pgbench")
        if program is None:
            yield {"psycopg": side}
            return
        harder = pgbench(
            program,
            url,
            steps,
            trees,
            connections=connections,
            folder=stage.folder,
            owner_of=lambda number: f"'user-' || ({number} % {USERS})",
        )
        yield {"pgbench": harder, "psycopg": side}


def _result(engine: str, rounds: Rounds, sides: list[str]) -> Result:
    judged, *others = sides
    ratio, spread = rounds.ratio("HTTP", judged)
    figures = [f"HTTP {rounds.rate('HTTP'):.0f}/s", f"{judged} {rounds.rate(judged):.0f}/s"]
    for other in others:
        other_ratio, _ = rounds.ratio("HTTP", other)
        figures.append(f"{other} {rounds.rate(other):.0f}/s (ratio {other_ratio:.2f})")
    return Result(NAME, engine, ratio, spread, GOALS[engine], ", ".join(figures))
