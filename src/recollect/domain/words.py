"""From a text to the words it is found by: normalised tokens, and their English stems.

Tokens are what the indexes hold and what queries are made of, so this module is the only place
that says when two spellings are the same word. A change here needs a new index.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from recollect.domain import language, scripts
from recollect.domain.jsontext import drop_unstorable
from recollect.domain.stems import porter

TOKEN_CHARS_MAX = 64
STOP = language.STOP_WORDS


def tokens(text: str) -> list[str]:
    """The words of a text in text order: compatibility forms and case folded, not stemmed.

    - Diacritics go where people leave them out: Latin, Greek, Cyrillic (not й, ў, ї, ѓ, ќ: they
      are letters), Arabic, Hebrew. Digits of every script become 0 to 9.
    - An apostrophe separates ("l'école": l, ecole), but English endings are dropped
      ("Caroline's": caroline, "I've": i) and "don't" is one word: dont.
    - A run of a script without spaces gives overlapping pairs of characters and its last character
      alone, so each of its characters begins a token.
    - Each emoji or other symbol beyond ASCII is a token, without skin tone and joiners.
    - NUL and lone surrogates are not there. A token has at most 64 characters.
    """
    if text.isascii():
        return _ascii_tokens(text)
    return _unicode_tokens(text, lone_last=True)


def query_tokens(text: str) -> list[str]:
    """The words to search by: each is the beginning of a token of every text that holds them.

    As `tokens`, but a run of a script without spaces gives its last character only when it has no
    other: inside a text that character may be followed by another.
    """
    if text.isascii():
        return _ascii_tokens(text)
    return _unicode_tokens(text, lone_last=False)


@lru_cache(maxsize=2**15)
def stem(token: str) -> str:
    """The English stem of a token; what holds a digit or a letter beyond ASCII stays as it is."""
    return porter(token) if token.isascii() and token.isalpha() else token


def _ascii_tokens(text: str) -> list[str]:
    if "\0" in text:
        text = text.replace("\0", "")
    lower = text.lower()
    if "'" in lower:
        lower = _ENGLISH_ENDING.sub("", lower)
    return _ASCII_WORD.findall(lower)


def _unicode_tokens(text: str, *, lone_last: bool) -> list[str]:
    found: list[str] = []
    for word in folded(text).split():
        if word.isascii() or not _UNSPACED.search(word):
            found.append(word[:TOKEN_CHARS_MAX])
            continue
        for run in _RUNS.finditer(word):
            if run[1]:
                found.extend(_pairs(run[1], lone_last=lone_last))
            else:
                found.append(run[0][:TOKEN_CHARS_MAX])
    return found


def _pairs(run: str, *, lone_last: bool) -> list[str]:
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    if lone_last or not pairs:
        pairs.append(run[-1])
    return pairs


def folded(text: str) -> str:
    """Words as they are compared, with spaces for all that stands between them."""
    apart = _COMPOUND_SYMBOL.sub(r" \g<0> ", drop_unstorable(text))
    plain = _normal("NFKD", _normal("NFKD", apart).casefold())
    whole = _CYRILLIC_LETTER.sub(lambda letter: _normal("NFC", letter[0]), plain)
    ended = _ENGLISH_ENDING.sub("", _APOSTROPHE.sub("'", whole))
    return _normal("NFC", scripts.spread(ended))


def _normal(form: Literal["NFC", "NFKD"], text: str) -> str:
    """A normal form in linear time: the library's takes quadratic time to sort a pile of marks."""
    return unicodedata.normalize(form, _MARK_PILE.sub(_thin, text))


def _thin(pile: re.Match[str]) -> str:
    """Without marks above the 30th on one letter: Unicode's stream-safe format ends there."""
    kept, depth = [], 0
    for char in pile[0]:
        depth = depth + 1 if unicodedata.combining(char) else 0
        if depth <= 30:
            kept.append(char)
    return "".join(kept)


_ASCII_WORD = re.compile(r"([a-z0-9]{1,64})[a-z0-9]*")
_APOSTROPHE = re.compile("[‘’ʼ＇]")
# Before it may stand a mark that is still apart from its letter, but no space or punctuation. The
# apostrophe is first in the pattern because a search for one character is fast.
_ENGLISH_ENDING = re.compile(
    r"'(?:(?<=[^\s\x00-/:-@\[-`{-\x7f]')(?:s|ll|ve|re|d|m)(?![^\W_])|(?<=n')(?=t(?![^\W_])))"
)
_COMPOUND_SYMBOL = re.compile(f"[{scripts.COMPOUND_SYMBOLS}]")
_MARK_PILE = re.compile(r"[^\w\s!-~]{32,}")
_CYRILLIC_LETTER = re.compile("[иу]\u0306|і\u0308|[гк]\u0301")
_UNSPACED = re.compile(f"[{scripts.UNSPACED}]")
_RUNS = re.compile(f"([{scripts.UNSPACED}]+)|[^{scripts.UNSPACED}]+")
