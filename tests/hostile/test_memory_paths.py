"""Ids in paths of the memory family that no stored text can be."""

import re
from urllib.parse import quote

import pytest

from recollect.api.registry import MEMORY_OPERATIONS
from recollect.http.operation import Operation
from tests.hostile.memory_probes import PROBES
from tests.support.memory.callers import Callers
from tests.support.world import World, new_id

NAMED = [(row, name) for row in MEMORY_OPERATIONS for name in re.findall(r"{(\w+)}", row.path)]
BODIES = {probe.operation: probe.body for probe in PROBES}


@pytest.mark.parametrize(("row", "name"), NAMED, ids=[f"{row.name}-{name}" for row, name in NAMED])
def test_an_id_with_a_nul_in_it_is_unknown_or_refused(
    world: World, row: Operation, name: str
) -> None:
    strange = f"a\0{new_id()}"
    ids = {one: new_id() for one in re.findall(r"{(\w+)}", row.path)} | {name: strange}
    path = row.path.removeprefix("/v1").format(**{k: quote(v) for k, v in ids.items()})
    reply = Callers(world).admin.call(row.method, path, body=BODIES[row.name])
    if name == row.new_id_param:
        reply.refused(422, "validation_error")
    else:
        assert reply.refused(404, "not_found")["id"] in ids.values()
