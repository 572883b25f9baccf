"""WordPiece tokenisation, as the uncased BERT models expect it.

Characters are mapped one by one: marks and control characters are dropped, letters become lower
case, punctuation and ideographs become tokens of their own. A marker such as `[SEP]` in a text is
split into punctuation and letters, so a text can't end its own sequence.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
WORD_CHARACTERS_MAX = 100
WORDS_REMEMBERED = 50_000
CHARACTERS_REMEMBERED = 20_000
# A long text is read in pieces of this many characters, until it has enough tokens.
PIECE_CHARACTERS = 4096
REPLACEMENT = "\ufffd"
# Marks and controls. Unassigned characters stay: a later Unicode version may define them.
DROPPED = ("Mn", "Cc", "Cf", "Co", "Cs")
IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
ASCII_SYMBOLS = ((33, 47), (58, 64), (91, 96), (123, 126))


class WordPiece:
    """Greedy longest match against a vocabulary; at most `tokens_max` ids per text."""

    def __init__(self, vocabulary: Sequence[str], *, tokens_max: int = 256) -> None:
        self._ids = {word: number for number, word in enumerate(vocabulary)}
        self._unknown = [self._ids[UNKNOWN]]
        self._start, self._end = self._ids[START], self._ids[END]
        self._room = tokens_max - 2
        self._characters = _BertChars()
        self._split = lru_cache(WORDS_REMEMBERED)(self._longest_matches)

    def token_ids(self, text: str) -> list[int]:
        """The ids of the start token, the text's first tokens and the end token."""
        tokens = (token for word in self._words(text) for token in self._tokens(word))
        return [self._start, *islice(tokens, self._room), self._end]

    def _words(self, text: str) -> Iterator[str]:
        rest = ""
        for at in range(0, len(text), PIECE_CHARACTERS):
            # A word may continue in the next piece: the last one is held back in `rest`.
            piece = unicodedata.normalize("NFD", text[at : at + PIECE_CHARACTERS])
            plain = rest + piece.translate(self._characters)
            words = plain.split()
            rest = words.pop() if words and not plain.endswith(" ") else ""
            # A word beyond the limit is unknown however it goes on, so the rest is not kept.
            rest = rest[: WORD_CHARACTERS_MAX + 1]
            yield from words
        if rest:
            yield rest

    def _tokens(self, word: str) -> Sequence[int]:
        return self._unknown if len(word) > WORD_CHARACTERS_MAX else self._split(word)

    def _longest_matches(self, word: str) -> Sequence[int]:
        found: list[int] = []
        at = 0
        while at < len(word):
            end = self._end_of_match(word, at)
            if end == at:
                return self._unknown
            found.append(self._ids[_subword(word, at, end)])
            at = end
        return found

    def _end_of_match(self, word: str, at: int) -> int:
        """The end of the longest known piece that starts at `at`; `at` if there is none."""
        return next(
            (end for end in range(len(word), at, -1) if _subword(word, at, end) in self._ids), at
        )


def _subword(word: str, at: int, end: int) -> str:
    # The vocabulary marks pieces inside a word with "##".
    return f"##{word[at:end]}" if at else word[:end]


class _BertChars(dict[int, str]):
    """A table for `str.translate`, filled as characters occur."""

    def __missing__(self, code: int) -> str:
        plain = _normalize_char(chr(code))
        # Bounded, because the characters come from outside.
        if len(self) < CHARACTERS_REMEMBERED:
            self[code] = plain
        return plain


def _normalize_char(character: str) -> str:
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    if category in DROPPED or character == REPLACEMENT:
        return ""
    if character.isspace():
        return " "
    code = ord(character)
    ranges = ASCII_SYMBOLS if code < 128 else IDEOGRAPHS
    if category[0] == "P" or any(first <= code <= last for first, last in ranges):
        return f" {character} "
    return character.lower()
