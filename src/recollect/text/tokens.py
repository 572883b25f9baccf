"""Tokenisation: turns a text into the words it is found by, and words into English stems.

The indexes store these tokens and queries are made of them, so this module alone decides when two
spellings are the same word. A change here requires a new index.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from recollect.kernel.strict_json import drop_unstorable
from recollect.text import characters, english
from recollect.text.stemmer import porter_stem

TOKEN_CHARS_MAX = 64
STOP_WORDS = english.STOP_WORDS


def tokens(text: str) -> list[str]:
    """The words of a text in order: compatibility forms and case folded, not stemmed.

    - Diacritics are dropped where people tend to omit them: Latin, Greek, Cyrillic (not in й, ў, ї,
      ѓ, ќ, which are letters), Arabic, Hebrew. Digits of every script become 0 to 9.
    - An apostrophe separates ("l'école": l, ecole), but English endings are dropped
      ("Caroline's": caroline, "I've": i) and "don't" is one word: dont.
    - A run of a script without spaces becomes overlapping pairs of characters and its last
      character alone, so that each of its characters begins a token.
    - Each emoji or other symbol beyond ASCII is a token, without skin tone and joiners.
    - NUL and lone surrogates are dropped. A token has at most 64 characters.
    """
    if text.isascii():
        return _ascii_tokens(text)
    return _unicode_tokens(text, lone_last=True)


def query_tokens(text: str) -> list[str]:
    """The words to search by. Each is a prefix of a token of any text that contains them.

    As `tokens`, except that a run of a script without spaces yields its last character only if it
    is the only one: in a text another character may follow it, and its token would be a pair.
    """
    if text.isascii():
        return _ascii_tokens(text)
    return _unicode_tokens(text, lone_last=False)


# Cached, since a few thousand words make up most of all texts and the stemmer is slow.
@lru_cache(maxsize=2**15)
def stem(token: str) -> str:
    """The English stem of a token. Tokens with digits or non-ASCII letters are returned as they
    are."""
    return porter_stem(token) if token.isascii() and token.isalpha() else token


def _ascii_tokens(text: str) -> list[str]:
    if "\0" in text:
        text = text.replace("\0", "")
    lower = text.lower()
    if "'" in lower:
        lower = _ENGLISH_ENDING.sub("", lower)
    return _ASCII_WORD.findall(lower)


def _unicode_tokens(text: str, *, lone_last: bool) -> list[str]:
    found: list[str] = []
    for word in fold_words(text).split():
        # The usual case. Only words with letters of a script without spaces have to be split.
        if word.isascii() or not _UNSPACED.search(word):
            found.append(word[:TOKEN_CHARS_MAX])
            continue
        for run in _RUNS.finditer(word):
            if run[1]:
                found.extend(_char_pairs(run[1], lone_last=lone_last))
            else:
                found.append(run[0][:TOKEN_CHARS_MAX])
    return found


def _char_pairs(run: str, *, lone_last: bool) -> list[str]:
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    if lone_last or not pairs:
        pairs.append(run[-1])
    return pairs


def fold_words(text: str) -> str:
    """The text with words in their compared form, separated by spaces.

    The steps depend on each other. Compatibility symbols are set apart first, since NFKD turns them
    into letters. Case folding may yield composed characters again, hence NFKD twice. Cyrillic
    letters that only look like a letter with a mark are composed before marks are dropped, and
    English endings are cut while apostrophes still exist.
    """
    apart = _COMPOUND_SYMBOL.sub(r" \g<0> ", drop_unstorable(text))
    plain = _normalize("NFKD", _normalize("NFKD", apart).casefold())
    whole = _CYRILLIC_LETTER.sub(lambda letter: _normalize("NFC", letter[0]), plain)
    ended = _ENGLISH_ENDING.sub("", _APOSTROPHE.sub("'", whole))
    return _normalize("NFC", characters.separate_words(ended))


def _normalize(form: Literal["NFC", "NFKD"], text: str) -> str:
    """A Unicode normal form in linear time. `unicodedata` takes quadratic time on a long run of
    combining marks, because it sorts them."""
    return unicodedata.normalize(form, _MARK_PILE.sub(_cap_marks, text))


def _cap_marks(pile: re.Match[str]) -> str:
    """At most 30 marks per letter, as in Unicode's stream-safe text format."""
    kept, depth = [], 0
    for char in pile[0]:
        depth = depth + 1 if unicodedata.combining(char) else 0
        if depth <= 30:
            kept.append(char)
    return "".join(kept)


_ASCII_WORD = re.compile(r"([a-z0-9]{1,64})[a-z0-9]*")
_APOSTROPHE = re.compile("[‘’ʼ＇]")
# A decomposed mark may precede the apostrophe, but no space or punctuation. The pattern begins with
# the apostrophe, because a search for one literal character is fast.
_ENGLISH_ENDING = re.compile(
    r"'(?:(?<=[^\s\x00-/:-@\[-`{-\x7f]')(?:s|ll|ve|re|d|m)(?![^\W_])|(?<=n')(?=t(?![^\W_])))"
)
_COMPOUND_SYMBOL = re.compile(f"[{characters.COMPOUND_SYMBOLS}]")
_MARK_PILE = re.compile(r"[^\w\s!-~]{32,}")
_CYRILLIC_LETTER = re.compile("[иу]\u0306|і\u0308|[гк]\u0301")
_UNSPACED = re.compile(f"[{characters.UNSPACED}]")
_RUNS = re.compile(f"([{characters.UNSPACED}]+)|[^{characters.UNSPACED}]+")
