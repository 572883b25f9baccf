"""Excerpts of a text that show why it was found, with the matching words marked.

A text is split into units: words, symbols, single letters of scripts without spaces. The excerpt is
built around the window of units with the most different matches.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, islice
from typing import NamedTuple

from recollect.text.characters import char_classes
from recollect.text.tokens import fold_words, stem, tokens

OPENING_CHARS_MAX = 200
CHARS_MAX = 600

# Lengths are measured in quarters of a word; a letter of a script without spaces is one quarter.
_WORD = 4
_WHOLE_MAX = 50 * _WORD
_WINDOW_MAX = 40 * _WORD
_GROUP_MAX = 30 * _WORD
_UNIT_CHARS_MAX = 200
_EDGE_CHARS_MAX = 40
# In a longer text only parts that are likely to match are split into units, if that suffices.
_LONG_CHARS = 8_000
_LIKELY_MAX = 200
_PARTS_MAX = 6
_PART_BEFORE_CHARS = 500
_PART_CHARS = 3_000

Key = str | None
Match = Callable[[str], Key]


def highlight(text: str, words: Collection[str], *, prefix: bool) -> str | None:
    """20 to 50 words around the densest group of matches, each match as `**…**`; None without one.

    `words` are tokens. With `prefix` a word of the text matches if it begins with one of them, else
    if it has the same stem (`words` may be stems already). A text of at most 50 words is returned
    whole. In scripts without spaces 200 characters count as 50 words. `…` marks where text was cut
    off. At most 600 characters of the text are shown, so very long words leave room for fewer.
    """
    match = _build_matcher(words, prefix=prefix)
    units = _best_part(text, words, match) if len(text) > _LONG_CHARS else []
    if units:
        return _excerpt(text, _ExcerptWindow(units))
    units = list(_units(text, match))
    if not any(unit.key for unit in units):
        return None
    if sum(unit.weight for unit in units) <= _WHOLE_MAX and len(text) <= CHARS_MAX:
        return _mark_units(text, units, 0, len(text))
    return _excerpt(text, _ExcerptWindow(units))


def _best_part(text: str, words: Collection[str], match: Match) -> list["_TextUnit"]:
    """The units of the part with the most different matches; empty if no part has one."""
    best: list[_TextUnit] = []
    most = 0
    for start, end in islice(_likely_parts(text, words), _PARTS_MAX):
        units = list(_offset_units(_units(text[start:end], match), start))
        different = len({unit.key for unit in units if unit.key})
        if different > most:
            best, most = units, different
    return best


def _likely_parts(text: str, words: Collection[str]) -> Iterator[tuple[int, int]]:
    """Ranges of a long text that may contain one of the words, each cut at a space.

    A regular expression searches for the beginnings of the words, which is far cheaper than
    splitting the whole text into units. It may miss words that are spelled differently; then the
    caller looks at the whole text.
    """
    # Without the last two letters, since endings differ between a word and its inflections.
    beginnings = {word[: max(len(word) - 2, 2)] for word in words if word}
    if not beginnings:
        return
    pattern = re.compile("|".join(map(re.escape, sorted(beginnings))), re.IGNORECASE)
    end = 0
    for found in islice(pattern.finditer(text), _LIKELY_MAX):
        if found.start() < end:
            continue
        start = _space_before(text, max(found.start() - _PART_BEFORE_CHARS, 0))
        end = _space_before(text, min(found.start() + _PART_CHARS, len(text)))
        if start < end:
            yield start, end


def _space_before(text: str, place: int) -> int:
    """The last space shortly before this index; the index itself if there is none."""
    if place in (0, len(text)):
        return place
    space = text.rfind(" ", max(place - _UNIT_CHARS_MAX, 0), place)
    return place if space < 0 else space


def _offset_units(units: Iterator["_TextUnit"], by: int) -> Iterator["_TextUnit"]:
    return (unit._replace(start=unit.start + by, end=unit.end + by) for unit in units)


def text_opening(text: str) -> str:
    """The first 200 characters, or a few less if the cut would split a letter or an emoji."""
    if len(text) <= OPENING_CHARS_MAX:
        return text
    signs = char_classes(text[: OPENING_CHARS_MAX + 1])
    cut = OPENING_CHARS_MAX
    while cut > OPENING_CHARS_MAX // 2 and _is_inside_cluster(signs, cut):
        cut -= 1
    return text[: cut if not _is_inside_cluster(signs, cut) else OPENING_CHARS_MAX]


def _is_inside_cluster(signs: str, cut: int) -> bool:
    """Whether a cut here would split a grapheme: before a mark or a joiner, behind a joiner, or
    between the two halves of a flag. Halves are counted, because flags may follow each other."""
    before = signs[:cut]
    halves = len(before) - len(before.rstrip("r"))
    return signs[cut] in "mj" or before[-1] == "j" or (signs[cut] == "r" and halves % 2 == 1)


class _TextUnit(NamedTuple):
    """A word, a symbol, or one letter of a script without spaces."""

    start: int
    end: int
    weight: int
    key: Key
    """The searched word that it matches, or None."""


def _build_matcher(words: Collection[str], *, prefix: bool) -> Match:
    return _prefix_matcher(words) if prefix else _stem_matcher(words)


def _prefix_matcher(words: Collection[str]) -> Match:
    wanted = frozenset(filter(None, words))
    lengths = sorted({len(word) for word in wanted})
    return lambda token: next((token[:n] for n in lengths if token[:n] in wanted), None)


def _stem_matcher(words: Collection[str]) -> Match:
    wanted = frozenset(words) | {stem(word) for word in words}
    return lambda token: found if (found := stem(token)) in wanted else None


def _units(text: str, match: Match) -> Iterator[_TextUnit]:
    return _ascii_units(text, match) if text.isascii() else _unicode_units(text, match)


def _ascii_units(text: str, match: Match) -> Iterator[_TextUnit]:
    """As `_unicode_units` for ASCII texts, but three times as fast."""
    for found in _ASCII_UNIT.finditer(text):
        start, end = found.span()
        yield _TextUnit(
            start, min(end, start + _UNIT_CHARS_MAX), _WORD, _matched_key(found[0], match)
        )


def _unicode_units(text: str, match: Match) -> Iterator[_TextUnit]:
    signs = char_classes(text)
    place = 0
    while found := _UNIT.search(signs, place):
        start, place = found.span()
        if found["run"]:
            letters = [letter.span() for letter in _LETTER.finditer(signs, start, place)]
            yield from _run_units(text, letters, match)
            continue
        ending = _ENDING.match(text, place) if found["word"] else None
        place = ending.end() if ending else place
        yield _capped_unit(start, place, _WORD, _matched_key(text[start:place], match))


def _matched_key(word: str, match: Match) -> Key:
    for token in _cached_tokens(word):
        if key := match(token):
            return key
    return None


@lru_cache(maxsize=2**14)
def _cached_tokens(word: str) -> tuple[str, ...]:
    """Cached across texts, since most words are common ones."""
    return tuple(tokens(word))


def _run_units(text: str, spans: Sequence[tuple[int, int]], match: Match) -> Iterator[_TextUnit]:
    """The letters of a run without spaces. Tokens there are pairs of letters: a matching pair
    marks both of its letters."""
    chars = _fold_letters(text, spans)
    keys: list[Key] = [None] * len(spans)
    for place, (char, owner) in enumerate(chars):
        following, neighbour = chars[place + 1] if place + 1 < len(chars) else ("", owner)
        key = match(char + following)
        if key:
            keys[owner] = key
            keys[neighbour if len(key) > 1 else owner] = key
    for (start, end), key in zip(spans, keys, strict=True):
        yield _capped_unit(start, end, 1, key)


def _capped_unit(start: int, end: int, weight: int, key: Key) -> _TextUnit:
    return _TextUnit(start, min(end, start + _UNIT_CHARS_MAX), weight, key)


def _fold_letters(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[str, int]]:
    """Folded characters, each with the index of the letter that it comes from."""
    whole = fold_words(text[spans[0][0] : spans[-1][1]])
    if len(whole) == len(spans) == spans[-1][1] - spans[0][0]:  # no marks: folding maps one to one
        return list(zip(whole, range(len(spans)), strict=True))
    return [
        (char, owner)
        for owner, (start, end) in enumerate(spans)
        for char in _fold_letter(text[start:end])
    ]


@lru_cache(maxsize=2**13)
def _fold_letter(letter: str) -> str:
    return fold_words(letter).strip()


class _ExcerptWindow:
    """Chooses the units to show of a text that is too long to be shown whole."""

    def __init__(self, units: Sequence[_TextUnit]) -> None:
        self.units = units
        # Prefix sums of the weights: the weight of any range is one subtraction.
        self._reach = list(accumulate((unit.weight for unit in units), initial=0))

    def choose_units(self) -> tuple[int, int]:
        """First and last unit to show: the densest group of matches, extended by turns on both
        sides until the window is full."""
        first, last = self._densest_group()
        while True:
            before = last - first
            if first > 0 and self._is_within(first - 1, last, _WINDOW_MAX):
                first -= 1
            if last + 1 < len(self.units) and self._is_within(first, last + 1, _WINDOW_MAX):
                last += 1
            if last - first == before:
                return first, last

    def _densest_group(self) -> tuple[int, int]:
        """First and last unit of the group with the most different words; of several the one with
        the most matches. A sliding window over the matches, in linear time."""
        keys: Counter[Key] = Counter()
        group: deque[int] = deque()
        best, found = (0, 0), (0, 0)
        for last in (place for place, unit in enumerate(self.units) if unit.key):
            group.append(last)
            keys[self.units[last].key] += 1
            while not self._is_within(group[0], last, _GROUP_MAX):
                _discount_key(keys, self.units[group.popleft()].key)
            if (len(keys), len(group)) > best:
                best, found = (len(keys), len(group)), (group[0], last)
        return found

    def _is_within(self, first: int, last: int, weight_max: int) -> bool:
        chars = self.units[last].end - self.units[first].start
        return self._reach[last + 1] - self._reach[first] <= weight_max and chars <= CHARS_MAX


def _discount_key(keys: Counter[Key], key: Key) -> None:
    keys[key] -= 1
    if not keys[key]:
        del keys[key]


def _excerpt(text: str, window: _ExcerptWindow) -> str:
    first, last = window.choose_units()
    start, end = window.units[first].start, window.units[last].end
    if first == 0 and start <= _EDGE_CHARS_MAX:
        start = 0
    if last == len(window.units) - 1 and len(text) - end <= _EDGE_CHARS_MAX:
        end = len(text)
    excerpt = _mark_units(text, window.units[first : last + 1], start, end).strip()
    return ("…" if start else "") + excerpt + ("…" if end < len(text) else "")


def _mark_units(text: str, units: Iterable[_TextUnit], start: int, end: int) -> str:
    parts, place = [], start
    for mark_start, mark_end in _merge_adjacent(unit for unit in units if unit.key):
        parts += [text[place:mark_start], "**", text[mark_start:mark_end], "**"]
        place = mark_end
    return "".join([*parts, text[place:end]])


def _merge_adjacent(hits: Iterable[_TextUnit]) -> list[tuple[int, int]]:
    """The ranges of matches; adjacent ones are merged into one."""
    spans: list[tuple[int, int]] = []
    for hit in hits:
        if spans and spans[-1][1] == hit.start:
            spans[-1] = (spans[-1][0], hit.end)
        else:
            spans.append((hit.start, hit.end))
    return spans


# Matched against the string of character classes (see `char_classes`): a word, a run of letters
# without spaces, a flag, or a symbol with what is joined to it.
_UNIT = re.compile(r"(?P<word>w[wmj]*)|(?P<run>u[umj]*)|rr?[mj]*|s[mj]*(?:(?<=j)s[mj]*)*")
_LETTER = re.compile(r"u[mj]*")
_ASCII_UNIT = re.compile(
    r"[A-Za-z0-9]+(?:'(?i:s|ll|ve|re|d|m)(?![A-Za-z0-9])|(?i:(?<=n)'t)(?![A-Za-z0-9]))?"
)
# English endings after an apostrophe belong to the word, as in `tokens`.
_ENDING = re.compile(r"(?:['‘’ʼ＇](?:s|ll|ve|re|d|m)|(?<=n)['‘’ʼ＇]t)(?![^\W_])", re.IGNORECASE)
