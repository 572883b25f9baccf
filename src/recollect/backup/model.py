"""What a backup file says of itself, and what the commands tell about it."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

# Called with the rows that are done and the rows that there are.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The first part of a backup. `encryption_keys` are the ids of the keys that its values need;
    the keys themselves are in no backup."""

    created_at: str
    version: str
    engine: str
    schema_version: int
    rows: int
    encryption_keys: tuple[str, ...]

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Manifest":
        """The inverse of `to_json`."""
        keys = tuple(fields["encryption_keys"])
        return cls(**{**fields, "encryption_keys": keys})

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"encryption_keys": list(self.encryption_keys)}


@dataclass(frozen=True, slots=True)
class BackupSummary:
    """A backup that was written, read or restored: its rows by table."""

    manifest: Manifest
    encrypted: bool
    size_bytes: int
    tables: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return self.manifest.to_json() | {
            "encrypted": self.encrypted,
            "bytes": self.size_bytes,
            "tables": dict(self.tables),
        }
