"""Finds secrets, which must never be stored: API keys, tokens, passwords, private keys.

Results name the family and the field, never a part of the text. The time is linear in the text.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from recollect.domain import disguises, secret_labels, secret_patterns
from recollect.domain.secret_hints import is_harmless
from recollect.domain.secret_labels import ends_in_label

# Replaces a secret that was removed; it does not count as a secret itself, whatever its label.
REFUSED = "[refused]"


class Family(StrEnum):
    """The rule by which a secret was found."""

    PROVIDER_KEY = "provider_key"
    JWT = "jwt"
    PRIVATE_KEY = "private_key"
    URL_CREDENTIALS = "url_credentials"
    AUTH_HEADER = "auth_header"
    LABELLED = "labelled"
    RECORD_MEMBER = "record_member"


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret in a text: only its family is known, not its position."""

    family: Family


@dataclass(frozen=True, slots=True)
class SecretFound:
    """A secret in a JSON value: its path, such as `value.db.password` or `tags[2]`."""

    field: str
    family: Family


def find_secret(text: str) -> Secret | None:
    """A secret in the text, of the first family in the order of `SecretFamily`; None without."""
    return None if is_harmless(text) else look_through(text)


def look_through(text: str) -> Secret | None:
    """Like `find_secret`, without the quick check."""
    # Each rule sees every view of the text (plain, unescaped, spelled-out words closed up): a
    # secret may be whole in one view only. Last comes the text with line breaks removed that may
    # lie inside of a key, as in mails; there only the rules apply that prose can't trigger.
    views = disguises.views(text)
    for family, rule in _RULES.items():
        if any(map(rule, views)):
            return Secret(family)
    whole = disguises.joined(views[-1])
    return _broken_secret(whole) if whole != views[-1] else None


def find_secret_in(value: Any, field: str) -> SecretFound | None:
    """The first secret in a JSON value, in document order: in strings, field names and values.

    The path shows a field's name only if it is an identifier, otherwise `*`: a name may be the
    secret itself. A secret in a name is reported at the object around it.
    """
    return next(_found(value, field), None)


def _broken_secret(whole: str) -> Secret | None:
    for family in (Family.PROVIDER_KEY, Family.JWT):
        if _RULES[family](whole):
            return Secret(family)
    if secret_patterns.has_auth_header(whole, broken=True):
        return Secret(Family.AUTH_HEADER)
    return None


@dataclass(frozen=True, slots=True)
class _Place:
    value: Any
    path: str
    name: str = ""
    """The name of the nearest field; items of a list have the list's name."""


def _found(value: Any, field: str) -> Iterator[SecretFound]:
    # A stack instead of recursion: not every caller limits the nesting. Children are pushed in
    # reverse, so that they are popped in document order.
    places = [_Place(value, field)]
    while places:
        place = places.pop()
        if isinstance(place.value, dict):
            yield from _in_names(place)
            places.extend(reversed(list(_members(place))))
        elif isinstance(place.value, list | tuple):
            places.extend(reversed(list(_items(place))))
        else:
            yield from _in_scalar(place)


def _in_names(place: _Place) -> Iterator[SecretFound]:
    for name in place.value:
        if secret := find_secret(name):
            yield SecretFound(place.path, secret.family)


def _members(place: _Place) -> Iterator[_Place]:
    for name, member in place.value.items():
        shown = name if name.isidentifier() and len(name) <= _NAME_CHARS_MAX else "*"
        yield _Place(member, f"{place.path}.{shown}", name)


def _items(place: _Place) -> Iterator[_Place]:
    for index, item in enumerate(place.value):
        yield _Place(item, f"{place.path}[{index}]", place.name)


def _in_scalar(place: _Place) -> Iterator[SecretFound]:
    if place.value == REFUSED:
        return
    if place.name and ends_in_label(disguises.plain(place.name)) and _is_worth_hiding(place.value):
        yield SecretFound(place.path, Family.RECORD_MEMBER)
    elif isinstance(place.value, str):
        # Together with its name: a field `authorization` is a header too.
        text = f"{place.name}: {place.value}" if place.name else place.value
        if secret := find_secret(text):
            yield SecretFound(place.path, secret.family)


def _is_worth_hiding(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= 1000


_NAME_CHARS_MAX = 64
_RULES: dict[Family, Callable[[str], bool]] = {
    Family.PROVIDER_KEY: secret_patterns.has_provider_key,
    Family.JWT: secret_patterns.has_jwt,
    Family.PRIVATE_KEY: secret_patterns.has_private_key,
    Family.URL_CREDENTIALS: secret_patterns.has_url_credentials,
    Family.AUTH_HEADER: secret_patterns.has_auth_header,
    Family.LABELLED: secret_labels.has_labelled,
}
