"""Extracts facts from English sentences: where somebody lives or works, what they like or work on,
and what one person is to another.

A pattern must match the whole sentence; an unknown word means no fact. A missing edge costs little,
since the text itself can still be found, while a wrong edge would be believed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from recollect.memories.reconcile import attribute_values
from recollect.memories.reconcile.attributes import (
    TEXT_CHARS_MAX,
    StatedAttribute,
    parse_attribute,
)
from recollect.memories.reconcile.details import strip_lead_in, unify_spelling
from recollect.people.relationship_words import is_relationship, relationship_key
from recollect.text import english

SPEAKER = "i"
SPEAKERS = "we"
NOBODY_NAMED = ""


class EntityKind(StrEnum):
    """The kind of an entity of the graph. Entities belong to a space, except people."""

    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
    PROJECT = "project"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class AttributeFact:
    """A relation between a person and a thing. `who` is a name in lower case, SPEAKER, SPEAKERS, or
    NOBODY_NAMED if the sentence names nobody."""

    who: str
    relation: str
    kind: EntityKind
    name: str


@dataclass(frozen=True, slots=True)
class RelationshipFact:
    """`who` is the `relation` of `whom`; both are names in lower case, or SPEAKER."""

    who: str
    relation: str
    whom: str


ExtractedFact = AttributeFact | RelationshipFact


def extract_fact(text: str) -> ExtractedFact | None:
    """The fact that a text states, if it states nothing else."""
    if len(text) > TEXT_CHARS_MAX:
        return None
    # Sentences about two people and about projects first: an attribute is the most general reading.
    plain = _SHORT_FORM.sub("I am", strip_lead_in(unify_spelling(text)).rstrip(".! "))
    return _relationship_fact(plain) or _project_fact(plain) or _attribute_fact(text, plain)


def _attribute_fact(text: str, plain: str) -> AttributeFact | None:
    attribute = parse_attribute(text)
    if attribute is None or attribute.negated:
        return None
    drawn = _ATTRIBUTE_RELATIONS.get(_attribute_key(attribute))
    if drawn is None:
        return None
    relation, kind, is_named = drawn
    stems = attribute.name.partition(":")[2] or attribute.value
    name = _original_spelling(plain, stems)
    if not name or not name[0].isalnum() or not is_named(name):
        return None
    return AttributeFact(attribute.subject_hint or _speaker_of(plain), relation, kind, name)


def _attribute_key(attribute: StatedAttribute) -> str:
    """The key of `_ATTRIBUTE_RELATIONS`: for an attitude with its value, else the name alone."""
    kind, colon, _ = attribute.name.partition(":")
    return f"{kind}:{attribute.value}" if colon else kind


def _speaker_of(plain: str) -> str:
    words = frozenset(_WORD.findall(plain.lower()))
    if words & _SPEAKER_WORDS:
        return SPEAKER
    return SPEAKERS if words & _SPEAKERS_WORDS else NOBODY_NAMED


def _original_spelling(plain: str, stems: str) -> str:
    """The longest part of the text with these stems, in its original spelling: attributes hold
    stems, and an entity needs its name."""
    words = plain.split()
    for length in range(len(stems.split()) + _EXTRA_WORDS_MAX, 0, -1):
        for start in range(len(words) - length + 1):
            part = " ".join(words[start : start + length])
            if attribute_values.normalise(part) == stems:
                return _OUTER_WORDS.sub("", part).strip("\"'(),:;")
    return ""


def _is_proper_name(name: str) -> bool:
    """Is every word capitalised, or of a script without capitals, and is there no digit (as in a
    house number)?"""
    words = [word for word in name.split() if word.lower() not in _NAME_PARTICLES]
    return bool(words) and all(map(_is_capitalised, words)) and not _DIGIT.search(name)


def _is_organisation(name: str) -> bool:
    words = [word for word in name.split() if word.lower() not in _NAME_PARTICLES]
    return bool(words) and all(_is_capitalised(word) or word[0].isdigit() for word in words)


def _is_thing(name: str) -> bool:
    """A few words, none of them a stop word."""
    words = _WORD.findall(name.lower())
    return 0 < len(words) <= _THING_WORDS_MAX and english.STOP_WORDS.isdisjoint(words)


def _is_capitalised(word: str) -> bool:
    first = word.lstrip("\"'(")[:1]
    return first.isalpha() and (first.isupper() or first.upper() == first.lower())


def _project_fact(plain: str) -> AttributeFact | None:
    found = _PROJECT_PATTERN.fullmatch(plain)
    if found is None:
        return None
    name = found["before"] or found["after"]
    relation = "leads" if found["verb"].lower().startswith("lead") else "works_on"
    if not name[0].isalnum() or not _is_organisation(name):
        return None
    return AttributeFact(_normal_name(found["who"]), relation, EntityKind.PROJECT, name)


def _relationship_fact(plain: str) -> RelationshipFact | None:
    for form, word_of in _RELATIONSHIP_PATTERNS:
        found = form.fullmatch(plain)
        relation = word_of(found["word"]) if found else None
        if found and relation:
            who, whom = _normal_name(found["who"]), _normal_name(found["whom"])
            return RelationshipFact(who, relation, whom) if who and whom else None
    return None


def _normal_name(words: str) -> str:
    """The name in lower case, SPEAKER, or NOBODY_NAMED for another pronoun."""
    form = words.lower().removesuffix("'s").removesuffix("'").lstrip("@")
    if form in _SPEAKER_WORDS:
        return SPEAKER
    return NOBODY_NAMED if form in english.STOP_WORDS else form


def _relationship_word(words: str) -> str | None:
    """The key of a known relationship word; None if other words change its meaning."""
    key = relationship_key(_AGE.sub("", words.lower()))
    return key if is_relationship(key) and key not in _NOT_PERSONS else None


def _mutual_relationship(words: str) -> str | None:
    return _relationship_word(words.lower().removesuffix("s"))


def _marriage_relationship(word: str) -> str | None:
    return {"married": "spouse", "engaged": "fiancé"}.get(word.lower())


_ATTRIBUTE_RELATIONS: dict[str, tuple[str, EntityKind, Callable[[str], bool]]] = {
    "home": ("lives_in", EntityKind.PLACE, _is_proper_name),
    "hometown": ("comes_from", EntityKind.PLACE, _is_proper_name),
    "employer": ("works_at", EntityKind.ORGANISATION, _is_organisation),
    "attitude:like": ("likes", EntityKind.THING, _is_thing),
    "attitude:dislike": ("dislikes", EntityKind.THING, _is_thing),
}
_THING_WORDS_MAX = 3
_EXTRA_WORDS_MAX = 3
_SPEAKER_WORDS = frozenset(("i", "me", "my", "mine", "myself"))
_SPEAKERS_WORDS = frozenset(("we", "us", "our", "ours", "ourselves"))
_NAME_PARTICLES = frozenset(
    re.findall(r"\w+", "of the and de da do dos das del la las le les du des van von den der")
)
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W_]+")
# Removed from both ends of a name, in lower case only: in "The Hague" it belongs to the name.
_OUTER_WORDS = re.compile(r"\A(?:(?:a|an|the|to|in|at|on) )+|(?: (?:to|in|at|on))+\Z")
# A relationship word that usually means a company; `_attribute_fact` reads it as `works_at`.
_NOT_PERSONS = frozenset(("employer",))
_SHORT_FORM = re.compile(r"\AI'm\b", re.IGNORECASE)
_AGE = re.compile(r"\A(?:older|younger|elder|big|little) ")
_NAME = r"[^\s,;:!?]+(?: [^\s,;:!?]+){0,3}?"
_BE = r"(?:is|am|are)(?: now| also)?"
_WORDS = r"(?P<word>[^\W\d_]+(?:[ -][^\W\d_]+){0,2})"
_WED = r"(?P<word>married|engaged)"
_WHOSE = rf"(?P<whom>my|{_NAME}'s?)"


def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_PROJECT_PATTERN = _compile_pattern(
    rf"(?P<who>{_NAME}) (?:{_BE} )?(?P<verb>works? on|working on|leads?|leading) (?:the )?"
    rf"(?:project (?P<after>{_NAME})|(?P<before>{_NAME}) project)"
)
_RELATIONSHIP_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[str], str | None]], ...] = (
    (_compile_pattern(rf"(?P<who>{_NAME}) {_BE} {_WHOSE} {_WORDS}"), _relationship_word),
    (
        _compile_pattern(rf"{_WHOSE} {_WORDS}(?:'s name)? is (?:called )?(?P<who>{_NAME})"),
        _relationship_word,
    ),
    (
        _compile_pattern(rf"(?P<who>{_NAME}) {_BE} (?:an? |the )?{_WORDS} of (?P<whom>{_NAME})"),
        _relationship_word,
    ),
    (
        _compile_pattern(rf"(?P<who>{_NAME}) and (?P<whom>{_NAME}) are {_WORDS}"),
        _mutual_relationship,
    ),
    (
        _compile_pattern(rf"(?P<who>{_NAME}) and (?P<whom>{_NAME}) are {_WED}"),
        _marriage_relationship,
    ),
    (
        _compile_pattern(rf"(?P<who>{_NAME}) {_BE} {_WED} to (?P<whom>{_NAME})"),
        _marriage_relationship,
    ),
)
