"""A page of a fork of depth 3: in a tree of many forks against a tree of few, over HTTP."""

from bench.harness.load import clients_of
from bench.harness.results import Goal, Result
from bench.harness.rounds import alternate
from bench.harness.seeds import Tree, plant
from bench.harness.server import request, serving
from bench.harness.stage import Stage

NAME = "pages"
FEW = 10
MANY = 10_000
LIMIT = 50
GOAL = Goal(1.5, at_least=False)


def run(stage: Stage) -> Result:
    """How many times longer the page takes in the large tree."""
    many = stage.size(MANY, 200)
    few_tree, few = _tree(0, FEW)
    many_tree, deep = _tree(1, many)
    with stage.database() as url:
        plant(url, [few_tree, many_tree])
        with serving(url, stage.folder) as server, clients_of(server.port) as load:
            sides = {
                "few": load.side([[_page(few_tree, few)]]),
                "many": load.side([[_page(many_tree, deep)]]),
            }
            rounds = alternate(sides, stage.effort)
    ratio, spread = rounds.ratio("few", "many")
    figures = (
        f"{rounds.milliseconds('many'):.2f} ms in {many} forks, "
        f"{rounds.milliseconds('few'):.2f} ms in {FEW}"
    )
    return Result(NAME, stage.engine, ratio, spread, GOAL, figures)


def _page(tree: Tree, conversation_id: str) -> bytes:
    path = f"/v1/conversations/{conversation_id}/entries?limit={LIMIT}"
    return request("GET", path, user_id=tree.owner)


def _tree(number: int, forks: int) -> tuple[Tree, str]:
    """A path of four branches with 20 entries each, and other forks that hang on all of them."""
    tree = Tree("ann", number)
    branch = tree.root()
    tree.say(branch, 20)
    others = forks - 3
    for depth in range(3):
        point = tree.entries[-1]
        for _ in range(others // 3 + (depth < others % 3)):
            tree.say(tree.fork(branch, point), 3)
        branch = tree.fork(branch, point)
        tree.say(branch, 20)
    return tree, branch
