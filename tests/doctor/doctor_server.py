"""A server whose store is looked after: its doctor, and those who may ask for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from recollect.db.columns import metadata
from recollect.doctor.model import DoctorCheck
from recollect.kernel.space import Space, SpaceKind
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.store import StoredMemories, open_stored_memories
from tests.support.world import World, new_id

DAY = timedelta(days=1)
# The audit log tells of the call itself, and the server's own jobs come and go.
RESTLESS = {"audit_events", "tasks", "task_state"}


@dataclass(frozen=True)
class DoctorServer:
    """A server, its store, and those who look after it."""

    world: World
    stored_memories: StoredMemories

    @property
    def callers(self) -> Callers:
        return Callers(self.world)

    def asks(
        self, *checks: DoctorCheck, by: Caller | None = None, **members: Any
    ) -> dict[str, Any]:
        """The report of these checks, all if none is named."""
        named = {"checks": [str(check) for check in checks]} if checks else {}
        caller = by or self.callers.admin
        report: dict[str, Any] = caller.post("/admin/doctor", body=named | members).expect(200)
        return report

    def result(self, check: DoctorCheck, **members: Any) -> dict[str, Any]:
        """What one check says."""
        (result,) = self.asks(check, **members)["checks"]
        assert isinstance(result, dict)
        return result

    def sql(self, statement: str, **params: Any) -> list[tuple[Any, ...]]:
        return self.world.database.rows(statement, **params)

    def instant(self, at: datetime) -> Any:
        """As a column holds it."""
        if self.world.database.engine == "postgres":
            return at
        return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def owner(self) -> tuple[Caller, str]:
        """Somebody with an agent."""
        olga = self.callers.person("olga")
        return olga, olga.registers()["id"]

    def adds(self, content: str, **members: Any) -> tuple[Caller, str]:
        """A memory of somebody's own, as a caller writes it."""
        ann = self.callers.person("ann")
        return ann, ann.adds(content, **({"space": {"kind": "user"}} | members))["id"]

    def puts(self, content: str = "the ferry leaves at noon", **fields: Any) -> str:
        """A memory that no caller could write, with its words in the index."""
        space = fields.pop("space", Space(SpaceKind.USER, f"ann-{new_id()}"))
        id_ = self.stored_memories.puts(space, content=content, **fields)
        self.asks(DoctorCheck.INDEX_ROWS, repair=True)
        return id_

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """All that is stored."""
        quiet = sorted(name for name in metadata.tables if name not in RESTLESS)
        return {name: sorted(self.sql(f"SELECT * FROM {name}"), key=repr) for name in quiet}


@contextmanager
def a_doctor_server(world: World) -> Iterator[DoctorServer]:
    """The store of a running server."""
    with open_stored_memories(world) as stored_memories:
        yield DoctorServer(world, stored_memories)
