"""Every scenario and every amendment of the contract that is due has a test on each engine.

Read from the source: to let pytest collect it all once more would take longer than many suites.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
# In these folders a number is one of the conversation contract's.
OF_CONVERSATIONS = {"api", "behaviour", "conversations", "recordings"}
# Calls between agents (9) and extraction (43 to 49) are not built yet.
OWED = {*range(1, 9), *range(10, 43), *range(50, 61)}
OWED_AMENDMENTS = {*range(1, 23)}
# Whatever needs this fixture runs once for each engine.
ON_EACH_ENGINE = "new_database"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def test_every_owed_scenario_has_a_test_on_each_engine() -> None:
    modules = [path for path in _modules() if _folder(path) not in OF_CONVERSATIONS]
    assert OWED - _proved(modules, "scenario") == set()


def test_every_owed_amendment_has_a_test_on_each_engine() -> None:
    assert OWED_AMENDMENTS - _proved(_modules(), "amendment") == set()


def _modules() -> list[Path]:
    return sorted(TESTS.rglob("test_*.py"))


def _folder(module: Path) -> str:
    return module.relative_to(TESTS).parts[0]


def _proved(modules: Iterable[Path], marker: str) -> set[int]:
    return {number for module in modules for number in _proved_by(module, marker)}


def _proved_by(module: Path, marker: str) -> Iterator[int]:
    """The numbers of tests that run on each engine."""
    tree = ast.parse(module.read_text("utf-8"))
    fixtures = _fixtures([*_conftests(module), tree])
    of_all = [number for node in tree.body for number in _marks_of_module(node, marker)]
    for test in _functions(tree):
        numbers = [*of_all, *_marks(test.decorator_list, marker)]
        if test.name.startswith("test_") and _needs(_arguments(test), fixtures):
            yield from numbers


def _conftests(module: Path) -> Iterator[ast.Module]:
    """From the outermost in, so that the nearest fixture of a name counts."""
    folders = [folder for folder in reversed(module.parents) if folder.is_relative_to(TESTS)]
    for file in (folder / "conftest.py" for folder in folders):
        if file.exists():
            yield ast.parse(file.read_text("utf-8"))


def _fixtures(trees: Iterable[ast.Module]) -> dict[str, list[str]]:
    """What each fixture asks for."""
    return {
        function.name: _arguments(function)
        for tree in trees
        for function in _functions(tree)
        if any("fixture" in ast.unparse(one) for one in function.decorator_list)
    }


def _needs(names: list[str], fixtures: dict[str, list[str]]) -> bool:
    return any(name == ON_EACH_ENGINE or _needs(*_behind(name, fixtures)) for name in names)


def _behind(name: str, fixtures: dict[str, list[str]]) -> tuple[list[str], dict[str, list[str]]]:
    """What a fixture asks for. Its own name then means one that is farther away."""
    return fixtures.get(name, []), {one: of for one, of in fixtures.items() if one != name}


def _functions(tree: ast.Module) -> list[Function]:
    return [node for node in tree.body if isinstance(node, Function)]


def _arguments(function: Function) -> list[str]:
    return [one.arg for one in function.args.args]


def _marks_of_module(node: ast.stmt, marker: str) -> Iterator[int]:
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
        listed = node.value.elts if isinstance(node.value, ast.List) else [node.value]
        yield from _marks(listed, marker)


def _marks(nodes: Iterable[ast.expr], marker: str) -> Iterator[int]:
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"pytest.mark.{marker}":
            yield int(ast.literal_eval(node.args[0]))
