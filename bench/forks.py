"""Forking a long conversation against forking a short one, over HTTP."""

from bench.harness.load import clients_of
from bench.harness.results import Goal, Result
from bench.harness.rounds import alternate
from bench.harness.seeds import Tree, plant
from bench.harness.server import request, serving
from bench.harness.stage import Stage

NAME = "forks"
SHORT = 10
LONG = 10_000
POINTS = 100
GOAL = Goal(1.5, at_least=False)


def run(stage: Stage) -> Result:
    """How many times longer a fork of the long conversation takes."""
    length = stage.size(LONG, 500)
    short, long = _tree(0, SHORT), _tree(1, length)
    with stage.database() as url:
        plant(url, [short, long])
        with serving(url, stage.folder) as server, clients_of(server.port) as load:
            sides = {"short": load.side([_forks(short)]), "long": load.side([_forks(long)])}
            rounds = alternate(sides, stage.effort)
    ratio, spread = rounds.ratio("short", "long")
    figures = (
        f"{rounds.milliseconds('long'):.2f} ms at {length} entries, "
        f"{rounds.milliseconds('short'):.2f} ms at {SHORT}"
    )
    return Result(NAME, stage.engine, ratio, spread, GOAL, figures)


def _forks(tree: Tree) -> list[bytes]:
    """At entries all along the conversation."""
    entries = tree.entries[1 :: max(1, len(tree.entries) // POINTS)]
    return [
        request(
            "POST",
            f"/v1/conversations/{tree.id}/entries/{entry['id']}/fork",
            user_id=tree.owner,
            body={},
        )
        for entry in entries
    ]


def _tree(number: int, length: int) -> Tree:
    tree = Tree("ann", number)
    tree.say(tree.root(), length)
    return tree
