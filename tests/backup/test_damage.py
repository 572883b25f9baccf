"""A backup that is not as it was written is refused, wherever the damage is."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.backup import seal
from recollect.backup.model import BackupSummary
from recollect.backup.parts import PartWriter
from recollect.backup.read import verify_backup
from recollect.backup.seal import make_header
from recollect.kernel.errors import InvalidInput
from tests.backup.planted import back_up
from tests.support.builders import plant
from tests.support.engines import a_fast_folder, a_sqlite_database
from tests.support.storage import a_storage

PASSPHRASE = "correct horse"
SIZE_BYTES = 4


@pytest.fixture(scope="module", params=[None, PASSPHRASE], ids=["plain", "encrypted"])
def backup(request: pytest.FixtureRequest) -> Iterator[tuple[bytes, str | None]]:
    """A small backup, and its passphrase."""
    with a_fast_folder() as folder:
        database = a_sqlite_database(folder)
        with a_storage(database) as storage:
            plant(storage, title="kept")
        with pytest.MonkeyPatch.context() as patch:
            # Each try to open a file derives its key again, and there are hundreds.
            patch.setattr(seal, "_COST", 2**4)
            back_up(database, folder / "file", request.param)
        yield (folder / "file").read_bytes(), request.param


@pytest.fixture
def verify(tmp_path: Path) -> Callable[[bytes, str | None], BackupSummary]:
    def run(content: bytes, passphrase: str | None) -> BackupSummary:
        path = tmp_path / "changed"
        path.write_bytes(content)
        return verify_backup(path, passphrase=passphrase, progress=lambda done, total: None)

    return run


Backup = tuple[bytes, str | None]
Verify = Callable[[bytes, str | None], BackupSummary]


def parts_of(content: bytes) -> tuple[bytes, list[bytes]]:
    """The header, and the parts with their sizes."""
    magic, _, rest = content.partition(b"\n")
    at = len(magic) + 1 + SIZE_BYTES + int.from_bytes(rest[:SIZE_BYTES], "big") + 32
    header, parts = content[:at], []
    while at < len(content):
        size = SIZE_BYTES + int.from_bytes(content[at : at + SIZE_BYTES], "big")
        parts.append(content[at : at + size])
        at += size
    return header, parts


def refused(verify: Verify, content: bytes, passphrase: str | None) -> str:
    with pytest.raises(InvalidInput) as refusal:
        verify(content, passphrase)
    assert "\n" not in refusal.value.message
    return refusal.value.message


def test_a_whole_backup_is_accepted(backup: Backup, verify: Verify) -> None:
    content, passphrase = backup
    summary = verify(content, passphrase)
    assert summary.tables["conversations"] == 1
    assert summary.encrypted == (passphrase is not None)
    assert (b"conversation_groups" in content) == (passphrase is None)


def test_a_flipped_bit_is_found_in_every_part(backup: Backup, verify: Verify) -> None:
    """In the size, the first byte, the middle and the mark of each part, and in the header."""
    content, passphrase = backup
    header, parts = parts_of(content)
    places = list(range(0, len(header), 9))
    at = len(header)
    for part in parts:
        places += [at + SIZE_BYTES - 1, at + SIZE_BYTES, at + len(part) // 2, at + len(part) - 1]
        at += len(part)
    for place in places:
        changed = bytearray(content)
        changed[place] ^= 0x10
        message = refused(verify, bytes(changed), passphrase)
        assert "damaged" in message, (place, message)


def test_a_backup_that_was_cut_is_refused(backup: Backup, verify: Verify) -> None:
    content, passphrase = backup
    header, parts = parts_of(content)
    ends = [len(header) + sum(map(len, parts[:count])) for count in range(len(parts))]
    near = [end + more for end in ends for more in (0, 1, SIZE_BYTES, 30)]
    for place in (0, 5, 40, *near):
        assert "damaged" in refused(verify, content[:place], passphrase), place
    for more in (b"\0", bytes(SIZE_BYTES), parts[-1]):
        assert "damaged" in refused(verify, content + more, passphrase)


def test_parts_in_another_order_are_refused(backup: Backup, verify: Verify) -> None:
    content, passphrase = backup
    header, parts = parts_of(content)
    for first in (0, 1, len(parts) // 2, len(parts) - 2):
        swapped = parts.copy()
        swapped[first], swapped[first + 1] = swapped[first + 1], swapped[first]
        assert "damaged" in refused(verify, header + b"".join(swapped), passphrase)
    without = parts[:3] + parts[4:]
    twice = parts[:3] + parts[2:]
    for changed in (without, twice):
        assert "damaged" in refused(verify, header + b"".join(changed), passphrase)


def test_a_part_of_another_backup_is_refused(
    backup: Backup, verify: Verify, tmp_path: Path
) -> None:
    content, passphrase = backup
    database = a_sqlite_database(tmp_path)
    with a_storage(database) as storage:
        plant(storage, title="kept")
    back_up(database, tmp_path / "file", passphrase)
    header, parts = parts_of(content)
    _, others = parts_of((tmp_path / "file").read_bytes())
    mixed = [*parts[:4], others[4], *parts[5:]]
    assert "damaged" in refused(verify, header + b"".join(mixed), passphrase)


def test_a_wrong_passphrase_is_told_from_damage(backup: Backup, verify: Verify) -> None:
    content, passphrase = backup
    if passphrase is None:
        assert verify(content, "not needed").tables
        return
    assert refused(verify, content, "wrong") == "the passphrase is not that of this backup"
    assert "give its passphrase" in refused(verify, content, None)


def test_another_file_is_no_backup(verify: Verify) -> None:
    for content in (b"", b"SQLite format 3\x00", b"recollect backup", bytes(100)):
        assert "no backup" in refused(verify, content, None)


def test_tables_that_are_left_out_are_missed(verify: Verify) -> None:
    """By whoever writes the file: each part is sealed as it should be."""
    header, sealing = make_header(None)
    written = [header]
    parts = PartWriter(written.append, sealing)
    manifest = {"created_at": "", "version": "1", "engine": "sqlite", "schema_version": 1}
    parts.write(b"M" + json.dumps(manifest | {"rows": 0, "encryption_keys": []}).encode())
    parts.write(b"Z" + json.dumps({"tables": {"entries": 1}}).encode(), last=True)
    assert "its tables" in refused(verify, b"".join(written), None)
