"""Recordings on the disk: what was written is read again, from every place that was given out."""

import asyncio
from collections.abc import Coroutine, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from unittest.mock import ANY

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.db.encryption import AesGcmCipher
from recollect.kernel.errors import RecordingFull
from recollect.recordings.files import (
    FRAME_CHARACTERS_MAX,
    QUICK_CHARACTERS,
    LocalRecordingFile,
    LocalRecordingFiles,
)

T = TypeVar("T")
PLAIN, SEALED = AesGcmCipher([]), AesGcmCipher([("k1", bytes(range(32)))])
LETTERS = st.sampled_from("a\x00é€\U0001f600\u0301")
SIZES = st.sampled_from((1, 7, FRAME_CHARACTERS_MAX, FRAME_CHARACTERS_MAX + 1))
TEXTS = st.lists(st.builds(lambda letter, size: letter * size, LETTERS, SIZES), max_size=6)
CIPHERS = pytest.mark.parametrize("cipher", [PLAIN, SEALED], ids=["plain", "sealed"])


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


def new_file(folder: Path, cipher: AesGcmCipher, *, bytes_max: int = 10**9) -> LocalRecordingFile:
    recording_files = LocalRecordingFiles(folder, cipher, bytes_max=bytes_max, leftover_seconds=0)
    return run(recording_files.create("a-recording"))


async def read_from(file: LocalRecordingFile, offset: int) -> tuple[str, list[int]]:
    """All text from an offset on, and the offsets on the way."""
    texts = ""
    offsets: list[int] = []
    while True:
        text, offset = await file.read(offset)
        if not text:
            return texts, offsets
        texts += text
        offsets.append(offset)


@CIPHERS
@given(texts=TEXTS)
@settings(max_examples=40, deadline=None)
def test_every_place_that_was_given_out_leads_to_the_rest(
    folder: Path, cipher: AesGcmCipher, texts: list[str]
) -> None:
    file = new_file(folder, cipher)
    ends = [0]

    async def write() -> None:
        for text in texts:
            await file.write(text)
            ends.append(file.end)

    try:
        run(write())
        for number, end in enumerate(ends):
            rest, offsets = run(read_from(file, end))
            assert rest == "".join(texts[number:])
            for offset in offsets:
                assert rest.endswith(run(read_from(file, offset))[0])
    finally:
        file.close()


@CIPHERS
@given(texts=TEXTS, offset=st.integers(-5, 200_000))
@settings(max_examples=60, deadline=None)
def test_no_other_place_does_harm(
    folder: Path, cipher: AesGcmCipher, texts: list[str], offset: int
) -> None:
    """It is refused, or by chance it is a place."""
    file = new_file(folder, cipher)

    async def look() -> None:
        for text in texts:
            await file.write(text)
        try:
            text, behind = await file.read(offset)
        except ValueError:
            return
        assert offset <= behind <= file.end
        assert cipher is PLAIN or text in "".join(texts)

    try:
        run(look())
    finally:
        file.close()


@CIPHERS
def test_a_long_text_is_written_whole_or_not_at_all(folder: Path, cipher: AesGcmCipher) -> None:
    text = "€" * (QUICK_CHARACTERS + 1)
    file = new_file(folder, cipher, bytes_max=int(1.5 * 3 * len(text)))
    run(file.write(text))
    end = file.end
    with pytest.raises(RecordingFull):
        run(file.write(text))
    assert (file.end, run(read_from(file, 0))) == (end, (text, ANY))
    file.close()


def test_a_recording_has_the_bytes_it_may_have_and_no_more(folder: Path) -> None:
    file = new_file(folder, PLAIN, bytes_max=4 + 10)
    with pytest.raises(RecordingFull, match="14 bytes"):
        run(file.write("é" * 5 + "a"))
    run(file.write("é" * 5))
    assert file.end == 14
    file.close()


def test_who_is_stopped_while_a_text_is_written_has_written_it(folder: Path) -> None:
    file = new_file(folder, PLAIN)
    text = "x" * 5_000_000

    async def stop() -> None:
        writing = asyncio.ensure_future(file.write(text))
        await asyncio.sleep(0)
        writing.cancel()
        file.close()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert file.end > len(text)

    file.acquire()
    run(stop())
    assert run(read_from(file, 0))[0] == text
    file.release()
    assert list(folder.iterdir()) == []


def test_a_reader_that_began_in_time_reads_on_after_the_file_is_gone(folder: Path) -> None:
    file = new_file(folder, PLAIN)
    run(file.write("to the end"))
    file.acquire()
    file.close()
    assert list(folder.iterdir()) == []
    assert run(file.read(0)) == ("to the end", file.end)
    file.release()
    assert run(file.read(0)) == ("", 0)
