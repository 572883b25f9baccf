"""What services are built with: the database and everything that belongs to it."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from recollect.db.transaction import Database
from recollect.kernel.retention_rules import SHIPPED_RULES, RetentionRules
from recollect.kernel.runtime import Runtime

StoresT_co = TypeVar("StoresT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class ServiceContext(Generic[StoresT_co]):
    """One database with its stores, the runtime, and the retention rules that its stores know.

    A service names the stores of its own package, `ServiceContext[AgentStores]`, and so reaches
    no store of a higher one. The application passes one context with all stores to every service.
    """

    database: Database
    stores: StoresT_co
    runtime: Runtime
    rules: RetentionRules = SHIPPED_RULES
