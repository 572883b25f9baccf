"""Lists of a user's conversations, against the least that the server can be asked."""

from bench.harness.load import clients_of
from bench.harness.results import Result
from bench.harness.rounds import alternate
from bench.harness.seeds import Tree, plant
from bench.harness.server import request, serving
from bench.harness.stage import Stage

NAME = "lists"
CLIENTS = 8
USERS = 4
CONVERSATIONS = 4_000
LIMIT = 20


def run(stage: Stage) -> Result:
    """The rate of lists as a part of the rate of health checks."""
    trees = [_tree(number) for number in range(stage.size(CONVERSATIONS, 200))]
    with stage.database() as url:
        plant(url, trees)
        with serving(url, stage.folder) as server, clients_of(server.port) as load:
            path = f"/v1/conversations?limit={LIMIT}"
            sides = {
                "lists": load.side([[_get(path, number)] for number in range(CLIENTS)]),
                "health": load.side([[_get("/v1/health", number)] for number in range(CLIENTS)]),
            }
            rounds = alternate(sides, stage.effort)
    ratio, spread = rounds.ratio("lists", "health")
    figures = (
        f"{rounds.rate('lists'):.0f} lists/s of {len(trees) // USERS} conversations a user, "
        f"{rounds.rate('health'):.0f} health checks/s"
    )
    return Result(NAME, stage.engine, ratio, spread, None, figures)


def _get(path: str, number: int) -> bytes:
    return request("GET", path, user_id=f"user-{number % USERS}")


def _tree(number: int) -> Tree:
    tree = Tree(f"user-{number % USERS}", number)
    tree.say(tree.root(), 2)
    return tree
