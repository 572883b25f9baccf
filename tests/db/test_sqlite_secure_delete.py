"""The file of the database after a removal: nothing of it is left, and the search would tell."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest
from sqlalchemy import text

from recollect.db import migrations
from recollect.db.engines.sqlite import SqliteEngine, secure_delete
from recollect.db.engines.sqlite.secure_delete import count_bytes, vacuum_file
from recollect.db.statements import Query
from recollect.db.transaction import Tx
from recollect.kernel.errors import Unavailable
from recollect.observability.metrics import NoMetrics

PUT = Query(text("INSERT INTO server_state VALUES (:name, 'quillfeather')"))
DROP = Query(text("DELETE FROM server_state"))
COUNT = Query(text("SELECT count(*) FROM server_state"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of the newest schema."""
    path = tmp_path / "r.db"
    migrations.migrate(SqliteEngine(path, readers=1, metrics=NoMetrics()))
    return path


@pytest.fixture
def engine(path: Path) -> Iterator[SqliteEngine]:
    """A running one."""
    engine = SqliteEngine(path, readers=1, metrics=NoMetrics())
    engine.start()
    yield engine
    asyncio.run(engine.close())


def putting(name: str) -> Callable[[Tx], None]:
    return lambda tx: tx.run(PUT, {"name": name})


def test_a_scrub_beside_writes_leaves_no_byte_of_what_was_removed(
    engine: SqliteEngine, path: Path
) -> None:
    async def work() -> int:
        await engine.write(putting("a"))
        await engine.write(lambda tx: tx.run(DROP, {}))
        puts = [engine.write(putting(f"n{number}")) for number in range(20)]
        await asyncio.gather(*puts, engine.scrub(["server_state"]))
        rows = await engine.read(lambda tx: tx.fetch(COUNT, {}))
        await engine.write(lambda tx: tx.run(DROP, {}))
        await engine.scrub(["server_state"])
        return int(rows[0][0])

    assert asyncio.run(work()) == 20
    assert count_bytes(path, [b"quillfeather"]) == [0]
    assert path.with_name("r.db-wal").stat().st_size == 0


def test_bytes_are_counted_in_both_files_whatever_their_case(
    engine: SqliteEngine, path: Path
) -> None:
    asyncio.run(engine.write(putting("a")))
    assert count_bytes(path, [b"QuillFeather"])[0] >= 1
    # A word of the schema is nobody's.
    assert count_bytes(path, [b"server_state"]) == [0]


def test_a_needle_across_two_chunks_is_counted_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in (3, 5, 7):
        monkeypatch.setattr(secure_delete, "_CHUNK_BYTES", size)
        file = path.with_name(f"plain-{size}")
        file.write_bytes(b"xxabcdexabcdabcdex")
        counts = [0, 0]
        secure_delete._count_in_file(file, [b"abcde", b"abcd"], counts)
        assert counts == [2, 3]


def test_a_reader_that_stays_makes_the_scrub_come_back_later(path: Path) -> None:
    reader, writer = apsw.Connection(str(path)), apsw.Connection(str(path))
    reader.execute("BEGIN; SELECT count(*) FROM server_state").fetchall()
    writer.execute("INSERT INTO server_state VALUES ('a', 'b')").fetchall()
    with pytest.raises(Unavailable):
        vacuum_file(writer, whole=False)
    reader.execute("COMMIT").fetchall()
    vacuum_file(writer, whole=False)
    reader.close()
    writer.close()
