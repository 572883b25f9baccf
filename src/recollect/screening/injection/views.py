"""The readings of a text in which signs of injection are searched.

All readings are skeletons: lower case, without accents, letters that look Latin replaced by Latin
ones, white space reduced to one space or line feed. The signs are written for skeletons.
"""

import codecs
import re

from recollect.screening.skeleton import skeleton
from recollect.text import deobfuscate


def readings(text: str) -> tuple[str, ...]:
    """The skeletons of a text and of everything disguised in it, each once, the text first.

    The disguises: those that `deobfuscate.readable_forms` undoes, and digits for letters
    (`1gn0re`).
    """
    found = [skeleton(view) for view in deobfuscate.readable_forms(text)]
    last = found[-1]
    found.append(_replace_leetspeak(last))
    return tuple(dict.fromkeys(found))


def encoded_readings(text: str) -> tuple[str, ...]:
    """The skeletons of what is encoded in a text in base64 or as hexadecimal bytes, and of the text
    turned around or by 13 letters where it says so."""
    low = text.lower()
    runs = [*deobfuscate.encoded_texts(text)]
    if "rot13" in low or "rot-13" in low or "rot 13" in low:
        runs.append(codecs.encode(text, "rot13"))
    if "revers" in low or "backward" in low:
        runs.append(text[::-1])
    return tuple(dict.fromkeys(skeleton(deobfuscate.to_plain_text(run)) for run in runs))


def _replace_leetspeak(reading: str) -> str:
    """The reading with leetspeak replaced, but only in words that orders use.

    Replacing digits everywhere would make nonsense of version numbers and ids.
    """
    return _DIGIT_WORD.sub(_to_letters, reading)


def _to_letters(found: re.Match[str]) -> str:
    lettered = found[0].translate(_LETTERS_OF_DIGITS)
    return lettered if lettered in _WORDS_OF_ORDERS else found[0]


_DIGIT_WORD = re.compile(r"(?<![\w@$])[a-z]{0,20}[013457@$][a-z013457@$]{1,20}(?![\w@$])")
_LETTERS_OF_DIGITS = str.maketrans("013457@$", "oieastas")
_ORDER_TEXT = """
    above all always answer assistant before bypass directives disregard discard everything forget
    guidelines ignore initial instruction instructions never obey orders override preceding previous
    prior programming prompt prompts reply respond reveal rules safety system tell the user your
"""
_WORDS_OF_ORDERS = frozenset(_ORDER_TEXT.split())
