"""Phrases of the data files: how they are written, and how a text is searched for them.

A phrase is a row of words, in lower case:

    word        the word; `wor*` also longer ones, `word+` also its plural in s or es
    (a|b c|d)   one of these
    _           any word
    <name>      one of the section `words`, where a line is `name = a | b c | d`
    …           at most 24 characters of the same sentence; `…60` at most 60
    ……          at most 80 characters, whatever they are
    /…/         a pattern, which begins with an edge or a digit
    $           the end of a clause
    :           a colon, a dash or an end of line, maybe after a bracket
    !(a|b)      none of these follows
    &           what follows may stand anywhere near, in the same sentence

`word?` may be missing, `<name>?3` may come up to three times. A line that begins with `-<name>`
doesn't count after one of these words, and one with `^` only where a line or a sentence begins.

A phrase is searched at its first words, literal strings that `str.find` finds fast, and every gap
in its pattern is bounded. So the time is linear in the text, whatever it contains. Accents, letter
case and look-alike letters don't matter: phrases and texts are compared as skeletons.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

# What may stand between two words: a few characters, but no end of a sentence.
GAP = r"(?:[^\w.!?;]|_){1,4}"
# At the start of a line or a sentence, maybe in brackets or bold.
OPENING = r"""(?:(?<![\s\S])|(?<=[\n.!?:\[(*#>"'=。！？-])|(?<=[.!?:#>=-] ))"""

_NEAR_BEFORE = 100
_NEAR_AFTER = 160
_NEAR_STEP = 60


@dataclass(frozen=True, slots=True)
class Phrase:
    """One phrase: a pattern that begins at one of its anchors, what must stand near it, and the
    section that it comes from."""

    section: str
    anchors: tuple[str, ...]
    pattern: str
    nearby: tuple[str, ...] = ()
    begins_word: bool = False

    def end_at(self, reading: str, place: int) -> int | None:
        """Where the phrase ends if it stands here. Patterns are compiled at the first text with an
        anchor."""
        found = _compile(self.pattern).match(reading, place)
        if found and self.nearby:
            sentence = _sentence_around(reading, place, found.end())
            if not all(_compile(one).search(sentence) for one in self.nearby):
                return None
        return found.end() if found else None


class PhraseMatch(NamedTuple):
    """A phrase in a text, with its start and end."""

    phrase: Phrase
    start: int
    end: int


class PhraseSet:
    """Phrases that are searched together; those with a common anchor share one search for it."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        # Most anchors begin a word: those are searched only if a word of the text begins like them.
        self._by_start: dict[str, dict[str, list[Phrase]]] = {}
        self._anywhere: dict[str, list[Phrase]] = {}
        for one in phrases:
            for anchor in one.anchors:
                start = _WORD_START.match(anchor) if one.begins_word else None
                known = self._by_start.setdefault(start[0], {}) if start else self._anywhere
                known.setdefault(anchor, []).append(one)

    def find_in(self, reading: str) -> Iterator[PhraseMatch]:
        """The phrases in a text, which must be a skeleton. One may come several times."""
        for start in self._by_start.keys() & set(_WORD_START.findall(reading)):
            yield from _find_at(self._by_start[start], reading)
        yield from _find_at(self._anywhere, reading)

    def blank_out(self, reading: str) -> str:
        """The text with the phrases overwritten by spaces."""
        for _, start, end in list(self.find_in(reading)):
            reading = reading[:start] + " " * (end - start) + reading[end:]
        return reading


def _find_at(by_anchor: dict[str, list[Phrase]], reading: str) -> Iterator[PhraseMatch]:
    for anchor, phrases in by_anchor.items():
        place = reading.find(anchor)
        # The next search starts behind the anchor, so anchors don't overlap with themselves, and
        # the number of matches tried is linear in the text. What stands near is looked at in steps,
        # because each look reads a few hundred characters.
        looked = -_NEAR_STEP
        while place >= 0:
            near = place - looked >= _NEAR_STEP or _ends_sentence(reading, looked, place)
            looked = place if near else looked
            for one in phrases:
                end = one.end_at(reading, place) if near or not one.nearby else None
                if end is not None:
                    yield PhraseMatch(one, place, end)
            place = reading.find(anchor, place + len(anchor))


def _ends_sentence(reading: str, start: int, end: int) -> bool:
    """Does a sentence end between two places? What stands near is then something else."""
    return _SENTENCE_END.search(reading, max(0, start), end) is not None


def _sentence_around(reading: str, start: int, end: int) -> str:
    """What stands around a place in its sentence, within bounds."""
    before = reading[max(0, start - _NEAR_BEFORE) : start]
    after = reading[end : end + _NEAR_AFTER]
    return _SENTENCE_END.split(before)[-1] + reading[start:end] + _SENTENCE_END.split(after)[0]


class PhraseReader:
    """Reads the phrases of one data file, with the words that its phrases name."""

    def __init__(self, fold: Callable[[str], str], words: Iterable[str] = ()) -> None:
        self._fold = fold
        self._words: dict[str, list[str]] = {}
        for line in words:
            name, _, written = line.partition("=")
            self._words[name.strip()] = self._alternatives(written)

    def knows(self, line: str) -> bool:
        """Are all words that the line names in this file?"""
        return all(name in self._words for name in _NAME.findall(line))

    def read(self, section: str, line: str) -> Phrase:
        """The phrase of one line."""
        behind, line = self._split_behind(line)
        rows = [_TOKEN.findall(row) for row in line.split(" & ")]
        first, *rest = rows[0]
        starts = self._options(first)
        anchors = tuple(dict.fromkeys(one.rstrip("*+") for one in starts))
        pattern = f"{_edge(starts[0], 0)}{behind}{_any_of(starts)}{self._follow(rest, starts)}"
        nearby = tuple(self._row(row) for row in rows[1:])
        spaced = all(_edge(one, 0) for one in anchors)
        return Phrase(section, anchors, pattern, nearby, begins_word=spaced)

    def _split_behind(self, line: str) -> tuple[str, str]:
        if line.startswith("^ "):
            return OPENING, line[2:]
        if not line.startswith("-"):
            return "", line
        first, _, line = line.partition(" ")
        behind = "".join(f"(?<!{_text(word)} )" for word in self._options(first[1:]))
        return behind, line

    def _row(self, tokens: Sequence[str]) -> str:
        starts = self._options(tokens[0])
        return f"{_edge(starts[0], 0)}{_any_of(starts)}{self._follow(tokens[1:], starts)}"

    def _follow(self, words: Iterable[str], before: list[str]) -> str:
        parts, glued = [], False
        for word in words:
            if word[0] == "!":
                parts.append(f"(?!{GAP}{_any_of(self._options(word[1:]))})")
            elif fixed := _fixed_pattern(word):
                # A pattern in slashes brings no gap of its own, the others do.
                inner = word[0] == "/"
                parts.append(GAP + fixed if inner and not glued else fixed)
                glued = not inner and word != "$"
                before = ["0"] if inner else before
            else:
                core, times = _split_times(word)
                options = self._options(core)
                pattern = _gap_between(before, options, glued=glued) + _any_of(options)
                parts.append(f"(?:{pattern}){{0,{times}}}" if times else pattern)
                before, glued = options, False
        return "".join(parts)

    def _options(self, token: str) -> list[str]:
        if token.startswith("<"):
            return self._words[token[1:-1]]
        if token.startswith("("):
            return self._alternatives(token[1:-1])
        return [self._fold(token)]

    def _alternatives(self, written: str) -> list[str]:
        options: list[str] = []
        for one in map(str.strip, written.split("|")):
            options += self._words[one[1:-1]] if one.startswith("<") else [self._fold(one)]
        return options


def _fixed_pattern(word: str) -> str | None:
    """The pattern of a sign that is no word; None for a word."""
    if word == "……":
        return r"[\s\S]{0,80}?"
    if word[0] == "…":
        return rf"[^.!?。！？\n]{{0,{word[1:] or 24}}}?"
    if word[0] == "/":
        return word[1:-1]
    return _SIGNS.get(word)


def _split_times(token: str) -> tuple[str, int]:
    core, mark, times = token.partition("?")
    return core, int(times or 1) if mark else 0


def _any_of(options: Iterable[str]) -> str:
    # The longest first: `instructions` before `instruction`.
    ordered = sorted(set(options), key=lambda one: (-len(one), one))
    return "(?:" + "|".join(map(_text, ordered)) + ")"


def _text(option: str) -> str:
    """The pattern of one word or row of words, with the ends of words where its script has any."""
    words = [_word(one) for one in option.split(" ")]
    return GAP.join(words) if option.isascii() else r"(?:[^\w.!?;]|_){0,4}".join(words)


def _word(word: str) -> str:
    if word == "_":
        return r"[\w'-]{1,30}"
    stem = word.rstrip("*+")
    tail = ""
    if _is_spaced(stem[-1:]):
        tail = r"\w{0,14}" if word.endswith("*") else "(?:e?s)?" if word.endswith("+") else ""
    return re.escape(stem) + tail + _edge(stem, -1)


def _edge(option: str, place: int) -> str:
    """The edge of a word at its first or last letter, in scripts that part words by spaces and
    glue nothing to them."""
    char = (option.rstrip("*+") or "*")[place]
    if not (char.isalnum() and _is_spaced(char)):
        return ""
    return r"(?<![^\W_])" if place == 0 else r"(?![^\W_])"


def _is_spaced(char: str) -> bool:
    # Latin, Greek and Cyrillic; Arabic and Hebrew glue articles to words, Devanagari loses its
    # vowel signs in the skeleton.
    return char < "\u0590" or "\u1e00" <= char < "\u2000"


def _gap_between(before: list[str], after: list[str], *, glued: bool) -> str:
    edge = _edge(after[0], 0)
    if glued:
        return edge
    spaced = all(_is_spaced(one[0]) for one in (before[0].rstrip("*+")[-1], after[0]))
    return GAP if spaced else r"(?:[^\w.!?;]|_){0,4}"


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_WORD_START = re.compile(r"(?<![^\W_])[^\W_]{1,3}")
_TOKEN = re.compile(r"!?\([^)]*\)(?:\?\d?)?|/[^/]+/|\S+")
_SIGNS = {":": r"[\s*\])]{0,3}[:=>\n—-]\s?", "$": r"(?=\s?(?:$|[.,;:!?)…—\n-]))"}
_NAME = re.compile(r"<(\w+)>")
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$|[^\x00-\x7f])|\n")
