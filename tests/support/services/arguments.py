"""What a call of the behaviour suite asks of a service: REST-shaped ids, queries and bodies read by
hand into values of the domain. Nothing of the way in which the server reads them takes part."""

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from recollect.audit.model import JUSTIFICATION_CHARS_MAX
from recollect.conversations.model import TITLE_CHARS_MAX
from recollect.http.operation import Envelope, Operation
from recollect.http.pages import render_list
from recollect.http.services import Services
from recollect.identity.model import Principal
from recollect.kernel import strict_json
from recollect.kernel.access_level import Level
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.ids import (
    USER_ID_CHARS_MAX,
    ConversationId,
    EntryId,
    TransferId,
    UserId,
    parse_uuid,
)
from recollect.kernel.pages import LIMIT_MAX
from recollect.kernel.validation import METADATA_BYTES_MAX

CURSOR_CHARS_MAX = 1_000_000

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")


class Inexpressible(Exception):
    """No argument of a service can hold what was sent: to refuse it is an adapter's business."""


@dataclass(frozen=True, slots=True)
class SentFields:
    """What was sent under names; null is absent. Each reader takes what the contract allows there,
    spelled properly, and nothing else."""

    sent: Mapping[str, Any]

    def text(self, name: str, most: int, *, least: int = 1) -> str | None:
        """A text of so many characters."""
        value = self._of(name, str)
        if value is not None and not least <= len(value) <= most:
            raise Inexpressible
        return None if value is None else storable(value)

    def title(self) -> str | None:
        """A title: one line."""
        title = self.text("title", TITLE_CHARS_MAX, least=0)
        if any(unicodedata.category(char) == "Cc" for char in title or ""):
            raise Inexpressible
        return title

    def user(self, name: str) -> UserId | None:
        """A user."""
        text = self.text(name, USER_ID_CHARS_MAX)
        return None if text is None else UserId(text)

    def uuid(self, name: str) -> str | None:
        """An id."""
        text = self._of(name, str)
        return None if text is None else canonical(text)

    def word(self, name: str, kind: type[E]) -> E | None:
        """A word of a list."""
        text = self._of(name, str)
        if text is not None and text not in [*kind]:
            raise Inexpressible
        return None if text is None else kind(text)

    def level(self) -> Level:
        """The access level, which is always needed."""
        word = needed(self._of("accessLevel", str))
        if word not in [level.word for level in Level]:
            raise Inexpressible
        return Level.from_word(word)

    def flag(self, name: str, default: bool) -> bool:
        """Yes or no."""
        value = self._of(name, bool)
        return default if value is None else value

    def limit(self, default: T) -> int | T:
        """How many items a page has."""
        value = self._of("limit", int)
        if value is not None and not 1 <= value <= LIMIT_MAX:
            raise Inexpressible
        return default if value is None else value

    def instant(self, name: str) -> datetime | None:
        """A time with its offset."""
        text = self._of(name, str)
        try:
            at = None if text is None else datetime.fromisoformat(text)
        except ValueError:
            raise Inexpressible from None
        if at is not None and at.tzinfo is None:
            raise Inexpressible
        return at

    def metadata(self) -> dict[str, Any]:
        """The metadata of a conversation; none are an empty object."""
        value: dict[str, Any] = self._of("metadata", dict) or {}
        if len(strict_json.dump(value).encode()) > METADATA_BYTES_MAX:
            raise Inexpressible
        return value

    def items(self, name: str, most: int) -> list[Any]:
        """A list, which is always needed."""
        value: list[Any] = needed(self._of(name, list))
        if len(value) > most:
            raise Inexpressible
        return value

    def _of(self, name: str, kind: type[T]) -> T | None:
        value = self.sent.get(name)
        if value is None:
            return None
        # To Python a boolean is a number.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise Inexpressible
        return value


@dataclass(frozen=True, slots=True)
class CallArguments:
    """One call: whom it asks, who asks, and what was sent."""

    operation: Operation
    services: Services
    principal: Principal
    ids: Mapping[str, str]
    query: SentFields
    listed: Sequence[Any]
    body: SentFields

    @property
    def conversation_id(self) -> ConversationId:
        """The conversation that is named."""
        return ConversationId(canonical(self.ids["id"]))

    @property
    def entry_id(self) -> EntryId:
        """The entry that is named."""
        return EntryId(canonical(self.ids["entryId"]))

    @property
    def transfer_id(self) -> TransferId:
        """The transfer that is named."""
        return TransferId(canonical(self.ids["transferId"]))

    @property
    def member(self) -> UserId:
        """The member who is named."""
        return needed(SentFields(self.ids).user("userId"))

    @property
    def justification(self) -> str | None:
        """The reason of an admin call, from either of its places."""
        places = (self.query, self.body)
        given = {place.text("justification", JUSTIFICATION_CHARS_MAX, least=0) for place in places}
        given -= {None, ""}
        if len(given) > 1:
            raise Inexpressible
        return next(iter(given), None)

    def page(self, default: int | None, cursor: str = "after") -> dict[str, Any]:
        """Which page of a list."""
        after = self.query.text(cursor, CURSOR_CHARS_MAX, least=0) or None
        return {cursor: after, "limit": self.query.limit(default)}

    def to_page(
        self, items: Iterable[str], next_cursor: str | None, *, degraded: Sequence[str] = ()
    ) -> bytes:
        """Items in the envelope of the list."""
        paging = self.operation.paging
        envelope = paging.envelope if paging else Envelope.A
        return render_list(items, next_cursor, envelope=envelope, echo=False, degraded=degraded)


def needed(value: T | None) -> T:
    """What must have been sent."""
    if value is None:
        raise Inexpressible
    return value


def canonical(text: str) -> str:
    """An id."""
    return needed(parse_uuid(text))


def storable(text: str) -> str:
    """A text that can be stored."""
    if strict_json.text_problem(text):
        raise Inexpressible
    return text


def as_value(body: Any) -> Any:
    """The body as a server would have it: a value of its own, not the test's objects."""
    try:
        return strict_json.parse(json.dumps(body).encode())
    except (ValidationFailed, RecursionError):
        raise Inexpressible from None
