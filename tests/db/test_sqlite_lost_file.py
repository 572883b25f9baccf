"""A SQLite file that can't be opened any more: an answer for everybody, and no thread that dies."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.db.transaction import Tx
from recollect.kernel.errors import Unavailable
from tests.support.engines import a_sqlite_database
from tests.support.storage import Storage, a_storage, an_engine


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Storage]:
    (tmp_path / "data").mkdir()
    with a_storage(a_sqlite_database(tmp_path / "data")) as running:
        yield running


def nothing(_: Tx) -> str:
    return "done"


def without_folder(sqlite: Storage) -> Path:
    """A file is where the folder was; threads have opened no connection yet."""
    folder = sqlite.database.path.parent
    away = folder.rename(folder.with_name("away"))
    folder.touch()
    return away


@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_thread_that_can_t_open_the_file_says_so_and_goes_on(sqlite: Storage, kind: str) -> None:
    call = getattr(sqlite, kind)
    away = without_folder(sqlite)
    for _ in range(2):
        with pytest.raises(Unavailable):
            call(nothing)
    folder = sqlite.database.path.parent
    folder.unlink()
    away.rename(folder)
    assert call(nothing) == "done"


def test_a_folder_that_is_a_file_is_unavailable_to_scripts(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    engine = an_engine(a_sqlite_database(tmp_path / "data"))
    with pytest.raises(Unavailable):
        engine.query_script("SELECT 1")
