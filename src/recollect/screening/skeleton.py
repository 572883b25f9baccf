"""The skeleton of a text: the form in which phrases are compared.

Lower case, without accents, letters that look Latin replaced by Latin ones, white space reduced to
one space or line feed.
"""

import re
import unicodedata

from recollect.text.deobfuscate import to_plain_text


def skeleton(view: str) -> str:
    """The form of a text that signs are matched against."""
    low = view.lower() if view.isascii() else view.casefold().translate(_SKELETON)
    return _BREAKS.sub("\n", _BLANKS.sub(" ", low))


def fold_words(words: str) -> str:
    """The skeleton of words as they are written in a data file."""
    return skeleton(to_plain_text(words))


def to_latin(text: str) -> str:
    """The text with the letters replaced that look Latin, as in `pаssword` with a Cyrillic `а`."""
    return text.translate(_LATIN)


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
_LATIN = str.maketrans(
    {**_LOOKALIKES, **{one.upper(): latin.upper() for one, latin in _LOOKALIKES.items()}}
)
_SKELETON = _SkeletonTable()
_BLANKS = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
_BREAKS = re.compile(r" ?\n[ \n]*")
