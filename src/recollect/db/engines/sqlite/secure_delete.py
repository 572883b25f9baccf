"""Removes deleted content from the database file, and counts bytes that may remain in it."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import apsw

from recollect.kernel.errors import Unavailable

_CHUNK_BYTES = 4 * 1024 * 1024
_OPTIMIZE = """
INSERT INTO entry_words (entry_words) VALUES ('optimize');
INSERT INTO memory_words (memory_words) VALUES ('optimize');
VACUUM;
"""


def vacuum_file(connection: apsw.Connection, *, whole: bool) -> None:
    """Truncate the WAL, which holds older versions of pages; with `whole` rewrite the file first.

    Rewriting drops free pages, and merges the full-text indexes: FTS5 keeps deleted words in its
    segments until they are merged. Raises Unavailable while a reader still needs the WAL.
    """
    if whole:
        connection.execute(_OPTIMIZE).fetchall()
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0]
    if busy:
        raise Unavailable("the log of changes can't be cut off while it is read; try again")


def count_bytes(path: Path, needles: Sequence[bytes]) -> list[int]:
    """How often each byte string occurs in the file and its WAL, ignoring the case of ASCII.

    One that also occurs in the schema (a column's name, say) counts as absent.
    """
    lowered = [needle.lower() for needle in needles]
    counts = [0] * len(needles)
    for file in (path, path.with_name(f"{path.name}-wal")):
        with suppress(FileNotFoundError):
            _count_in_file(file, lowered, counts)
    schema = _read_schema(path)
    return [0 if one in schema else n for one, n in zip(lowered, counts, strict=True)]


def _count_in_file(file: Path, needles: Sequence[bytes], counts: list[int]) -> None:
    overlap = max(map(len, needles), default=1) - 1
    with file.open("rb") as opened:
        tail = b""
        while chunk := opened.read(_CHUNK_BYTES):
            window = tail + chunk.lower()
            # `tail` is as long as the longest needle less one. A shorter needle must not be
            # carried twice in it, so its search starts its own length less one before the chunk.
            for at, needle in enumerate(needles):
                carried = tail[max(0, len(tail) - len(needle) + 1) :] if needle else b""
                counts[at] += window.count(needle, len(tail) - len(carried))
            tail = window[-overlap:] if overlap else b""


def _read_schema(path: Path) -> bytes:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    finally:
        connection.close()
    return "\n".join(str(row[0]) for row in rows).lower().encode()
