"""The services of the memory family."""

from dataclasses import dataclass

from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.agents import AgentService
from recollect.services.memory_audit import MemoryAudit
from recollect.services.requesters import Requesters
from recollect.settings import Settings
from recollect.stores.engines.base import Engine


@dataclass
class MemoryServices:
    """Fields of the same names are in the bundle of all services."""

    requesters: Requesters
    agents: AgentService


def memory_services(
    settings: Settings, engine: Engine, stores: Stores, runtime: Runtime
) -> MemoryServices:
    """All of them, on one database."""
    audit = MemoryAudit(engine, stores, runtime)
    return MemoryServices(
        requesters=Requesters(engine, stores, runtime),
        agents=AgentService(engine, stores, runtime, audit),
    )
