"""What a query over memories says: words to look for, names that it may call people by, times."""

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo

from recollect.domain import scripts, timewords, words
from recollect.domain.jsontext import drop_unstorable
from recollect.domain.people import normal_form
from recollect.domain.relationship_words import relationship_key
from recollect.domain.timewords import Span

# Longer ones are rare, and a query of many words must not ask for thousands of names.
_NAME_WORDS_MAX = 3
_WORDS_MAX = 64


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """A query as search understands it. Any text is one."""

    text: str
    """As asked, without NUL and lone surrogates."""
    words: tuple[str, ...]
    """Distinct words to look for, as `words.query_tokens` gives them; empty without any word."""
    spans: tuple[Span, ...]
    """The times that it names."""
    only_time: bool
    """Names a time and asks for nothing else."""

    @property
    def stems(self) -> tuple[str, ...]:
        """The stems of its words."""
        return tuple(dict.fromkeys(map(words.stem, self.words)))


def read(text: str, now: datetime, zone: tzinfo) -> MemoryQuestion:
    """Read a query that is asked now."""
    asked = drop_unstorable(text)
    spans = timewords.spans(asked, now, zone)
    found = _telling(asked)
    rest = _telling(_without(asked, spans)) if spans else found
    only_time = bool(spans) and not any(word not in words.STOP for word in rest)
    return MemoryQuestion(asked, tuple(dict.fromkeys(found)), spans, only_time)


def is_lone_letter(word: str) -> bool:
    """A letter of a script without spaces: in a text it begins a pair, and is seldom alone."""
    return len(word) == 1 and _UNSPACED.match(word) is not None


def names_in(text: str) -> dict[str, str]:
    """What may be somebody's name, handle or relationship in a query: the normal form, and the
    words that say it. Who is really called so is not known here."""
    parts = [word for word in map(_bare, text.split()[:_WORDS_MAX]) if word]
    found: dict[str, str] = {}
    for size in range(1, _NAME_WORDS_MAX + 1):
        for first in range(len(parts) - size + 1):
            said = " ".join(parts[first : first + size])
            form = normal_form(said)
            if form and form not in words.STOP:
                found.setdefault(form, said)
                found.setdefault(relationship_key(form), said)
    return found


def _telling(text: str) -> list[str]:
    """Words that tell something; all of them where none does."""
    found = words.query_tokens(text)
    return [word for word in found if word not in words.STOP] or found


def _without(text: str, spans: tuple[Span, ...]) -> str:
    for span in reversed(spans):
        text = text[: span.words[0]] + " " + text[span.words[1] :]
    return text


def _bare(word: str) -> str:
    """Without the marks around it and a possessive ending."""
    return _POSSESSIVE.sub("", _EDGES.sub("", word))


_UNSPACED = re.compile(f"[{scripts.UNSPACED}]")
_EDGES = re.compile(r"\A[^\w@]+|[^\w]+\Z")
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])\Z", re.IGNORECASE)
