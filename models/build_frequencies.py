"""Makes src/recollect/text/frequencies.txt: how rare English words are in general.

    python models/build_frequencies.py VOCAB OUT

VOCAB is the word-piece list of uncased BERT (`vocab.txt`, one piece a line): from line 1997 on, its
pieces stand in the order of their frequency in a large corpus. Whole words of two or more letters
a to z keep that order; their rank r says how probable they are (Zipf and Mandelbrot):

    p(r) = c / (r + 2.7), with c such that all listed words together have 0.95

The rest is for words that the list lacks. Words with one stem are added up, and a message of 20
words holds the stem with probability df = 1 - (1 - p)^20. What is written is

    idf = -ln(df) = ln(1 + (1 - df) / df)

rounded to two digits: one line for each value, rising, with all stems that have it. Nothing is
fitted to any set of questions.
"""

import argparse
import math
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
from recollect.text.tokens import stem

FIRST_WORD = 1996
OFFSET = 2.7
LISTED_MASS = 0.95
MESSAGE_WORDS = 20


def main() -> None:
    """Read the list, write the table."""
    parser = argparse.ArgumentParser(description="Build the table of background frequencies.")
    parser.add_argument("vocab", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    pieces = arguments.vocab.read_text(encoding="utf-8").splitlines()
    table = by_idf(stem_probabilities(whole_words(pieces)))
    lines = [f"{idf:.2f} {' '.join(sorted(stems))}\n" for idf, stems in sorted(table.items())]
    arguments.out.write_text("".join(lines), encoding="utf-8")


def whole_words(pieces: list[str]) -> list[str]:
    """Whole words in the order of their frequency."""
    return [p for p in pieces[FIRST_WORD:] if p.isascii() and p.isalpha() and len(p) > 1]


def stem_probabilities(words: list[str]) -> dict[str, float]:
    """How probable each stem is in running text."""
    scale = LISTED_MASS / sum(1 / (rank + OFFSET) for rank in range(1, len(words) + 1))
    stems: dict[str, float] = defaultdict(float)
    for rank, word in enumerate(words, start=1):
        stems[stem(word)] += scale / (rank + OFFSET)
    return stems


def by_idf(stems: dict[str, float]) -> dict[float, list[str]]:
    """Stems under their rounded idf."""
    table: dict[float, list[str]] = defaultdict(list)
    for name, probability in stems.items():
        share = -math.expm1(MESSAGE_WORDS * math.log1p(-probability))
        table[round(-math.log(share), 2)].append(name)
    return table


if __name__ == "__main__":
    main()
