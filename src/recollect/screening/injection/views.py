"""The readings of a text in which signs of injection are searched.

All readings are skeletons: lower case, without accents, letters that look Latin replaced by Latin
ones, white space reduced to one space or line feed. The signs are written for skeletons.
"""

import base64
import binascii
import re
from collections.abc import Iterator

from recollect.screening.skeleton import skeleton
from recollect.text import deobfuscate


def readings(text: str) -> tuple[str, ...]:
    """The skeletons of a text and of everything disguised in it, each once, the text first.

    The disguises: percent and JSON escapes, spaced letters and invisible characters
    (`deobfuscate.readable_forms`), numeric HTML entities, letters parted by marks
    (`i.g.n.o.r.e`), and digits for letters (`1gn0re`).
    """
    found = [skeleton(view) for view in deobfuscate.readable_forms(_decode_entities(text))]
    last = found[-1]
    found += (_SPELLED.sub(_join_letters, last), _replace_leetspeak(last))
    return tuple(dict.fromkeys(found))


def encoded_readings(text: str) -> tuple[str, ...]:
    """The skeletons of what is encoded in a text in base64 or as hexadecimal bytes."""
    runs = (*_decode_base64_runs(text), *_decode_hex_runs(text))
    return tuple(dict.fromkeys(skeleton(deobfuscate.to_plain_text(run)) for run in runs))


def _decode_entities(text: str) -> str:
    return _ENTITY.sub(_decode_entity, text) if "&#" in text else text


def _decode_entity(found: re.Match[str]) -> str:
    code = int(found["hex"], 16) if found["hex"] else int(found["number"])
    return chr(code) if code < 0x110000 else found[0]


def _join_letters(found: re.Match[str]) -> str:
    return _SPELLING_MARK.sub("", found[0])


def _replace_leetspeak(reading: str) -> str:
    """The reading with leetspeak replaced, but only in words that orders use.

    Replacing digits everywhere would make nonsense of version numbers and ids.
    """
    return _DIGIT_WORD.sub(_to_letters, reading)


def _to_letters(found: re.Match[str]) -> str:
    lettered = found[0].translate(_LETTERS_OF_DIGITS)
    return lettered if lettered in _WORDS_OF_ORDERS else found[0]


def _decode_base64_runs(text: str) -> Iterator[str]:
    # Only what decodes to UTF-8 can be a message; keys and hashes are in base64 too.
    for found in _BASE64.finditer(text):
        run = _BLANK.sub("", found[0]).translate(_URL_SAFE)
        try:
            yield base64.b64decode(run[: len(run) // 4 * 4]).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue


def _decode_hex_runs(text: str) -> Iterator[str]:
    for found in _HEX.finditer(text):
        digits = _HEX_JOINT.sub("", found[0])
        try:
            yield bytes.fromhex(digits[: len(digits) // 2 * 2]).decode()
        except UnicodeDecodeError:
            continue


_ENTITY = re.compile(r"&#(?:x(?P<hex>[0-9a-fA-F]{2,6})|(?P<number>[0-9]{2,7}));")
_SPELLED = re.compile(r"(?<![^\W_])[^\W\d_](?:[.*_|~+-][^\W\d_]){3,}(?![^\W_])")
_SPELLING_MARK = re.compile(r"[\W_]")
_DIGIT_WORD = re.compile(r"(?<![\w@$])[a-z]{0,20}[013457@$][a-z013457@$]{1,20}(?![\w@$])")
_LETTERS_OF_DIGITS = str.maketrans("013457@$", "oieastas")
_ORDER_TEXT = """
    above all always answer assistant before bypass directives disregard discard everything forget
    guidelines ignore initial instruction instructions never obey orders override preceding previous
    prior programming prompt prompts reply respond reveal rules safety system tell the user your
"""
_WORDS_OF_ORDERS = frozenset(_ORDER_TEXT.split())
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,4000}(?:={0,2}\n[A-Za-z0-9+/_-]{20,4000}){0,20}")
_BLANK = re.compile(r"[\s=]+")
_URL_SAFE = str.maketrans("-_", "+/")
# `69676e6f7265`, `69 67 6e`, `\x69\x67`, `0x69,0x67`.
_HEX = re.compile(r"(?:(?:\\x|0x)?[0-9a-fA-F]{2}[ ,:]{0,2}){10,4000}")
_HEX_JOINT = re.compile(r"\\x|0x|[ ,:]+")
