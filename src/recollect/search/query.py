"""Parses a question about conversations: words to search by, whose entries, and whether it asks for
a time."""

import itertools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.kernel.strict_json import drop_unstorable
from recollect.text import english
from recollect.text.tokens import STOP_WORDS, query_tokens, stem, tokens


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed question. In a language other than English only text and words are set."""

    text: str
    """The question without NUL and lone surrogates."""
    words: tuple[str, ...]
    """Distinct stems to search by. Empty only if the text has no word at all."""
    dense: str
    """The text to embed. A named speaker is replaced by "I" and "my", because people don't use
    their own names when they speak of themselves."""
    speaker: str | None
    """Id of the one speaker that the question names."""
    of_self: bool
    """The question says I, my or we, and names nobody."""
    of_assistant: bool
    """The question asks what the assistant said: "what did you suggest"."""
    asks_when: bool
    """The question asks for a time."""


def parse_question(text: str, speakers: Mapping[str, str]) -> Question:
    """Parse a question. `speakers` maps names, as `speaker_names` returns them, to speaker ids.

    Names of speakers are not searched for. What people say of themselves seldom contains their
    name, and the index knows who said it. `speaker` is set only if exactly one speaker is named.
    """
    question = drop_unstorable(text)
    words = query_tokens(question)
    # Speaker ids by the token of their name. Names of several words are ignored.
    by_tokens = ((query_tokens(name), speaker) for name, speaker in speakers.items())
    ids = {name[0]: speaker for name, speaker in by_tokens if len(name) == 1}
    named = {ids[word] for word in words if word in ids}
    speaker = next(iter(named)) if len(named) == 1 else None
    called = {word for word in words if word in ids}
    content = [word for word in words if word not in STOP_WORDS and word not in called]
    return Question(
        text=question,
        # A question of names and stop words only ("Who is Ann?") is searched by all its words.
        words=tuple(dict.fromkeys(map(stem, content or words))),
        dense=_to_first_person(question, called) if speaker is not None else question,
        speaker=speaker,
        of_self=not named and not english.FIRST_PERSON.isdisjoint(words),
        of_assistant=_asks_assistant(words),
        asks_when=english.asks_when(question),
    )


def is_blank(text: str) -> bool:
    """Whether the text has no printable character but spaces."""
    return not any(char.isprintable() and not char.isspace() for char in text)


def speaker_names(user_id: str) -> list[str]:
    """The names by which a question may refer to a user: "ann" for "ann.smith@example.org".

    That is the first word of the id before its `@`. Stop words, numbers, single letters and words
    for roles ("user", "admin") are not names.
    """
    local = drop_unstorable(user_id).lstrip("@").partition("@")[0]
    return [word for word in query_tokens(local)[:1] if _is_name(word)]


def _is_name(word: str) -> bool:
    letters = sum(char.isalpha() for char in word)
    return letters >= 2 and word not in STOP_WORDS and word not in english.ROLE_NAMES


def _to_first_person(text: str, called: set[str]) -> str:
    """The question in the speaker's own words: "Caroline's dog" becomes "my dog"."""

    def first_person(match: re.Match[str]) -> str:
        words = tokens(match["name"])
        if len(words) != 1 or words[0] not in called:
            return match[0]
        return "my" if match["possessive"] else "I"

    return _NAME.sub(first_person, unicodedata.normalize("NFC", text))


def _asks_assistant(words: Sequence[str]) -> bool:
    return _asks_to_be_reminded(words) or any(
        (word in english.ASSISTANT_NAMES and _is_past_statement(words, place))
        or (word in english.SECOND_PERSON and _next_word(words, place) in english.SPEECH_NOUNS)
        for place, word in enumerate(words)
    )


def _asks_to_be_reminded(words: Sequence[str]) -> bool:
    """ "Remind me of the shop we talked about" asks for what the assistant said."""
    reminded = ("remind", "me") in itertools.pairwise(words)
    return reminded and not english.EARLIER_TALK_WORDS.isdisjoint(words)


def _is_past_statement(words: Sequence[str], place: int) -> bool:
    """Whether the "you" at this index said something in the past: "you suggested", "did you
    suggest". "Can you suggest" asks for something new.
    """
    verb = _next_word(words, place)
    before = [word for word in words[:place] if word != "the"][-1:]
    return verb in english.PAST_SPEECH_VERBS or (
        verb in english.SPEECH_VERBS and not english.PAST_AUXILIARIES.isdisjoint(before)
    )


def _next_word(words: Sequence[str], place: int) -> str:
    return next((word for word in words[place + 1 :] if word not in english.ADVERBS), "")


# A word with its possessive ending: "Caroline's", or "James'" after an s.
_NAME = re.compile(
    r"(?P<name>[^\W_]+)(?P<possessive>['’]s(?![^\W_])|(?<=s)['’](?![^\W_]))?", re.IGNORECASE
)
