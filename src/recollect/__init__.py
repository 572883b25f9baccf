"""Recollect: one memory server for AI agents.

The names of the Python client are here too: `from recollect import Recollect`. They are loaded
when they are used, so that a command of the server does not wait for them.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect_client import AsyncRecollect as AsyncRecollect
    from recollect_client import Recollect as Recollect

__version__ = version("recollect")
__all__ = ["AsyncRecollect", "Recollect", "__version__"]


def __getattr__(name: str) -> Any:
    if name in ("AsyncRecollect", "Recollect"):
        import recollect_client  # noqa: PLC0415 - see above

        return getattr(recollect_client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
