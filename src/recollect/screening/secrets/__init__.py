"""Finds secrets, which must never be stored: API keys, tokens, passwords, private keys.

Results name the family and the field, never a part of the text. The time is linear in the text.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from recollect.screening.secrets import patterns
from recollect.screening.secrets.labelled import ends_in_label, has_labelled_secret
from recollect.screening.secrets.labels import label_hints
from recollect.screening.secrets.patterns import FORM_HINTS
from recollect.screening.secrets.sentences import SENTENCE_HINTS, has_answer, has_spoken_secret
from recollect.screening.skeleton import to_latin
from recollect.text import deobfuscate

# Replaces a secret that was removed; it does not count as a secret itself, whatever its label.
REFUSED = "[refused]"


class SecretFamily(StrEnum):
    """The rule by which a secret was found."""

    PROVIDER_KEY = "provider_key"
    JWT = "jwt"
    PRIVATE_KEY = "private_key"
    URL_CREDENTIALS = "url_credentials"
    AUTH_HEADER = "auth_header"
    LABELLED = "labelled"
    RECORD_MEMBER = "record_member"


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
    return None if is_harmless(text) else scan_for_secret(text)


def is_harmless(text: str) -> bool:
    """A quick check that clears most texts of secrets: the full rules take ten times as long.
    True for one line of plain ASCII without disguises and without any hint of a secret.

    False means nothing: the full rules must decide. A secret must never pass here, so every rule
    has a hint that each of its matches contains.
    """
    if not _PLAIN_LINE.fullmatch(text) or _SPELLED_OUT.search(text) or _DISGUISE.search(text):
        return False
    lower = text.lower()
    if any(map(lower.__contains__, _hints())):
        return False
    encoded = deobfuscate.may_hold_encoded(text)
    return not (encoded or _TWO_DOTS.search(text) or patterns.has_provider_key(text))


@cache
def _hints() -> tuple[str, ...]:
    return (*label_hints(), *FORM_HINTS, *SENTENCE_HINTS)


def scan_for_secret(text: str) -> SecretMatch | None:
    """Like `find_secret`, without the quick check."""
    # Each rule sees every view of the text (plain, unescaped, spelled-out words closed up): a
    # secret may be whole in one view only. So does what is encoded in it. Last comes the text with
    # line breaks removed that may lie inside of a key, as in mails; there only the rules apply that
    # prose can't trigger.
    views = deobfuscate.readable_forms(text)
    lookalike = () if text.isascii() else (to_latin(views[-1]),)
    encoded = map(deobfuscate.to_plain_text, deobfuscate.encoded_texts(text))
    readable = tuple(dict.fromkeys((*views, *lookalike, *encoded)))
    for family, rule in _RULES.items():
        if any(map(rule, readable)):
            return SecretMatch(family)
    whole = deobfuscate.join_base64_lines(views[-1])
    return _find_broken_secret(whole) if whole != views[-1] else None


def find_secret_in_id(identifier: str) -> SecretMatch | None:
    """A secret in an id that a caller chose, by its own form alone: an id is no sentence."""
    plain = deobfuscate.to_plain_text(identifier)
    if patterns.has_provider_key(plain):
        return SecretMatch(SecretFamily.PROVIDER_KEY)
    return SecretMatch(SecretFamily.JWT) if patterns.has_jwt(plain) else None


def find_answered_secret(question: str, answer: str) -> SecretMatch | None:
    """A secret in a message that answers the message before it, which asked for one."""
    if is_harmless(question[-_QUESTION_CHARS_MAX:]):
        return None
    request = deobfuscate.to_plain_text(question[-_QUESTION_CHARS_MAX:]).rstrip()
    reply = deobfuscate.to_plain_text(answer[:_QUESTION_CHARS_MAX]).lstrip()
    return SecretMatch(SecretFamily.LABELLED) if has_answer(f"{request}\n{reply}") else None


def find_secret_in(value: Any, field: str) -> SecretLocation | None:
    """The first secret in a JSON value, in document order: in strings, field names and values.

    The path shows a field's name only if it is an identifier, otherwise `*`: a name may be the
    secret itself. A secret in a name is reported at the object around it.
    """
    return next(_iter_secrets(value, field), None)


def _find_broken_secret(whole: str) -> SecretMatch | None:
    for family in (SecretFamily.PROVIDER_KEY, SecretFamily.JWT):
        if _RULES[family](whole):
            return SecretMatch(family)
    if patterns.has_auth_header(whole, broken=True):
        return SecretMatch(SecretFamily.AUTH_HEADER)
    return None


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
_RULES: dict[SecretFamily, Callable[[str], bool]] = {
    SecretFamily.PROVIDER_KEY: patterns.has_provider_key,
    SecretFamily.JWT: patterns.has_jwt,
    SecretFamily.PRIVATE_KEY: patterns.has_private_key,
    SecretFamily.URL_CREDENTIALS: patterns.has_url_credentials,
    SecretFamily.AUTH_HEADER: patterns.has_auth_header,
    SecretFamily.LABELLED: lambda view: has_labelled_secret(view) or has_spoken_secret(view),
}


# Printable ASCII without `%` and backslash: there is nothing to decode.
_PLAIN_LINE = re.compile(r"[ -$&-\[\]-~]*")
_DISGUISE = re.compile(r"&#|[A-Za-z](?:\*|`|~~|<)|\w[.*_|~+-]\w[.*_|~+-]\w")
_SPELLED_OUT = re.compile(r"(?:^| )\S \S \S(?: |$)")
# The two dots of a JWT.
_TWO_DOTS = re.compile(r"[\w-]\.[\w-]+\.[\w-]")
