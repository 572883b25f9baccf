"""ErasureStores: the stores that code of this package gets."""

from dataclasses import dataclass

from recollect.erasure.store.requests import ErasureStore
from recollect.portability.store.bundle import PortabilityStores


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureStores(PortabilityStores):
    """The stores of this package and of those below."""

    erasures: ErasureStore
