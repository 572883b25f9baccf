"""Storage for export and import: rows of any table, as values by the fields of their lines."""

from dataclasses import dataclass
from typing import Any

from recollect.memories.model import MemoryFilter
from recollect.visibility.viewer import Viewer

LineValues = dict[str, Any]
# The sort key of the last row of a page.
ExportCursor = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ExportScope:
    """Which memories an export holds: those that the viewer may see, in spaces that they may write.
    With `everything` it also has rows of other types that no memory refers to."""

    viewer: Viewer
    filters: MemoryFilter
    everything: bool = False
