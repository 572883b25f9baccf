"""Backups as JSONL files. A file is written under a temporary name, synced, then renamed: a file
with its final name is complete, also after a crash."""

import contextlib
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from recollect.kernel.errors import Unavailable

_TIMESTAMP_FORMAT = "%Y%m%dT%H%M%S.%fZ"
_FILE_NAME = re.compile(r"memories-(\d{8}T\d{6}\.\d{6}Z)-[0-9a-f]{8}\.jsonl(\.[0-9a-f]{8}\.part)?")
_PARTIAL_SUFFIX = ".part"
_RETRY_SECONDS = 60


class FileBackupWriter:
    """The port's BackupWriter. Files have mode 0600: they contain memories."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # A random suffix: the partial file of a killed process can't block this one.
        self._part = path.with_name(f"{path.name}.{secrets.token_hex(4)}{_PARTIAL_SUFFIX}")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = os.fdopen(opened, "w", encoding="utf-8", newline="\n")

    def write(self, lines: Sequence[str]) -> None:
        with _translate_os_errors():
            self._file.writelines(f"{line}\n" for line in lines)

    def finish(self) -> str:
        # Sync the file before the rename and the folder after it: otherwise a crash could leave the
        # final name with missing content, or lose the name.
        with _translate_os_errors():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._part.rename(self._path)
            _sync_folder(self._path.parent)
        return str(self._path)

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
            self._part.unlink(missing_ok=True)


class FileBackupFolder:
    """The port's BackupFolder. File names contain the time at which the backup began."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, at: datetime) -> FileBackupWriter:
        stamp = at.astimezone(UTC).strftime(_TIMESTAMP_FORMAT)
        with _translate_os_errors():
            return FileBackupWriter(self._folder / f"memories-{stamp}-{secrets.token_hex(4)}.jsonl")

    def count_lines(self, matches: Callable[[str], bool]) -> tuple[int, int]:
        lines = [line for path in self._list_files() for line in _read_lines(path)]
        return len(lines), sum(map(matches, lines))

    def remove_lines(self, matches: Callable[[str], bool]) -> int:
        return sum(self._remove_lines_from(path, matches) for path in self._list_files())

    def _remove_lines_from(self, path: Path, matches: Callable[[str], bool]) -> int:
        """Rewrite one file without the doomed lines; returns how many there were.

        A partial file is deleted instead: no row has been deleted yet that relies on it. A vacuum
        that is still writing it fails with Unavailable at the rename, and deletes nothing.
        """
        lines = _read_lines(path)
        kept = [line for line in lines if not matches(line)]
        if len(kept) < len(lines) and path.suffix == _PARTIAL_SUFFIX:
            with _translate_os_errors():
                path.unlink(missing_ok=True)
        elif len(kept) < len(lines):
            with _translate_os_errors():
                fresh = FileBackupWriter(path)
            fresh.write(kept)
            fresh.finish()
        return len(lines) - len(kept)

    def prune(self, before: datetime) -> int:
        # By the time in the name: a purge rewrites files, and would make them young again by mtime.
        old = [path for path in self._list_files() if _parse_begin_time(path) < before]
        with _translate_os_errors():
            for path in old:
                path.unlink(missing_ok=True)
        return len(old)

    def _list_files(self) -> list[Path]:
        """Complete and partial files; other files in the folder are left alone."""
        found = self._folder.glob("memories-*")
        return sorted(path for path in found if _FILE_NAME.fullmatch(path.name))


def _read_lines(path: Path) -> list[str]:
    """All lines; the last one of a partial file may be cut off."""
    return [line for line in path.read_text(encoding="utf-8", errors="replace").split("\n") if line]


def _parse_begin_time(path: Path) -> datetime:
    stamp = path.name.split("-")[1]
    return datetime.strptime(stamp, _TIMESTAMP_FORMAT).replace(tzinfo=UTC)


def _sync_folder(folder: Path) -> None:
    """A rename is durable only after the folder is synced."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextlib.contextmanager
def _translate_os_errors() -> Iterator[None]:
    """Turn OSError into Unavailable."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or "the disk refuses"
        raise Unavailable(
            f"the backup can't be written ({reason}); nothing was removed",
            retry_after_seconds=_RETRY_SECONDS,
        ) from error
