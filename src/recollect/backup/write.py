"""Writes a backup of a database that may be in use."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recollect import __version__
from recollect.backup.model import BackupSummary, Manifest, Progress
from recollect.backup.output_file import OutputFile
from recollect.backup.parts import PartWriter
from recollect.backup.rows import RowsDigest, encode_blocks
from recollect.backup.seal import make_header
from recollect.db.engines.base import Engine
from recollect.db.key_check import CHECK_PREFIX
from recollect.db.row_copy import RowReader, StoredTable
from recollect.kernel.clock import Clock, to_text

# The first byte of a part says what it is.
MANIFEST, TABLE, ROWS, TABLE_END, END = b"M", b"T", b"R", b"E", b"Z"
_STATE = "server_state"


def write_backup(
    engine: Engine,
    path: Path,
    *,
    passphrase: str | None,
    overwrite: bool,
    clock: Clock,
    progress: Progress,
) -> BackupSummary:
    """Write all rows, as they are now, to a new file. The file has its name once it is complete and
    on the disk. Raises Conflict if there is one of that name, unless it may be overwritten."""
    with OutputFile(path, overwrite=overwrite) as output, engine.open_snapshot() as rows:
        created_at = to_text(clock.now())
        header, seal = make_header(passphrase)
        output.write(header)
        parts = PartWriter(output.write, seal)
        tables = rows.tables
        manifest = Manifest(
            created_at=created_at,
            version=__version__,
            engine=engine.name,
            schema_version=rows.schema_version,
            rows=sum(table.rows for table in tables),
            encryption_keys=_key_ids(rows, tables),
        )
        parts.write(MANIFEST + _to_json(manifest.to_json()))
        written: dict[str, int] = {}
        for table in tables:
            done = sum(written.values())
            written[table.name] = _write_table(parts, rows, table, done, manifest.rows, progress)
        parts.write(END + _to_json({"tables": written}), last=True)
        size_bytes = output.finish()
    return BackupSummary(manifest, passphrase is not None, size_bytes, written)


def _write_table(
    parts: PartWriter,
    rows: RowReader,
    table: StoredTable,
    done: int,
    total: int,
    progress: Progress,
) -> int:
    head = {"name": table.name, "columns": table.columns, "blobs": table.blobs}
    parts.write(TABLE + _to_json(head | {"last_number": table.last_number}))
    digest = RowsDigest()
    for block in encode_blocks(rows.read(table), table.blobs, digest):
        parts.write(ROWS + block)
        progress(done + digest.rows, total)
    parts.write(TABLE_END + _to_json({"rows": digest.rows, "digest": digest.hex()}))
    return digest.rows


def _key_ids(rows: RowReader, tables: Sequence[StoredTable]) -> tuple[str, ...]:
    """The ids of the keys that encrypted values: the database keeps a check value of each."""
    state = next(table for table in tables if table.name == _STATE)
    at = state.columns.index("name")
    names = [str(row[at]) for row in rows.read(state)]
    return tuple(sorted(n[len(CHECK_PREFIX) :] for n in names if n.startswith(CHECK_PREFIX)))


def _to_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
