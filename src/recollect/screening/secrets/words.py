"""Words and placeholders that may follow `password is` without being the password."""

import re

from recollect.screening.lists import load_words


def is_ordinary(word: str) -> bool:
    """Does a word, in any letter case, describe a secret instead of being it?

    Of words joined by hyphens or slashes one ordinary part is enough: `case-sensitive`, `n/a`.
    """
    parts = _JOINTS.split(word.lower().strip("'"))
    return word.lower() in _ordinary_words() or any(_is_common(part) for part in parts)


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
    return load_words("secret_words.txt", "ordinary en")


def _function_words() -> frozenset[str]:
    return load_words("secret_words.txt", "function en")


_JOINTS = re.compile(r"[-/]")
_PLACEHOLDER = re.compile(
    r"\$\{|\$\(|\{\{|%\(|\$[A-Z_][A-Z0-9_]*\b|%[A-Z_]+%"
    r"|<[A-Za-z][A-Za-z _.-]{0,60}>|\{[A-Za-z_.]{0,60}(?:![ars])?\}|%[drs](?!\w)"
    r"|\[[A-Za-z][A-Za-z _-]{0,60}\]"
    r"|[Yy][Oo][Uu][Rr][_-][A-Za-z_-]{1,60}(?![A-Za-z0-9])"
    r"|[^\w\s]{3,}$|[xX]{3,12}$|_+$"
)
# "compromised", "unreachable": said of a secret far more often than used as one.
_PARTICIPLE = re.compile(r"[a-z]{4,}ed|[a-z]{4,}[ai]ble|[a-z]{6,}ing|[a-z]{5,}less")
