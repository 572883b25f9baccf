"""Sealed values: they open where they were sealed, and nowhere else."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.db.encryption import AesGcmCipher
from recollect.kernel.errors import Internal
from recollect.kernel.runtime import (
    SEALED_MARKER,
    SEALED_PREFIX_CHARACTERS,
    Cipher,
)

OLD = ("old", bytes(range(32)))
NEW = ("new-key_2030.20chars", bytes(range(32, 64)))
PLACE = {"table": "entries", "column": "content", "row_id": "r1"}
SECRET = "Purple elephants"

cipher: Cipher = AesGcmCipher([OLD])
rotated: Cipher = AesGcmCipher([NEW, OLD])
plain: Cipher = AesGcmCipher()

texts = st.text().filter(lambda text: not text.startswith("\x01"))


def raw(sealed: str) -> bytes:
    """The bytes behind the marker."""
    body = sealed.removeprefix(SEALED_MARKER)
    return base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))


def with_raw(changed: bytes) -> str:
    """A stored value with these bytes behind the marker."""
    return SEALED_MARKER + base64.urlsafe_b64encode(changed).rstrip(b"=").decode()


def refused(stored: str, by: Cipher = cipher) -> str:
    """The message of the refusal."""
    with pytest.raises(Internal) as failure:
        by.open(stored, **PLACE)
    assert SECRET not in failure.value.message
    return failure.value.message


@given(texts)
def test_what_is_sealed_opens_again(text: str) -> None:
    sealed = cipher.seal(text, **PLACE)
    assert sealed.startswith(SEALED_MARKER)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", sealed.removeprefix(SEALED_MARKER))
    assert cipher.open(sealed, **PLACE) == text


@given(texts)
def test_plain_values_pass_through(text: str) -> None:
    assert plain.seal(text, **PLACE) == text
    for each in (plain, cipher, rotated):
        assert each.open(text, **PLACE) == text
        assert each.key_id(text) is None


@given(st.text(max_size=9), st.text(max_size=9), st.text(max_size=9))
def test_a_value_moved_elsewhere_does_not_open(table: str, column: str, row_id: str) -> None:
    sealed = cipher.seal(SECRET, table=table, column=column, row_id=row_id)
    assert cipher.open(sealed, table=table, column=column, row_id=row_id) == SECRET
    for elsewhere in (
        (table + "x", column, row_id),
        (table, column, row_id + "x"),
        (table + column, "", row_id),
        (table, column + row_id, "") if row_id else (table, "x" + column, row_id),
    ):
        if elsewhere == (table, column, row_id):
            continue
        with pytest.raises(Internal):
            cipher.open(sealed, table=elsewhere[0], column=elsewhere[1], row_id=elsewhere[2])


@given(st.integers(1, 255), texts)
def test_every_changed_byte_is_noticed(mask: int, text: str) -> None:
    sealed = raw(cipher.seal(text, **PLACE))
    for index in range(len(sealed)):
        changed = bytearray(sealed)
        changed[index] ^= mask
        refused(with_raw(bytes(changed)), rotated)


@given(st.characters(codec="utf-8"))
def test_every_changed_character_is_noticed(character: str) -> None:
    sealed = cipher.seal(SECRET, **PLACE)
    for index in range(1, len(sealed)):
        if sealed[index] != character:
            refused(sealed[:index] + character + sealed[index + 1 :])


def test_every_cut_and_every_addition_is_noticed() -> None:
    sealed = cipher.seal(SECRET, **PLACE)
    for length in range(1, len(sealed)):
        refused(sealed[:length])
    for tail in ("A", "=", "==", "AAAA", "\n", " ", "é"):
        refused(sealed + tail)


def test_sealing_twice_gives_two_texts() -> None:
    assert len({cipher.seal(SECRET, **PLACE) for _ in range(100)}) == 100


def test_the_format_is_version_key_id_nonce_and_ciphertext_with_tag() -> None:
    bytes_ = raw(cipher.seal(SECRET, **PLACE))
    assert bytes_[:21] == b"\x01" + b"old".ljust(20, b"\0")
    assert len(bytes_) == 21 + 12 + len(SECRET) + 16


def test_the_first_key_seals_and_all_keys_open() -> None:
    old, new = cipher.seal(SECRET, **PLACE), rotated.seal(SECRET, **PLACE)
    assert (rotated.key_id(old), rotated.key_id(new)) == (OLD[0], NEW[0])
    assert rotated.open(old, **PLACE) == rotated.open(new, **PLACE) == SECRET
    assert (rotated.is_current(old), rotated.is_current(new)) == (False, True)
    assert not rotated.is_current(SECRET)
    assert plain.is_current(SECRET)
    assert not plain.is_current(old)


def test_a_prefix_tells_the_key_of_a_stored_value() -> None:
    for each, key_id in ((cipher, OLD[0]), (rotated, NEW[0])):
        prefix = each.current_prefix()
        assert prefix is not None
        assert prefix == each.prefix(key_id)
        assert len(prefix) == SEALED_PREFIX_CHARACTERS
        assert each.seal(SECRET, **PLACE).startswith(prefix)
        assert each.key_id(prefix) == plain.key_id(prefix) == key_id
    assert plain.current_prefix() is None
    assert (plain.key_ids(), rotated.key_ids()) == ((), (NEW[0], OLD[0]))
    assert (plain.is_enabled, cipher.is_enabled) == (False, True)


def test_an_unknown_key_is_named_with_the_row() -> None:
    message = refused(rotated.seal(SECRET, **PLACE))
    assert all(name in message for name in ("entries", "content", "r1", NEW[0]))
    assert OLD[0] in refused(cipher.seal(SECRET, **PLACE), plain)


def test_a_wrong_key_under_a_known_id_does_not_open() -> None:
    other = AesGcmCipher([("old", bytes(32))])
    assert "r1" in refused(cipher.seal(SECRET, **PLACE), other)


@pytest.mark.parametrize("stored", ["\x01", "\x01rc2:AAAA", "\x01rc1:", "\x01rc1:é", "\x01" * 40])
def test_garbage_behind_the_marker_is_never_returned(stored: str) -> None:
    for each in (cipher, plain):
        refused(stored, each)
        with pytest.raises(Internal):
            each.key_id(stored)


@pytest.mark.parametrize(
    "keys",
    [
        [("a", bytes(31))],
        [("a", bytes(16))],
        [("", bytes(32))],
        [("x" * 21, bytes(32))],
        [("clé", bytes(32))],
        [("a b", bytes(32))],
        [("a\n", bytes(32))],
        [("a", bytes(32)), ("a", bytes(32))],
    ],
)
def test_keys_that_cant_be_right_are_refused(keys: list[tuple[str, bytes]]) -> None:
    with pytest.raises(ValueError, match="encryption key"):
        AesGcmCipher(keys)
