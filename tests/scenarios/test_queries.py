"""Any string is a query, and full text may be switched off and on again."""

from typing import Any

import pytest

from tests.conftest import Host
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.search import ids
from tests.support.world import World

pytestmark = pytest.mark.scenario(17)

TEXTS = {
    "theme": "What is the theme? It's dark",
    "key": "user-pref a:b is set, NOT unset",
    "japanese": "京都で猫と暮らす",
    "accented": "José mange à l'école, crème brûlée",
}
# What each query finds first; of the rest only that they find nothing wrong.
FOUND = {
    "what is the theme?": "theme",
    "it's": "theme",
    "user-pref": "key",
    "a:b": "key",
    "NOT": "key",
    "猫": "japanese",
    "京都": "japanese",
    "暮らす": "japanese",
    "jose ECOLE": "accented",
    "Brûlée": "accented",
    "creme brulee": "accented",
}
NOTHING = ('"', "(", "%", "", " \n\t ", "'", "\\", "_", "*")


def test_every_query_finds_the_same_with_full_text_off_and_on_again(host: Host) -> None:
    database, name, agent = None, "", ""
    written: dict[str, list[str]] = {kind: [] for kind in TEXTS}
    for enabled in (True, False, True):
        with host(database, search__fulltext__enabled=enabled) as world:
            database = world.database
            owner = _owner(world, name)
            agent = agent or owner.registers()["id"]
            name = owner.name
            for kind, text in TEXTS.items():
                said = f"{text} {len(written[kind])}"
                written[kind].append(owner.adds(said, agent_id=agent)["id"])
            _assert_answers(owner, agent, written)


def _owner(world: World, name: str) -> Caller:
    return Caller(world.named(name), world) if name else Callers(world).person("olga")


def _assert_answers(owner: Caller, agent: str, written: dict[str, list[str]]) -> None:
    for query, kind in FOUND.items():
        mine = set(written[kind])
        found = owner.finds(query, agent_id=agent, limit=len(mine))
        assert set(ids(found)) == mine, query
    for query in NOTHING:
        assert owner.finds(query, agent_id=agent) == [], query
    tagged: dict[str, Any] = {"tags": ["%"], "agent_id": agent}
    assert owner.finds("dark", **tagged) == []
    assert owner.lists("/memories", tags="%", agent_id=agent) == []
