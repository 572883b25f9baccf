"""PortabilityStores: the stores that code of this package gets."""

from dataclasses import dataclass

from recollect.portability.store.portable import PortableStore
from recollect.rollback.store import RollbackStores


@dataclass(frozen=True, slots=True, kw_only=True)
class PortabilityStores(RollbackStores):
    """The stores of this package and of those below."""

    portable: PortableStore
