"""Words and placeholders that may follow `password is` without being the password."""

import re
from functools import cache

from recollect.screening.lists import load_words


def is_ordinary(word: str, *, whole: bool = False) -> bool:
    """Does a word, in any letter case, describe a secret instead of being it?

    Of words joined by hyphens or slashes one ordinary part is enough: `case-sensitive`, `n/a`.
    With `whole` only the word as it stands is looked at.
    """
    if word.lower() in _ordinary_words():
        return True
    parts = [] if whole else _JOINTS.split(word.lower().strip("'"))
    return any(_is_common(part) for part in parts)


def is_function_word(word: str) -> bool:
    """Is it a word such as `the` or `of`, of which no passphrase is made?"""
    return word.lower() in _function_words()


def is_placeholder(value: str) -> bool:
    """Is it a placeholder: `<your-password>`, `${TOKEN}`, `****`, `[redacted]`?"""
    return _PLACEHOLDER.match(value) is not None


def _is_common(part: str) -> bool:
    part = part.removesuffix("'s")
    known = part in _ordinary_words() or part in _function_words()
    return known or _PARTICIPLE.fullmatch(part) is not None


def _ordinary_words() -> frozenset[str]:
    return _load_all("ordinary en", "ordinary other")


def _function_words() -> frozenset[str]:
    return _load_all("function en", "function other")


@cache
def _load_all(*sections: str) -> frozenset[str]:
    return frozenset().union(*(load_words("secret_words.txt", name) for name in sections))


_JOINTS = re.compile(r"[-/]")
_PLACEHOLDER = re.compile(
    r"\$\{|\$\(|\{\{|%\(|\$[A-Z_][A-Z0-9_]*\b|%[A-Z_]+%"
    r"|<[A-Za-z][A-Za-z _.-]{0,60}>|\{[A-Za-z_.]{0,60}(?:![ars])?\}|%[drs](?!\w)"
    r"|\[[A-Za-z][A-Za-z _-]{0,60}\]"
    r"|[Yy][Oo][Uu][Rr][_-][A-Za-z_-]{1,60}(?![A-Za-z0-9])"
    r"|[^\w\s]{3,}$|[xX]{3,12}$|_+$"
)
# "compromised", "unreachable": said of a secret far more often than used as one.
_PARTICIPLE = re.compile(
    r"[a-z]{4,}ed|[a-z]{4,}[ai]ble|[a-z]{6,}ing|[a-z]{5,}less"
    r"|(?:ge|ver|zer|ent|ab|an|auf|aus|ein|vor|zurück)ge[a-zäöüß]{3,}(?:t|en)|[a-zäöüß]{5,}(?:bar"
    r"|lich)"
    r"|[a-zéèç]{4,}(?:ées?|és)|[a-zéèç]{5,}(?:able|ible)s?|[a-zñáéíóú]{4,}(?:ado|ada|ido|ida|ável"
    r"|ível)s?"
    r"|[a-zàèéìòù]{4,}(?:ata|ato|uta|uto|abile|ibile)"
)
