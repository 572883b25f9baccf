"""Parses a query over memories: words to search by, possible names of people, and times."""

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo

from recollect.kernel.strict_json import drop_unstorable
from recollect.people.model import normal_form
from recollect.people.relationship_words import relationship_key
from recollect.search.model import SearchType
from recollect.text import characters
from recollect.text import tokens as words
from recollect.text.dates import references
from recollect.text.dates.references import TimeSpan

# Longer names are rare, and a long query must not lead to thousands of lookups.
_NAME_WORDS_MAX = 3
_WORDS_MAX = 64


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """The query text and how to match it. `min_score` drops weaker matches."""

    text: str
    mode: SearchType = SearchType.AUTO
    min_score: float | None = None


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """A parsed query. Any text can be parsed."""

    text: str
    """The query without NUL and lone surrogates."""
    words: tuple[str, ...]
    """Distinct words to search by, from `query_tokens`. Empty if the text has no word."""
    spans: tuple[TimeSpan, ...]
    """The times that the query names."""
    only_time: bool
    """The query names a time and asks for nothing else."""


def parse_question(text: str, now: datetime, zone: tzinfo) -> MemoryQuestion:
    """Parse a query. Relative times refer to `now`; days begin at midnight in `zone`."""
    query = drop_unstorable(text)
    spans = references.find_spans(query, now, zone)
    found = _content_words(query)
    # What is left without the words for times: if that has no content, only a time is asked for.
    rest = _content_words(_cut_spans(query, spans)) if spans else found
    only_time = bool(spans) and not any(word not in words.STOP_WORDS for word in rest)
    return MemoryQuestion(query, tuple(dict.fromkeys(found)), spans, only_time)


def is_lone_letter(word: str) -> bool:
    """Whether the word is one letter of a script without spaces. Texts are indexed by pairs of
    such letters, so it has to be matched as the beginning of a pair."""
    return len(word) == 1 and _UNSPACED.match(word) is not None


def possible_names(text: str) -> dict[str, str]:
    """Everything in a query that may be a person's name, handle or relationship: the words by
    their normal form. Whether a person of that name exists is decided elsewhere."""
    parts = [word for word in map(_strip_punctuation, text.split()[:_WORDS_MAX]) if word]
    found: dict[str, str] = {}
    for size in range(1, _NAME_WORDS_MAX + 1):
        for first in range(len(parts) - size + 1):
            name = " ".join(parts[first : first + size])
            form = normal_form(name)
            if form and form not in words.STOP_WORDS:
                found.setdefault(form, name)
                found.setdefault(relationship_key(form), name)
    return found


def _content_words(text: str) -> list[str]:
    """The words of a text without stop words, or all words if there are no others."""
    found = words.query_tokens(text)
    return [word for word in found if word not in words.STOP_WORDS] or found


def _cut_spans(text: str, spans: tuple[TimeSpan, ...]) -> str:
    # From the end, so that the indexes of the earlier spans stay valid.
    for span in reversed(spans):
        text = text[: span.words[0]] + " " + text[span.words[1] :]
    return text


def _strip_punctuation(word: str) -> str:
    """Without punctuation around it and without a possessive ending."""
    return _POSSESSIVE.sub("", _EDGES.sub("", word))


_UNSPACED = re.compile(f"[{characters.UNSPACED}]")
_EDGES = re.compile(r"\A[^\w@]+|[^\w]+\Z")
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])\Z", re.IGNORECASE)
