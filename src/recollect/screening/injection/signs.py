"""The signs of prompt injection: their kinds, their weights, and where they are written.

Phrases are in the data files `injection_*.txt`, one for each language; forms made of punctuation,
such as tags, are in `forms.py`. A sign that people also write for good reasons is not strong.
"""

from collections.abc import Iterator
from functools import cache

from recollect.screening.injection.forms import FORMS, MESSAGE_FORMS, TEXT_FORMS
from recollect.screening.lists import data_files, load_sections
from recollect.screening.phrases import Phrase, PhraseReader, PhraseSet
from recollect.screening.skeleton import fold_words

HIDDEN = "hidden_characters"
STRONG = 0.85
MIDDLING = 0.5
WEAK = 0.35

# The end of the name of a section whose phrases don't count in lists of messages.
_WRITTEN = " written"
_FRAMES = "injection_frames.txt"
_WEIGHTS = {"strong": STRONG, "middling": MIDDLING, "weak": WEAK}


@cache
def text_signs() -> PhraseSet:
    """The signs for a text that is no list of messages."""
    return PhraseSet((*_load_phrases(), *FORMS, *TEXT_FORMS))


@cache
def message_signs() -> PhraseSet:
    """The signs for a rendered list of messages, where each line begins with a role."""
    phrases = (one for one in _load_phrases() if not one.section.endswith(_WRITTEN))
    return PhraseSet((*phrases, *FORMS, *MESSAGE_FORMS))


def reason_and_weight(sign: Phrase) -> tuple[str, float]:
    """The kind of a sign and its weight, which are the name of its section."""
    reason, weight, *_ = sign.section.split(" ")
    return reason, _WEIGHTS[weight]


@cache
def _load_phrases() -> tuple[Phrase, ...]:
    names = (name for name in data_files("injection_") if name != _FRAMES)
    return tuple(one for name in names for one in _read_language(name))


def _read_language(name: str) -> Iterator[Phrase]:
    """The phrases of one language: its own, and the common ones of which it has all words."""
    own = load_sections(name)
    reader = PhraseReader(fold_words, own.get("words", ()))
    for section, lines in (*own.items(), *load_sections(_FRAMES).items()):
        if section != "words":
            yield from (reader.read(section, line) for line in lines if reader.knows(line))
