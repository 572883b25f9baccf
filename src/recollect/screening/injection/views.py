"""The readings of a text in which signs of injection are searched.

All readings are skeletons: lower case, without accents, letters that look Latin replaced by Latin
ones, white space reduced to one space or line feed. The signs are written for skeletons.
"""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator

from recollect.text import deobfuscate


def readings(text: str) -> tuple[str, ...]:
    """The skeletons of a text and of everything disguised in it, each once, the text first.

    The disguises: percent and JSON escapes, spaced letters and invisible characters
    (`deobfuscate.readable_forms`), numeric HTML entities, letters parted by marks
    (`i.g.n.o.r.e`), digits for letters (`1gn0re`), and base64.
    """
    found = [skeleton(view) for view in deobfuscate.readable_forms(_decode_entities(text))]
    last = found[-1]
    found += (_SPELLED.sub(_join_letters, last), _replace_leetspeak(last))
    found += (skeleton(hidden) for hidden in _decode_base64_runs(text))
    return tuple(dict.fromkeys(found))


def skeleton(view: str) -> str:
    """The form of a text that signs are matched against."""
    low = view.lower() if view.isascii() else view.casefold().translate(_SKELETON)
    return _BREAKS.sub("\n", _BLANKS.sub(" ", low))


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
        run = found[0]
        try:
            decoded = base64.b64decode(run[: len(run) // 4 * 4]).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        yield decoded


class _SkeletonTable(dict[int, str]):
    """A translation table to skeleton letters, filled as letters are met.

    Each letter loses its accents, and one that looks Latin becomes Latin.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        base = unicodedata.normalize("NFD", char)[0] if code < _ALPHABETS_END else char
        plain = "" if unicodedata.category(char) == "Mn" else _LOOKALIKES.get(base, base)
        if code < _ALPHABETS_END:  # the rest is too much to keep
            self[code] = plain
        return plain


# Letters beyond this code point keep their form: decomposed, a Hangul syllable would become its
# first letter alone.
_ALPHABETS_END = 0x2000
_LOOKALIKES = dict(
    zip(
        "аеорсухіјѕһԁԛԝкмнтвгɡıαβεηικνορτυχ’‘",
        "aeopcyxijshdqwkmhtbrgiabenikvoptux''",
        strict=True,
    )
)
_SKELETON = _SkeletonTable()
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
