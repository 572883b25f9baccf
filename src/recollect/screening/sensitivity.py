"""The minimum sensitivity of a text by its words, and whether it was said in confidence.

The words are in the data files `sensitive_*.txt`: English, German, French and Spanish. Texts in
other languages have no minimum.
"""

from collections.abc import Iterator
from functools import cache

from recollect.memories.model import Sensitivity
from recollect.screening.lists import data_files, load_sections
from recollect.screening.phrases import Phrase, PhraseReader, PhraseSet
from recollect.screening.skeleton import fold_words, skeleton
from recollect.text import deobfuscate


def sensitivity_floor(text: str) -> Sensitivity:
    """`sensitive` for health, pregnancy, money, legal trouble, intimacy, belief, politics, unions,
    origin, addiction, family and work, else `public`."""
    reading = _fold(text)
    # Most texts have no sensitive word, so idioms are only looked for in the others.
    if not _is_in(reading, sensitive_phrases()):
        return Sensitivity.PUBLIC
    serious = _is_in(harmless_phrases().blank_out(reading), sensitive_phrases())
    return Sensitivity.SENSITIVE if serious else Sensitivity.PUBLIC


def is_confidential(text: str) -> bool:
    """Does the speaker ask to keep it secret, as in "between us" or "don't tell"? English only."""
    return _is_in(_fold(text), confidence_phrases())


@cache
def sensitive_phrases() -> PhraseSet:
    """The phrases of sensitive topics, in all languages covered."""
    others = (_CONFIDENCE, _HARMLESS)
    return PhraseSet(one for one in _load_phrases() if one.section not in others)


@cache
def harmless_phrases() -> PhraseSet:
    """Idioms and names that use a sensitive word for something else, in all languages covered."""
    return PhraseSet(one for one in _load_phrases() if one.section == _HARMLESS)


@cache
def confidence_phrases() -> PhraseSet:
    """The phrases that ask to keep something confidential."""
    return PhraseSet(one for one in _load_phrases() if one.section == _CONFIDENCE)


def _fold(text: str) -> str:
    return skeleton(deobfuscate.to_plain_text(text))


def _is_in(reading: str, phrases: PhraseSet) -> bool:
    return next(phrases.find_in(reading), None) is not None


def _load_phrases() -> Iterator[Phrase]:
    for name in data_files("sensitive_"):
        sections = load_sections(name)
        reader = PhraseReader(fold_words, sections.get("words", ()))
        for section, lines in sections.items():
            if section != "words":
                yield from (reader.read(section, line) for line in lines)


_CONFIDENCE = "confidence"
_HARMLESS = "harmless"
