"""Reads a backup: checks it, or restores it into an empty database."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from recollect.backup.model import BackupSummary, Manifest, Progress
from recollect.backup.parts import read_parts
from recollect.backup.rows import RowsDigest, decode_block
from recollect.backup.seal import Header, damage_error, read_header
from recollect.backup.write import END, MANIFEST, ROWS, TABLE, TABLE_END
from recollect.db.engines.base import Engine
from recollect.db.migrations import newest_version
from recollect.db.row_copy import Row, RowWriter, StoredTable
from recollect.kernel.errors import Conflict, InvalidInput


def is_encrypted(path: Path) -> bool:
    """Does this backup need a passphrase?"""
    with _open_to_read(path) as file:
        return read_header(file).encrypted


def verify_backup(path: Path, *, passphrase: str | None, progress: Progress) -> BackupSummary:
    """Read a whole backup. Raises InvalidInput if it is not as it was written."""
    with _open_to_read(path) as file:
        backup = _Backup(file, passphrase)
        for table in backup.tables():
            for _ in backup.rows(table, progress):
                continue
        return backup.summary(path)


def restore_backup(
    engine: Engine, path: Path, *, passphrase: str | None, progress: Progress
) -> BackupSummary:
    """Fill an empty database. Raises before anything is changed, or leaves it empty: Conflict if
    it is not empty or too old for the backup, InvalidInput for a damaged one."""
    with _open_to_read(path) as file:
        backup = _Backup(file, passphrase)
        _require_known_schema(backup.manifest, newest_version(engine))
        with engine.open_restore() as target:
            stored = target.create(backup.manifest.schema_version)
            for table in backup.tables():
                _require_columns(table, stored)
                target.write(table, backup.rows(table, progress))
                _require_equal(target, table, backup.digests[table.name])
            summary = backup.summary(path)
            target.finish()
    return summary


class _Backup:
    """A file that is read once, from its beginning to its end."""

    def __init__(self, file: BinaryIO, passphrase: str | None) -> None:
        self._header: Header = read_header(file)
        self._parts = read_parts(file, self._header.seal(passphrase))
        self.digests: dict[str, RowsDigest] = {}
        self.manifest = Manifest.from_json(self._fields(MANIFEST, next(self._parts)))

    def tables(self) -> Iterator[StoredTable]:
        """Each table. Its rows must be read before the next one."""
        for part in self._parts:
            if part[:1] == END:
                if self._fields(END, part)["tables"] != self._counts:
                    raise damage_error("its tables are not those that were written")
                return
            fields = self._fields(TABLE, part)
            yield StoredTable(
                fields["name"],
                tuple(fields["columns"]),
                tuple(fields["blobs"]),
                last_number=fields["last_number"],
            )

    def rows(self, table: StoredTable, progress: Progress) -> Iterator[Row]:
        digest, before = RowsDigest(), sum(self._counts.values())
        for part in self._parts:
            if part[:1] == ROWS:
                yield from decode_block(part[1:], table.blobs, digest)
                progress(before + digest.rows, self.manifest.rows)
                continue
            end = self._fields(TABLE_END, part)
            if (end["rows"], end["digest"]) != (digest.rows, digest.hex()):
                raise damage_error(f"the rows of {table.name}")
            self.digests[table.name] = digest
            return

    @property
    def _counts(self) -> dict[str, int]:
        return {name: digest.rows for name, digest in self.digests.items()}

    def summary(self, path: Path) -> BackupSummary:
        """Of a backup that was read to its end."""
        size = path.stat().st_size
        return BackupSummary(self.manifest, self._header.encrypted, size, self._counts)

    def _fields(self, kind: bytes, part: bytes) -> dict[str, Any]:
        if part[:1] != kind:
            raise damage_error("its parts are out of order")
        fields: dict[str, Any] = json.loads(part[1:])
        return fields


def _require_equal(target: RowWriter, table: StoredTable, written: RowsDigest) -> None:
    """Read the rows from the database: they must be those of the backup."""
    stored = RowsDigest()
    for row in target.read(table):
        stored.add_row(row, table.blobs)
    if stored != written:
        raise InvalidInput(f"the database did not store the rows of {table.name} as they were")


def _require_known_schema(manifest: Manifest, newest: int) -> None:
    if manifest.schema_version > newest:
        raise Conflict(
            f"the backup has schema version {manifest.schema_version}, this version of Recollect "
            f"knows {newest}: restore it with {manifest.version} or newer"
        )


def _require_columns(table: StoredTable, stored: Mapping[str, StoredTable]) -> None:
    known = stored.get(table.name)
    if known is None or not {*table.columns} <= {*known.columns}:
        raise InvalidInput(f"the schema of the backup is not known: table {table.name}")


@contextmanager
def _open_to_read(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise InvalidInput(f"the backup {path} can't be read: {error.strerror}") from None
    with file:
        yield file
