"""How rare a word is in general, from a fixed table: no score depends on what others stored.

`frequencies.txt` is made by `models/build_frequencies.py`, which says how: the idf of a stem is
-ln of the share of messages of 20 words that hold it, by its rank among English words.
"""

from functools import cache
from importlib.resources import files


def idf(stem: str) -> float:
    """How much a match of this stem tells: near 1 for "the", above 9 for the rarest.

    A word that the table lacks (a name, a number, another language) counts as the rarest listed.
    """
    return _table().get(stem, _rarest())


@cache
def _rarest() -> float:
    return max(_table().values())


@cache
def _table() -> dict[str, float]:
    """Read once, when first asked: about 5 ms."""
    table: dict[str, float] = {}
    text = files("recollect.domain").joinpath("frequencies.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        number, *stems = line.split(" ")
        table |= dict.fromkeys(stems, float(number))
    return table
