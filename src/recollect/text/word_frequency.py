"""Inverse document frequencies of English stems, from a fixed table: no score depends on what
others stored.

`frequencies.txt` is built by `models/build_frequencies.py`. The idf of a stem is -ln of the share
of 20-word messages that contain it, estimated from its rank among English words.
"""

from functools import cache
from importlib.resources import files


def idf(stem: str) -> float:
    """How much a match of this stem counts: near 1 for "the", above 9 for the rarest.

    A stem that is not in the table (a name, a number, another language) counts as the rarest one.
    """
    return _load_table().get(stem, _max_idf())


@cache
def _max_idf() -> float:
    return max(_load_table().values())


@cache
def _load_table() -> dict[str, float]:
    """Read once, on first use; takes about 5 ms."""
    table: dict[str, float] = {}
    text = files("recollect.text").joinpath("frequencies.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        number, *stems = line.split(" ")
        table |= dict.fromkeys(stems, float(number))
    return table
