"""Backups as files: whole or not there, and nothing in them outlives an erasure."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from recollect.retention.backup_files import FileBackupFolder

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def names_ann(line: str) -> bool:
    return "ann" in line


def test_a_finished_file_loses_only_the_lines_that_must_go(tmp_path: Path) -> None:
    backups = FileBackupFolder(tmp_path)
    backup = backups.begin(NOON)
    backup.write(["about ann", "about bob"])
    path = Path(backup.finish())
    assert backups.count_lines(names_ann) == (2, 1)
    assert backups.remove_lines(names_ann) == 1
    assert path.read_text() == "about bob\n"
    assert backups.count_lines(names_ann) == (1, 0)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_what_a_killed_process_left_is_searched_and_goes_too(tmp_path: Path) -> None:
    backups = FileBackupFolder(tmp_path)
    cut = backups.begin(NOON)
    cut.write(["about bob", "about ann, and then the machine stop"])
    cut._file.close()
    (left,) = tmp_path.iterdir()
    left.write_text(left.read_text().rstrip("\n"))
    assert backups.count_lines(names_ann) == (2, 1)
    assert backups.remove_lines(names_ann) == 1
    assert not left.exists()


def test_a_left_over_is_in_nobodys_way(tmp_path: Path) -> None:
    backups = FileBackupFolder(tmp_path)
    backup = backups.begin(NOON)
    backup.write(["about ann", "about bob"])
    path = Path(backup.finish())
    path.with_name(f"{path.name}.00000000.part").touch()
    assert backups.remove_lines(names_ann) == 1
    assert path.read_text() == "about bob\n"
    assert backups.prune(NOON + timedelta(days=1)) == 2
    assert not list(tmp_path.iterdir())
