"""The system in the process of a caller, for `Recollect.open` of the Python client."""

from recollect.embedded.system import EmbeddedSystem, start_system

__all__ = ["EmbeddedSystem", "start_system"]
