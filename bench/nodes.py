"""Appends and lists by 32 clients at one, two and four nodes, all on one PostgreSQL.

The nodes run all the time, and a side uses some of them. What each side had of the processors
stands beside its rate, because on one machine that is where the limit is.
"""

from contextlib import ExitStack
from pathlib import Path

from bench.appends import CLIENTS, CONTENT
from bench.harness.load import clients_of
from bench.harness.processors import Meter, postgres_seconds, seconds_of
from bench.harness.results import Result
from bench.harness.rounds import Rounds, alternate
from bench.harness.seeds import Tree, plant
from bench.harness.server import Server, request, serving
from bench.harness.stage import Stage

NAME = "nodes"
NODES = (1, 2, 4)
USERS = 4
ENTRIES = 100
PAGE = 20


def run(stage: Stage) -> Result:
    """How many times the rate of one node two nodes reach, and four."""
    trees = [_tree(number) for number in range(CLIENTS)]
    counts = NODES[: stage.size(len(NODES), 2)]
    with ExitStack() as stack:
        url = stack.enter_context(stage.database())
        plant(url, trees)
        servers = [_node(stack, url, stage.folder / f"node-{n}") for n in range(max(counts))]
        load = stack.enter_context(clients_of())
        meter = Meter(
            {
                "API": seconds_of([server.pid for server in servers]),
                "PostgreSQL": postgres_seconds(url),
                "clients": seconds_of([load.pid]),
            }
        )
        lanes = [_lane(tree) for tree in trees]
        sides = {}
        for count in counts:
            used = load.at(*(server.port for server in servers[:count]))
            sides[_name(count)] = meter.watch(_name(count), used.side(lanes), lanes=len(lanes))
        rounds = alternate(sides, stage.effort)
    ratio, spread = rounds.ratio(_name(2), _name(1))
    figures = ", ".join(_figure(count, rounds, meter) for count in counts)
    return Result(NAME, stage.engine, ratio, spread, None, figures)


def _node(stack: ExitStack, url: str, folder: Path) -> Server:
    folder.mkdir()
    return stack.enter_context(serving(url, folder, JOBS__EMBEDDED_WORKER="false"))


def _lane(tree: Tree) -> list[bytes]:
    """As many appends as lists, of entries and of conversations by turns."""
    entries = f"/v1/conversations/{tree.id}/entries"
    append = request("POST", entries, user_id=tree.owner, body={"content": CONTENT})
    page = request("GET", f"{entries}?limit={PAGE}", user_id=tree.owner)
    conversations = request("GET", f"/v1/conversations?limit={PAGE}", user_id=tree.owner)
    return [append, page, append, conversations]


def _tree(number: int) -> Tree:
    tree = Tree(f"user-{number % USERS}", number)
    tree.say(tree.root(), ENTRIES)
    return tree


def _figure(count: int, rounds: Rounds, meter: Meter) -> str:
    side = _name(count)
    ratio, _ = rounds.ratio(side, _name(1))
    told = f"{meter.shares(side)}; a request: {meter.costs(side)}"
    return f"{side} {rounds.rate(side):.0f}/s, ratio {ratio:.2f} ({told})"


def _name(count: int) -> str:
    return f"{count} {'node' if count == 1 else 'nodes'}"
