"""Finds the system that runs in this process. It is part of the distribution `recollect`."""

from collections.abc import Mapping
from os import PathLike
from typing import Any, Protocol

_MISSING = (
    "Recollect.open runs the system in this process and needs the distribution `recollect`: "
    "pip install recollect. With `recollect-client` alone use Recollect.connect(url)."
)


class EmbeddedSystem(Protocol):
    """A system in this process, and the ways to it for both faces of the client."""

    def async_transport(self) -> Any:
        """The way for `AsyncRecollect`."""
        ...

    def transport(self) -> Any:
        """The way for `Recollect`."""
        ...


def open_system(path: str | PathLike[str] | None, settings: Mapping[str, Any]) -> EmbeddedSystem:
    """Start the system. ImportError that says what to install where it is missing."""
    try:
        from recollect.embedded import start_system  # noqa: PLC0415 - the client works without it
    except ImportError as error:
        raise ImportError(_MISSING) from error
    system: EmbeddedSystem = start_system(path, settings)
    return system
