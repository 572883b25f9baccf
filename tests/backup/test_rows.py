"""Rows as bytes and back, whatever is in them."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recollect.backup.rows import RowsDigest, decode_block, encode_blocks

VALUES = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
BLOBS = st.none() | st.binary(max_size=2_000)
ROWS = st.lists(st.tuples(VALUES, BLOBS, VALUES, BLOBS), max_size=40)


def decode(blocks: list[bytes], blobs: tuple[int, ...]) -> tuple[list[Any], RowsDigest]:
    digest = RowsDigest()
    return [tuple(row) for block in blocks for row in decode_block(block, blobs, digest)], digest


def typed(rows: list[Any]) -> str:
    """1 and 1.0 are equal and not the same; nor are 0.0 and -0.0."""
    return repr(rows)


@given(rows=ROWS)
def test_rows_come_back_as_they_were(rows: list[Any]) -> None:
    written = RowsDigest()
    blocks = list(encode_blocks(rows, (1, 3), written))
    found, read = decode(blocks, (1, 3))
    assert typed(found) == typed(rows)
    assert read == written
    assert read.rows == len(rows)


@given(rows=ROWS, data=st.data())
def test_a_digest_knows_every_row_and_not_their_order(rows: list[Any], data: st.DataObject) -> None:
    def digest(of: list[Any]) -> RowsDigest:
        found = RowsDigest()
        for row in of:
            found.add_row(row, (1, 3))
        return found

    assert digest(data.draw(st.permutations(rows))) == digest(rows)
    assert digest([*rows, ("more", None, None, None)]) != digest(rows)
    if rows:
        assert digest(rows[1:]) != digest(rows)
        first = (rows[0][0], (rows[0][1] or b"") + b"!", *rows[0][2:])
        assert digest([first, *rows[1:]]) != digest(rows)


def test_many_rows_are_many_blocks_of_bounded_size() -> None:
    rows = [("text of a row " * 100, bytes(1_000)) for _ in range(3_000)]
    blocks = list(encode_blocks(rows, (1,), RowsDigest()))
    assert len(blocks) > 10
    assert max(map(len, blocks)) < 1_000_000
    assert decode(blocks, (1,))[0] == rows
