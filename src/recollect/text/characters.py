"""Character tables for tokenisation: what is a letter, a mark, a symbol or a separator.

Scripts differ in what a word is. The tables follow Unicode's categories, with the few exceptions
that search needs.
"""

import re
import unicodedata

ZERO_WIDTH_JOINER = "\u200d"
_ZERO_WIDTH_SPACE = "\u200b"

# Thai and Lao, Myanmar, Khmer, Hiragana and Katakana, Han with its marks and numerals. Hangul is
# written with spaces.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff"
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f\U0001b000-\U0001b16f"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Symbols that decompose into letters or digits, which must not join the adjacent word.
COMPOUND_SYMBOLS = "₨℀-℁℃℅-℆℉№℠-™℻①-⓿㈀-㏿﷼\U0001f100-\U0001f1e5\U0001f200-\U0001f2ff"

# Marks of Latin, Greek and Cyrillic; Hebrew points; Arabic vowel signs and tatweel; variation
# selectors; skin tones; the ʻokina.
_DROPPED = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u08ca-\u08e1\u08e3-\u08ff"
    "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef\U0001f3fb-\U0001f3ff\u02bb]"
)
# Letters that don't decompose, and how people write them without the right keyboard.
_PLAIN_LETTERS = dict(zip("øłđðħŧı", "olddhti", strict=True)) | {"æ": "ae", "œ": "oe", "þ": "th"}
_VOICED_MARKS = "\u3099\u309a\uff9e\uff9f"
# Emoji that are newer than the interpreter's Unicode tables are unassigned there.
_PICTOGRAPH = re.compile("[\U0001f000-\U0001fbff]")
_REGIONAL_INDICATOR = re.compile("[\U0001f1e6-\U0001f1ff]")
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_COMPOUND_SYMBOL = re.compile(f"[{COMPOUND_SYMBOLS}]")


def separate_words(decomposed: str) -> str:
    """A decomposed, case-folded text as words separated by spaces.

    Marks that people tend to omit are dropped, symbols become words of their own, and digits of
    all scripts become 0 to 9.
    """
    return decomposed.translate(_REPLACEMENTS)


def char_classes(text: str) -> str:
    """The class of each character of an unfolded text, one character per character:

    `w` letter or digit, `u` letter of a script without spaces, `m` mark or other character that
    belongs to the previous one, `j` joiner, `s` symbol, `r` half of a flag, and a space for the
    rest. The result can be searched with regular expressions, and its indexes are those of the
    text.
    """
    return text.translate(_SHAPES)


class _CharTable(dict[int, str]):
    """A table for `str.translate`, filled as characters occur, so that importing costs nothing."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        made = self.build_entry(char, category)
        if category not in ("Cn", "Co"):  # most of the code space: not worth keeping
            self[code] = made
        return made

    def build_entry(self, char: str, category: str) -> str:
        raise NotImplementedError


class _ReplacementTable(_CharTable):
    def build_entry(self, char: str, category: str) -> str:
        if _is_dropped(char, category):
            return ""
        if category == "Nd":
            return str(unicodedata.decimal(char))
        if category[0] in "LNM":
            return _PLAIN_LETTERS.get(char, char)
        return f" {char} " if _is_symbol(char, category) else " "


class _CharClassTable(_CharTable):
    def build_entry(self, char: str, category: str) -> str:
        if char == ZERO_WIDTH_JOINER:
            return "j"
        if _is_dropped(char, category) or category[0] == "M" or char in _VOICED_MARKS:
            return "m"
        if _COMPOUND_SYMBOL.match(char):
            return "s"
        if category[0] in "LN":
            return "u" if _UNSPACED_LETTER.match(char) and category != "Nd" else "w"
        if _REGIONAL_INDICATOR.match(char):
            return "r"
        return "s" if _is_symbol(char, category) else " "


def _is_dropped(char: str, category: str) -> bool:
    if category == "Cf":
        return char != _ZERO_WIDTH_SPACE
    return char == "\0" or category in ("Cs", "Me") or _DROPPED.match(char) is not None


def _is_symbol(char: str, category: str) -> bool:
    if category == "Cn":
        return _PICTOGRAPH.match(char) is not None
    return category in ("So", "Sc") and not char.isascii()


_REPLACEMENTS = _ReplacementTable()
_SHAPES = _CharClassTable()
