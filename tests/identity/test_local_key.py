"""The key file of local mode."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.identity.tokens.local_key import KEY_BYTES, load_or_create

MAKERS = 4
MAKE = """
import sys
from pathlib import Path
from recollect.identity.tokens.local_key import load_or_create
sys.stdin.readline()
print(load_or_create(Path(sys.argv[1])).hex())
"""


def test_a_key_is_made_once_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "recollect.key"
    key = load_or_create(path)
    assert len(key) == KEY_BYTES
    assert load_or_create(path) == key
    assert load_or_create(tmp_path / "other.key") != key


def test_only_the_owner_may_read_it_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "recollect.key"
    before = os.umask(0)
    try:
        load_or_create(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["recollect.key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o602])
def test_a_key_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "recollect.key"
    load_or_create(path)
    path.chmod(mode)
    with pytest.raises(ValueError, match="by others"):
        load_or_create(path)


@pytest.mark.parametrize("text", [b"", b"c2hvcnQ=", b"not base64!", b"A" * 1000, b"\xff" * 44])
def test_a_file_without_a_key_is_refused_and_kept(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "recollect.key"
    path.touch(0o600)
    path.write_bytes(text)
    with pytest.raises(ValueError, match="holds no key"):
        load_or_create(path)
    assert path.read_bytes() == text


def test_threads_that_start_at_once_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        keys = set(threads.map(load_or_create, [tmp_path / "recollect.key"] * 64))
    assert len(keys) == 1


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MAKE, str(tmp_path / "recollect.key")]
    makers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(MAKERS)
    ]
    for maker in makers:
        assert maker.stdin is not None
        maker.stdin.write("go\n")
        maker.stdin.flush()
    keys = {maker.communicate(timeout=30)[0] for maker in makers}
    assert len(keys) == 1
    assert len(keys.pop().strip()) == KEY_BYTES * 2
