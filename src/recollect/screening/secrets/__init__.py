"""Finds secrets, which must never be stored: API keys, tokens, passwords, private keys.

Results name the family and the field, never a part of the text. The time is linear in the text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from recollect.screening.secrets import patterns
from recollect.screening.secrets.clues import ViewClues
from recollect.screening.secrets.labelled import ends_in_label
from recollect.screening.secrets.rules import RULES, SecretFamily, may_ask
from recollect.screening.secrets.sentences import has_answer
from recollect.screening.skeleton import to_latin
from recollect.text import deobfuscate

__all__ = [
    "REFUSED",
    "SecretFamily",
    "SecretLocation",
    "SecretMatch",
    "find_answered_secret",
    "find_secret",
    "find_secret_in",
    "find_secret_in_id",
    "readable_views",
]

# Replaces a secret that was removed; it does not count as a secret itself, whatever its label.
REFUSED = "[refused]"


@dataclass(frozen=True, slots=True)
class SecretMatch:
    """A secret in a text: only its family is known, not its position."""

    family: SecretFamily


@dataclass(frozen=True, slots=True)
class SecretLocation:
    """A secret in a JSON value: its path, such as `value.db.password` or `tags[2]`."""

    field: str
    family: SecretFamily


def find_secret(text: str) -> SecretMatch | None:
    """A secret in the text, of the first family in the order of `SecretFamily`; None without."""
    if _is_plain(text):
        return _find_in_views([text])
    forms = deobfuscate.readable_forms(text)
    return _find_in_views(_add_hidden(text, forms)) or _find_broken_secret(forms[-1])


def readable_views(text: str) -> tuple[str, ...]:
    """Each view of the text that the rules see: plain, unescaped, spelled-out words closed up,
    because a secret may be whole in one view only, and what is encoded in it."""
    return _add_hidden(text, deobfuscate.readable_forms(text))


def _is_plain(text: str) -> bool:
    """Is the text its own only view: one line of ASCII without disguises?"""
    return not (
        _PLAIN_LINE.fullmatch(text) is None
        or _SPELLED_OUT.search(text)
        or _DISGUISE.search(text)
        or deobfuscate.may_hold_encoded(text)
    )


def _add_hidden(text: str, forms: tuple[str, ...]) -> tuple[str, ...]:
    lookalike = () if text.isascii() else (to_latin(forms[-1]),)
    encoded = map(deobfuscate.to_plain_text, deobfuscate.encoded_texts(text))
    return tuple(dict.fromkeys((*forms, *lookalike, *encoded)))


def _find_in_views(views: Iterable[str]) -> SecretMatch | None:
    seen = [ViewClues.from_view(view) for view in views]
    for rule in RULES:
        for clues in seen:
            if rule.may_match(clues) and rule.matches(clues.view):
                return SecretMatch(rule.family)
    return None


def _find_broken_secret(form: str) -> SecretMatch | None:
    """A secret in the text with line breaks removed that may lie inside of a key, as in mails.
    Only the rules apply that prose can't trigger."""
    whole = deobfuscate.join_base64_lines(form)
    if whole == form:
        return None
    if patterns.has_provider_key(whole):
        return SecretMatch(SecretFamily.PROVIDER_KEY)
    if patterns.has_jwt(whole):
        return SecretMatch(SecretFamily.JWT)
    found = patterns.has_auth_header(whole, broken=True)
    return SecretMatch(SecretFamily.AUTH_HEADER) if found else None


def find_secret_in_id(identifier: str) -> SecretMatch | None:
    """A secret in an id that a caller chose, by its own form alone: an id is no sentence."""
    plain = deobfuscate.to_plain_text(identifier)
    if patterns.has_provider_key(plain):
        return SecretMatch(SecretFamily.PROVIDER_KEY)
    return SecretMatch(SecretFamily.JWT) if patterns.has_jwt(plain) else None


def find_answered_secret(question: str, answer: str) -> SecretMatch | None:
    """A secret in a message that answers the message before it, which asked for one."""
    request = deobfuscate.to_plain_text(question[-_QUESTION_CHARS_MAX:]).rstrip()
    if not may_ask(ViewClues.from_view(request)):
        return None
    reply = deobfuscate.to_plain_text(answer[:_QUESTION_CHARS_MAX]).lstrip()
    return SecretMatch(SecretFamily.LABELLED) if has_answer(f"{request}\n{reply}") else None


def find_secret_in(value: Any, field: str) -> SecretLocation | None:
    """The first secret in a JSON value, in document order: in strings, field names and values.

    The path shows a field's name only if it is an identifier, otherwise `*`: a name may be the
    secret itself. A secret in a name is reported at the object around it.
    """
    return next(_iter_secrets(value, field), None)


@dataclass(frozen=True, slots=True)
class _JsonPosition:
    value: Any
    path: str
    name: str = ""
    """The name of the nearest field; items of a list have the list's name."""


def _iter_secrets(value: Any, field: str) -> Iterator[SecretLocation]:
    # A stack instead of recursion: not every caller limits the nesting. Children are pushed in
    # reverse, so that they are popped in document order.
    places = [_JsonPosition(value, field)]
    while places:
        place = places.pop()
        if isinstance(place.value, dict):
            yield from _scan_names(place)
            places.extend(reversed(list(_iter_members(place))))
        elif isinstance(place.value, list | tuple):
            places.extend(reversed(list(_iter_items(place))))
        else:
            yield from _scan_scalar(place)


def _scan_names(place: _JsonPosition) -> Iterator[SecretLocation]:
    for name in place.value:
        if secret := find_secret(name):
            yield SecretLocation(place.path, secret.family)


def _iter_members(place: _JsonPosition) -> Iterator[_JsonPosition]:
    for name, member in place.value.items():
        safe_name = name if name.isidentifier() and len(name) <= _NAME_CHARS_MAX else "*"
        yield _JsonPosition(member, f"{place.path}.{safe_name}", name)


def _iter_items(place: _JsonPosition) -> Iterator[_JsonPosition]:
    for index, item in enumerate(place.value):
        yield _JsonPosition(item, f"{place.path}[{index}]", place.name)


def _scan_scalar(place: _JsonPosition) -> Iterator[SecretLocation]:
    if place.value == REFUSED:
        return
    if (
        place.name
        and ends_in_label(deobfuscate.to_plain_text(place.name))
        and _is_worth_hiding(place.value)
    ):
        yield SecretLocation(place.path, SecretFamily.RECORD_MEMBER)
    elif isinstance(place.value, str):
        # Together with its name: a field `authorization` is a header too.
        text = f"{place.name}: {place.value}" if place.name else place.value
        if secret := find_secret(text):
            yield SecretLocation(place.path, secret.family)


def _is_worth_hiding(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= 1000


_NAME_CHARS_MAX = 64
_QUESTION_CHARS_MAX = 400
# Printable ASCII without `%` and backslash: there is nothing to decode.
_PLAIN_LINE = re.compile(r"[ -$&-\[\]-~]*")
# Each begins with the signs to search for, which is fast.
_DISGUISE = re.compile(
    r"[&`*~<.|_+-](?:(?<=&)#|(?<=[A-Za-z][*`<])|(?<=[A-Za-z]~)~|(?<=\w[.*_|~+-])\w[.*_|~+-]\w)"
)
_SPELLED_OUT = re.compile(r" (?:(?<=^\S )|(?<= \S ))\S \S(?: |$)")
