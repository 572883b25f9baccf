"""Made-up speech: words as frequent as they are in English, and questions about some of them."""

import random
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

from recollect.embedding.model_files import MODEL_FOLDER, VOCABULARY_FILE

WORDS_MIN, WORDS_MAX = 8, 30
# The vocabulary of the model is in the order of frequency from here on.
_FIRST_WORD = 1_996
_ASKED_ABOUT = slice(300, 6_000)
_OPENINGS = ("what did we say about", "when did i see", "where is", "how was", "do you remember")


def texts(seed: int) -> Iterator[str]:
    """Texts without end."""
    chance = random.Random(seed)
    words, weights = _words()
    while True:
        count = chance.randint(WORDS_MIN, WORDS_MAX)
        yield " ".join(chance.choices(words, cum_weights=weights, k=count))


def questions(seed: int) -> Iterator[str]:
    """Different questions without end, each about three to five things."""
    chance = random.Random(seed)
    things = _words()[0][_ASKED_ABOUT]
    while True:
        about = " ".join(chance.sample(things, k=chance.randint(3, 5)))
        yield f"{chance.choice(_OPENINGS)} {about}?"


@cache
def _words() -> tuple[list[str], list[float]]:
    """Whole words, the most frequent first, with the sums of their weights (Zipf-Mandelbrot)."""
    lines = (MODEL_FOLDER / VOCABULARY_FILE).read_text(encoding="utf-8").splitlines()
    words = [w for w in lines[_FIRST_WORD:] if w.isascii() and w.isalpha() and len(w) > 1]
    return words, list(accumulate(1 / (rank + 3.7) for rank in range(len(words))))
