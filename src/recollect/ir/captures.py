"""Inputs, outputs and errors of agents, made into entries. A payload may be any Python object. It
is copied into bounded JSON, its secrets are masked, and it is cut to the size of an entry."""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import Enum
from itertools import islice
from typing import Any

from pydantic import BaseModel

from recollect.ir.entries import MemoryEntry, create_memory
from recollect.kernel import strict_json
from recollect.kernel.retention_rules import DEFAULT_TTL_SECONDS, MemoryScope
from recollect.memories.model import VALUE_BYTES_MAX
from recollect.screening.secrets import REFUSED, find_secret, find_secret_in

STAGES = ("mag", "sag")
PAYLOAD_NAMES = {"input": "payload", "output": "result"}
DIRECTIONS = (*PAYLOAD_NAMES, "error")
CUT = "[cut]"

_DEPTH_MAX = 24
_ITEMS_MAX = 10_000
_TEXT_CHARS_MAX = 60_000
_NUMBER_BITS_MAX = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedPayload:
    """A captured payload, copied as JSON, not screened yet."""

    stage: str
    direction: str
    value: dict[str, Any]
    run_id: str
    agent_slug: str
    task_id: str | None = None

    @classmethod
    def copy_from(
        cls, stage: str, direction: str, payload: object, **ids: Any
    ) -> "CapturedPayload":
        """Copy a payload. The agent may go on changing the original. ValueError for an unknown
        stage or direction."""
        if stage not in STAGES or direction not in DIRECTIONS:
            raise ValueError(f"the stage is one of {STAGES}, the direction one of {DIRECTIONS}")
        value = (
            _error_fields(payload) if direction == "error" else {PAYLOAD_NAMES[direction]: payload}
        )
        return cls(stage=stage, direction=direction, value=copy_as_json(value), **ids)

    def to_entry(self) -> MemoryEntry:
        """A session entry, with secrets masked and cut to the size of an entry. Masking comes
        first: a cut could leave a part of a secret that is no longer recognised as one."""
        task = {} if self.task_id is None else {"task_id": self.task_id}
        return create_memory(
            scope=MemoryScope.SESSION,
            agent_slug=self.agent_slug,
            run_id=self.run_id,
            key=self.direction,
            value=shorten_to_fit(mask_secrets(self.value)) | task,
            ttl_seconds=DEFAULT_TTL_SECONDS[MemoryScope.SESSION],
            tags=[self.stage, self.direction],
            metadata={"stage": self.stage, "direction": self.direction} | task,
        )


def copy_as_json(value: object) -> Any:
    """A copy of the value as JSON. Objects without a JSON form become their `str`; what is too deep
    or too much is cut."""
    return _BoundedCopier().copy_value(value, 0)


def mask_secrets(value: Any, name: str = "") -> Any:
    """The JSON value with a mark in place of each text, number or field name that is a secret.
    `name` is that of the field: under `password` any value is a secret."""
    if isinstance(value, dict):
        return {
            REFUSED if find_secret(member) else member: mask_secrets(inner, member)
            for member, inner in value.items()
        }
    if isinstance(value, list):
        return [mask_secrets(item, name) for item in value]
    return REFUSED if find_secret_in({name: value}, "value") else value


def shorten_to_fit(value: dict[str, Any]) -> dict[str, Any]:
    """The value, with its texts cut shorter and shorter until it is small enough to be stored. If
    texts of length 0 don't suffice, every field becomes the mark of a cut."""
    # 1 KiB is left for `task_id`, which is added afterwards.
    chars_max = _TEXT_CHARS_MAX
    while len(strict_json.dump(value).encode()) > VALUE_BYTES_MAX - 1_024:
        if chars_max == 0:
            return dict.fromkeys(value, CUT)
        chars_max //= 4
        value = _shorten_texts(value, chars_max)
    return value


def _shorten_texts(value: Any, chars_max: int) -> Any:
    if isinstance(value, dict):
        return {name: _shorten_texts(inner, chars_max) for name, inner in value.items()}
    if isinstance(value, list):
        return [_shorten_texts(item, chars_max) for item in value]
    long = isinstance(value, str) and len(value) > chars_max + len(CUT)
    return value[:chars_max] + CUT if long else value


def _error_fields(payload: object) -> dict[str, str]:
    return {"type": type(payload).__qualname__, "message": str(payload)}


class _BoundedCopier:
    """Copies with a budget of items, depth and characters.

    The agent waits for the copy, so its time must be bounded whatever the payload is. A count of
    items ends the copy of an object that contains itself many times, where a limit on depth alone
    would still allow exponential growth.
    """

    def __init__(self) -> None:
        self._items = 0
        self._chars = 0

    def copy_value(self, value: object, depth: int) -> Any:
        self._items += 1
        if isinstance(value, Enum):
            value = value.value
        if value is None or isinstance(value, int | float):
            return _copy_number(value)
        if isinstance(value, str):
            return self._copy_text(value)
        return self._copy_container(value, depth)

    def _copy_container(self, value: object, depth: int) -> Any:
        if self._items > _ITEMS_MAX or depth > _DEPTH_MAX:
            return CUT
        members = _named_fields(value)
        if members is not None:
            return {
                self._copy_text(_to_text(name)): self.copy_value(inner, depth + 1)
                for name, inner in self._take_items(members)
            }
        if isinstance(value, list | tuple | set | frozenset):
            return [self.copy_value(item, depth + 1) for item in self._take_items(value)]
        return self._copy_text(_to_text(value))

    def _copy_text(self, text: str) -> str:
        """The text, or enough of a long one that `shorten_to_fit` certainly cuts it again.

        This cut comes before secrets are masked, so it may split a secret, whose first half is then
        not recognised. A text that is cut here therefore keeps VALUE_BYTES_MAX characters, more
        than an entry can hold: the split end never reaches the store. If the budget has no room for
        that much, the whole text is dropped.
        """
        room = 2 * VALUE_BYTES_MAX - self._chars
        if len(text) > room:
            text = text[:VALUE_BYTES_MAX] if room >= VALUE_BYTES_MAX else CUT
        self._chars += len(text)
        return strict_json.drop_unstorable(text)

    def _take_items(self, items: Any) -> Iterator[Any]:
        for item in items:
            if self._items > _ITEMS_MAX:
                return
            yield item


def _named_fields(value: object) -> Any:
    """Names and values of a mapping, pydantic model or dataclass; None for anything else."""
    if isinstance(value, Mapping):
        return list(islice(value.items(), _ITEMS_MAX))
    if isinstance(value, BaseModel):
        return [(name, getattr(value, name)) for name in type(value).model_fields]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    return None


def _copy_number(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    # Python refuses to print very long integers, and the time for it grows by the square.
    if isinstance(value, int) and value.bit_length() > _NUMBER_BITS_MAX:
        return CUT
    return value


def _to_text(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return f"[{len(value)} bytes]"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)
