"""The readings of a text in which orders to a model are looked for.

All are in one skeleton: lower case, without accents, letters that look like Latin ones as Latin,
white space as one space or one line feed. The signs are written in the same skeleton.
"""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator

from recollect.domain import disguises


def readings(text: str) -> tuple[str, ...]:
    """The skeletons of a text and of what is written in it in disguise, each once."""
    found = [skeleton(view) for view in disguises.views(_without_entities(text))]
    last = found[-1]
    found += (_SPELLED.sub(_closed, last), _without_digits(last))
    found += (skeleton(hidden) for hidden in _decoded(text))
    return tuple(dict.fromkeys(found))


def skeleton(view: str) -> str:
    """A text as signs are matched against it."""
    low = view.lower() if view.isascii() else view.casefold().translate(_SKELETON)
    return _BREAKS.sub("\n", _BLANKS.sub(" ", low))


def _without_entities(text: str) -> str:
    return _ENTITY.sub(_entity, text) if "&#" in text else text


def _entity(found: re.Match[str]) -> str:
    code = int(found["hex"], 16) if found["hex"] else int(found["number"])
    return chr(code) if code < 0x110000 else found[0]


def _closed(found: re.Match[str]) -> str:
    return _SPELLING_MARK.sub("", found[0])


def _without_digits(reading: str) -> str:
    """The words of orders with letters for the digits and signs that stand for them."""
    return _DIGIT_WORD.sub(_lettered, reading)


def _lettered(found: re.Match[str]) -> str:
    lettered = found[0].translate(_LETTERS_OF_DIGITS)
    return lettered if lettered in _WORDS_OF_ORDERS else found[0]


def _decoded(text: str) -> Iterator[str]:
    for found in _BASE64.finditer(text):
        run = found[0]
        try:
            decoded = base64.b64decode(run[: len(run) // 4 * 4]).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        yield decoded


class _Skeleton(dict[int, str]):
    """What each letter is without accents and in Latin if it looks so; filled as letters come."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        base = unicodedata.normalize("NFD", char)[0] if code < _ALPHABETS_END else char
        shown = "" if unicodedata.category(char) == "Mn" else _LOOKALIKES.get(base, base)
        if code < _ALPHABETS_END:  # the rest is too much to keep
            self[code] = shown
        return shown


# Beyond are scripts whose letters take apart into something else.
_ALPHABETS_END = 0x2000
_LOOKALIKES = dict(
    zip(
        "аеорсухіјѕһԁԛԝкмнтвгɡıαβεηικνορτυχ’‘",
        "aeopcyxijshdqwkmhtbrgiabenikvoptux''",
        strict=True,
    )
)
_SKELETON = _Skeleton()
_BLANKS = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
_BREAKS = re.compile(r" ?\n[ \n]*")
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
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,4000}")
