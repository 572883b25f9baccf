"""Finds identifiers of a person in texts: names, handles, addresses, ids, as whole tokens.

Texts are compared as the full-text index compares them: compatibility forms, case, accents and
invisible characters make no difference, nor do hyphens and spaces between the words of a name. The
redaction of an erasure and its verification both use this matcher, so they can't disagree.

How a match works: text and identifier are folded to comparable characters (`_FoldedText`), each of
which remembers the span of the original text that it comes from. The identifier becomes a regular
expression over folded characters. A match counts if both ends are token edges; its span in the
original text is what is replaced.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from recollect.text import characters, english, tokens
from recollect.text.normal_form import normalize_unicode

ERASED = "[erased]"
# A shorter JSON number would match a phone number or id by chance.
_DIGITS_MIN = 5
# Longer pieces (a letter with many marks) are rare and not cached, so that texts can't fill memory.
_CACHED_CHARS_MAX = 8

Span = tuple[int, int]


class IdentifierMatcher:
    """Finds and replaces identifiers in texts and JSON values, field names included.

    A token ends where a letter or digit meets another character; an e-mail address is one token. In
    scripts without spaces every occurrence counts. Time is linear in the length of the text.
    """

    def __init__(self, identifiers: Iterable[str], *, capitalized: Iterable[str] = ()) -> None:
        """`capitalized` are found only where they begin with a capital: parts of a name."""
        made = {one.strip(): _compile_identifier(one) for one in identifiers}
        parts = [_compile_identifier(one) for one in capitalized if one not in made]
        self._needles = [needle for needle in made.values() if needle is not None]
        self._needles += [part._replace(capital=True) for part in parts if part is not None]

    def find_spans(self, text: str) -> list[Span]:
        """Spans of all matches, sorted and disjoint. `[erased]` itself never matches, even if
        somebody is called "erased": otherwise a redaction would not end."""
        found, start = [], 0
        for part in text.split(ERASED) if self._needles else ():
            found += [(start + a, start + b) for a, b in self._find_part_spans(part)]
            start += len(part) + len(ERASED)
        return _merge_spans(found)

    def redact(self, text: str) -> str:
        """The text with every match replaced by `[erased]`.

        Repeated until nothing is found: a replacement creates new token edges, at which a part of
        the text that was no match before may be one.
        """
        while spans := self.find_spans(text):
            ends = [0, *(end for _, end in spans)]
            starts = [*(start for start, _ in spans), len(text)]
            text = ERASED.join(text[a:b] for a, b in zip(ends, starts, strict=True))
        return text

    def redact_json(self, value: Any) -> Any:
        """The JSON value with every match replaced, in strings, field names and numbers."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            return self._redact_fields(value)
        if isinstance(value, list | tuple):
            return type(value)(map(self.redact_json, value))
        # Booleans, null and numbers that are no match stay as they are.
        return ERASED if self._is_matching_number(value) else value

    def has_match(self, value: Any) -> bool:
        """Is there a match in a text or anywhere in a JSON value?"""
        if isinstance(value, str):
            return bool(self.find_spans(value))
        if isinstance(value, Mapping):
            return any(self.has_match(name) or self.has_match(one) for name, one in value.items())
        if isinstance(value, list | tuple):
            return any(map(self.has_match, value))
        return self._is_matching_number(value)

    def _redact_fields(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """Redact field names and values. No field is lost where two names become equal: the later
        one gets a number (`[erased] 2`) that makes it unique and is no match itself."""
        clean: dict[str, Any] = {}
        times: Counter[str] = Counter()
        for name, value in members.items():
            written = mark = self.redact(name)
            # Unique among the names written so far and among original names that are still to come.
            while written in clean or (
                written != name and (written in members or self.find_spans(written))
            ):
                times[mark] += 1
                written = f"{mark} {times[mark] + 1}"
            clean[written] = self.redact_json(value)
        return clean

    def _is_matching_number(self, value: Any) -> bool:
        """Is a JSON number a match? It may be a user id or a telephone number."""
        text = "" if isinstance(value, bool) or not isinstance(value, int) else str(value)
        return len(text) >= _DIGITS_MIN and bool(self.find_spans(text))

    def _find_part_spans(self, part: str) -> Iterator[Span]:
        for view in _fold_variants(part) if part else ():
            for needle in self._needles:
                yield from needle.find_spans(view, part)


class _FoldedText(NamedTuple):
    """A folded text. For each character: its kind (`w` letter or digit, `u` letter of a script
    without spaces, `s` symbol, blank for all else), and start and end of the piece of the original
    text that it comes from. One piece may give several characters (`ﬁ`) or none."""

    chars: str
    kinds: str
    starts: Sequence[int]
    ends: Sequence[int]

    def is_token_edge(self, at: int) -> bool:
        """Can a token begin or end here? Not inside of one original piece, and not between two
        letters."""
        if at in (0, len(self.chars)):
            return True
        apart = self.starts[at - 1] != self.starts[at]
        return apart and not (self.kinds[at - 1] == "w" == self.kinds[at])


class _IdentifierPattern(NamedTuple):
    """A compiled identifier. `meant` is its exact spelling where folding would go too far: a name
    that differs from a stop word by accents only must not match that stop word. With `capital` a
    match must begin with a capital letter."""

    pattern: re.Pattern[str]
    address: bool
    meant: str | None
    capital: bool = False

    def find_spans(self, view: _FoldedText, text: str) -> Iterator[Span]:
        at = 0
        # Not `finditer`: a match that is no token may overlap one that is.
        while found := self.pattern.search(view.chars, at):
            first, end = found.span()
            at = first + 1
            if self._is_token(view, first, end) and self._is_spelled_so(view, first, end, text):
                first = _include_at_sign(view, first)
                yield view.starts[first], view.ends[end - 1]

    def _is_token(self, view: _FoldedText, first: int, end: int) -> bool:
        if not (view.is_token_edge(first) and view.is_token_edge(end)):
            return False
        return not (self.address and _is_inside_address(view, first, end))

    def _is_spelled_so(self, view: _FoldedText, first: int, end: int, text: str) -> bool:
        if self.capital and not text[view.starts[first]].isupper():
            return False
        if self.meant is None:
            return True
        return _fold_case(text[view.starts[first] : view.ends[end - 1]]) == self.meant


def is_email_address(identifier: str) -> bool:
    return _EMAIL.fullmatch(identifier) is not None


def _compile_identifier(identifier: str) -> _IdentifierPattern | None:
    """The pattern of an identifier; None if it has no letter or digit."""
    view = _fold_text(identifier.strip().lstrip("@").strip())
    edges = _EDGES.fullmatch(view.chars)
    first, end = edges.span(1) if edges else (0, 0)
    if not view.kinds[first:end].strip():
        return None
    if is_email_address(view.chars):
        return _IdentifierPattern(re.compile(re.escape(view.chars)), address=True, meant=None)
    parts = (_part_pattern(view, part) for part in _PARTS.finditer(view.chars, first, end))
    plain = _fold_case(identifier.strip().lstrip("@").strip())
    common = view.chars in english.STOP_WORDS and plain != view.chars
    return _IdentifierPattern(
        re.compile("".join(parts)), address=False, meant=plain if common else None
    )


def _part_pattern(view: _FoldedText, part: re.Match[str]) -> str:
    """The pattern of a word, or of the gap between two words.

    Hyphens, spaces and apostrophes in a gap are interchangeable. A dot is one of them after an
    initial ("J. Smith", "J Smith"). A gap that was written with a space or a dot is required: "Ann
    Lee" does not match "annlee", but "Anne-Marie" matches "Annemarie".
    """
    start, end = part.span()
    if part["gap"] is None:
        return "".join(_char_pattern(view, at, start) for at in range(start, end))
    point = "." in part["gap"] or start == 1 or view.chars[start - 2] in _GAP_CHARS
    unspaced = view.kinds[start - 1] == "u" == view.kinds[end]
    needed = not unspaced and ("." in part["gap"] or " " in part["gap"])
    return f"[{_GAP}{'.' if point else ''}]{'+' if needed else '*'}"


def _char_pattern(view: _FoldedText, at: int, start: int) -> str:
    """The pattern of one character; in scripts without spaces a space may come before it."""
    unspaced = at > start and view.kinds[at - 1] == "u" == view.kinds[at]
    gap = " *" if unspaced and view.starts[at - 1] != view.starts[at] else ""
    return gap + re.escape(view.chars[at])


def _is_inside_address(view: _FoldedText, first: int, end: int) -> bool:
    """Is the match a part of another address: `ann@example.org` in `x.ann@example.org.uk`?"""
    before = view.chars[first - 1 : first]
    after, beyond = view.chars[end : end + 1], view.kinds[end + 1 : end + 2]
    return (before != "" and before in ".+-") or after == "-" or (after == "." and beyond == "w")


def _include_at_sign(view: _FoldedText, first: int) -> int:
    """Extend a match by an at sign before it (`@ann`), but not by one inside of an address."""
    is_sign = view.chars[first - 1 : first] == "@"
    return first - 1 if is_sign and view.kinds[max(first - 2, 0)] != "w" else first


def _fold_variants(text: str) -> Iterator[_FoldedText]:
    """The folded text; and, if it has invisible characters, also the text without them. Such a
    character may stand between two words or inside of one, so both readings are searched."""
    yield _fold_text(text)
    if _HIDDEN.search(text):
        yield _fold_text(_HIDDEN.sub(_SOFT_HYPHEN, text))


def _fold_text(text: str) -> _FoldedText:
    """Fold a text. ASCII, the common case, needs no Unicode data and has one character a piece."""
    if text.isascii():
        plain, size = text.lower().translate(_ASCII_CHARS), len(text)
        return _FoldedText(plain, plain.translate(_ASCII_KINDS), range(size), range(1, size + 1))
    chars, kinds = [], []
    starts: list[int] = []
    ends: list[int] = []
    for piece in _PIECE.finditer(characters.char_classes(text)):
        start, end = piece.span()
        letter, kind = _fold_piece(text[start:end], piece[0][0])
        chars.append(letter)
        kinds.append(kind * len(letter))
        starts += [start] * len(letter)
        ends += [end] * len(letter)
    return _FoldedText("".join(chars), "".join(kinds), starts, ends)


def _fold_piece(piece: str, sign: str) -> tuple[str, str]:
    """The folded characters of a base character with its marks, and their kind."""
    if len(piece) > _CACHED_CHARS_MAX:
        return _fold_cached.__wrapped__(piece, sign)
    return _fold_cached(piece, sign)


@lru_cache(maxsize=2**13)
def _fold_cached(piece: str, sign: str) -> tuple[str, str]:
    """Compatibility decomposition: a ligature equals its letters. Invisible characters are removed
    first, because one may stand between a letter and its mark."""
    word = unicodedata.normalize("NFKD", tokens.fold_words(_strip_format_chars(piece)).strip())
    if word:
        return word, {"w": "w", "u": "u"}.get(sign, "s")
    if sign in "mj":
        return "", " "
    char = piece[0]
    if char == "_":
        return char, "w"
    for letter, alike in _LOOKALIKES.items():
        if char in alike:
            return letter, " "
    plain = unicodedata.normalize("NFKC", char)
    if not plain.strip() or unicodedata.category(char)[0] in "ZC":
        return " ", " "
    return ("-" if unicodedata.category(char) == "Pd" else plain.casefold()), " "


def _fold_case(text: str) -> str:
    """Ignore case but keep accents; for `meant`."""
    seen = _HIDDEN.sub("", _strip_format_chars(text))
    return normalize_unicode("NFKC", normalize_unicode("NFD", seen).casefold())


def _strip_format_chars(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char) != "Cf")


def _merge_spans(spans: Iterable[Span]) -> list[Span]:
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


_EMAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
_LOOKALIKES = {"'": "'’‘ʼ＇`´", "·": "·・･‧∙•", "-": "-−"}
_GAP = r" '·\-"
_GAP_CHARS = " '·-."
_PARTS = re.compile(rf"(?P<gap>[{_GAP}.]+)|[^{_GAP}.]+")
_EDGES = re.compile(rf"[{_GAP}.]*(.*?)[{_GAP}.]*", re.DOTALL)
# A base character with its combining marks; or marks at the beginning of a text.
_PIECE = re.compile(r"[^mj][mj]*|[mj]+", re.DOTALL)
# Characters that draw nothing: zero-width space, Hangul fillers, the blank Braille pattern.
_HIDDEN = re.compile("[\u200b\u115f\u1160\u2800\u3164\uffa0]")
_SOFT_HYPHEN = "\u00ad"
_ASCII_CHARS = dict.fromkeys((*range(33), 127), " ") | {ord("`"): "'"}
_ASCII_KINDS = {
    code: "w" if chr(code).isalnum() or chr(code) == "_" else " " for code in range(128)
}
