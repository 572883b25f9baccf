"""Syncs of an agent's memory, against the least that the server can be asked."""

from bench.harness.load import clients_of
from bench.harness.results import Result
from bench.harness.rounds import alternate
from bench.harness.seeds import TEXT, TEXT_CHARS, Tree, plant
from bench.harness.server import request, serving
from bench.harness.stage import Stage

NAME = "syncs"
CLIENTS = 8
USERS = 4
ITEMS = 20


def run(stage: Stage) -> Result:
    """The rate of syncs as a part of the rate of health checks."""
    trees = [_tree(number) for number in range(CLIENTS)]
    with stage.database() as url:
        plant(url, trees)
        with serving(url, stage.folder) as server, clients_of(server.port) as load:
            health = [[request("GET", "/v1/health", user_id=tree.owner)] for tree in trees]
            sides = {
                "syncs": load.side([_syncs(tree) for tree in trees]),
                "health": load.side(health),
            }
            rounds = alternate(sides, stage.effort)
    ratio, spread = rounds.ratio("syncs", "health")
    figures = (
        f"{rounds.rate('syncs'):.0f} syncs/s of 1 to {ITEMS} messages, "
        f"{rounds.rate('health'):.0f} health checks/s"
    )
    return Result(NAME, stage.engine, ratio, spread, None, figures)


def _syncs(tree: Tree) -> list[bytes]:
    """A list that grows by one message each time; when it starts anew, so does an epoch."""
    messages = [{"role": "USER", "text": f"{n} {TEXT}"[:TEXT_CHARS]} for n in range(ITEMS)]
    return [
        request(
            "POST",
            f"/v1/conversations/{tree.id}/entries/sync",
            user_id=tree.owner,
            body={"contentType": "messages", "content": messages[: n + 1]},
            as_client=True,
        )
        for n in range(ITEMS)
    ]


def _tree(number: int) -> Tree:
    tree = Tree(f"user-{number % USERS}", number)
    tree.say(tree.root(), 2)
    return tree
