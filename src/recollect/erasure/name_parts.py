"""Parts of a name: which of them give away the person whose whole name is known.

Erasing Katarina Weissbrod must also take "Weissbrod called" out of the texts about her, and must
not take "will" out of a text because somebody is called Will.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.resources import files

from recollect.erasure.identifier_matcher import is_email_address
from recollect.text.tokens import stem
from recollect.text.word_frequency import idf

_LETTERS_MIN = 3
# Up to here `text/frequencies.txt` holds the thousand most frequent stems of English.
_COMMON_IDF_MAX = 6.0
# Hyphens and spaces separate parts; an apostrophe belongs to its part ("O'Neill").
_PART = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*\.?")


def parts_of_names(names: Iterable[str]) -> tuple[str, ...]:
    """The parts of the names that have several, without duplicates. Addresses and ids, in which
    there are digits, are no such names."""
    parts: dict[str, None] = {}
    for name in names:
        found = _PART.findall(name)
        if len(found) > 1 and not is_email_address(name) and not _has_digit(name):
            parts |= dict.fromkeys(found)
    return tuple(parts)


def is_telling(part: str) -> bool:
    """Whether a part stands for its bearer wherever it occurs: it is long enough, begins with a
    capital, and is neither a common word nor a particle."""
    if sum(map(str.isalpha, part)) < _LETTERS_MIN or part.endswith(".") or not part[0].isupper():
        return False
    return not _is_common(part.casefold())


def split_parts(
    names: Iterable[str], borne_by_others: Collection[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts that are traces of the person, and all others."""
    parts = parts_of_names(names)
    traces = tuple(one for one in parts if is_telling(one) and one not in borne_by_others)
    return traces, tuple(one for one in parts if one not in traces)


def _is_common(word: str) -> bool:
    words = _load_words()
    if any(word in words[section] for section in words if section != "names"):
        return True
    # Names are frequent too, and the table can't tell them apart.
    return word not in words["names"] and idf(stem(word)) <= _COMMON_IDF_MAX


def _has_digit(name: str) -> bool:
    return any(map(str.isdigit, name))


@cache
def _load_words() -> Mapping[str, frozenset[str]]:
    """The words of each section of `name_words.txt`. Read once, when an erasure first needs it."""
    text = files("recollect.erasure").joinpath("name_words.txt").read_text(encoding="utf-8")
    sections: dict[str, set[str]] = {}
    words = set[str]()
    for line in text.splitlines():
        if line.startswith("["):
            words = sections.setdefault(line.strip("[]"), set())
        elif not line.startswith("#"):
            words.update(line.split())
    return {name: frozenset(found) for name, found in sections.items()}
