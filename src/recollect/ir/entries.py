"""MemoryEntry: a record in the form in which agents' code handles it. Nothing here is stored.

Its fields follow the rules of the server. A broken rule is a ValueError that names the field and
never repeats its value.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    Strict,
    ValidationInfo,
    model_validator,
)

from recollect.app.context import load_retention_rules
from recollect.ir.arguments import parse_choice, parse_moment
from recollect.kernel.clock import SystemClock
from recollect.kernel.errors import RecollectError
from recollect.kernel.ids import Uuid7Ids
from recollect.kernel.owner import parse_agent_id
from recollect.kernel.retention_rules import (
    DEFAULT_TTL_SECONDS,
    MemoryScope,
    RetentionRules,
)
from recollect.kernel.validation import check_metadata, check_name, to_utc
from recollect.memories.commands import CreateMemory, PatchMemory
from recollect.memories.expiry import explicit_expiry
from recollect.memories.model import KEY_CHARS_MAX, Memory, StoredMemory, is_expired
from recollect.memories.validation import (
    check_id,
    check_record,
    check_run_id,
    clean_tags,
)
from recollect.screening.pii import normalise_tags
from recollect.settings.load import load

T = TypeVar("T")

_CLOCK = SystemClock()
_IDS = Uuid7Ids(_CLOCK)


@contextmanager
def value_errors() -> Iterator[None]:
    """Turn errors of the domain rules into ValueError, which pydantic expects of validators."""
    try:
        yield
    except RecollectError as error:
        raise ValueError(error.message) from None


def _validator(check: Callable[[T, str], object], *, replaces: bool = False) -> AfterValidator:
    """A pydantic validator from a domain check, which takes the value and the field's name. With
    `replaces` the result of the check becomes the value."""

    def validate(value: T, field: ValidationInfo) -> object:
        with value_errors():
            result = check(value, field.field_name or "")
        return result if replaces else value

    return AfterValidator(validate)


def _require_dict(value: object) -> object:
    # Otherwise pydantic would convert other mappings, and might keep half of what they hold.
    if not isinstance(value, dict):
        raise ValueError("must be a dict")
    return value


# Strict: bytes are not decoded.
Text = Annotated[str, Strict()]
Instant = Annotated[datetime, BeforeValidator(parse_moment), _validator(to_utc, replaces=True)]
Slug = Annotated[Text, _validator(parse_agent_id)]
Key = Annotated[Text, _validator(lambda key, name: check_name(key, name, chars_max=KEY_CHARS_MAX))]
Value = Annotated[
    dict[Text, Any],
    BeforeValidator(_require_dict),
    _validator(lambda value, _: check_record("key", value)),
]
Metadata = Annotated[
    dict[Text, Any],
    BeforeValidator(_require_dict),
    _validator(lambda metadata, _: check_metadata(metadata)),
]
Tags = Annotated[list[Text], _validator(lambda tags, _: list(clean_tags(tags)), replaces=True)]
PiiTags = Annotated[
    list[Text], _validator(lambda tags, _: list(normalise_tags(tags)), replaces=True)
]


class MemoryEntry(BaseModel):
    """One record. It is validated when it is built and at every assignment; a refused assignment
    changes nothing.

    `embedding` is never stored or returned. `unreadable` is set in what is read, if value or
    metadata could not be decrypted; they are empty then.
    """

    model_config = ConfigDict(
        extra="forbid", validate_assignment=True, validate_default=True, hide_input_in_errors=True
    )

    memory_id: Annotated[Text, _validator(check_id)] = Field(default_factory=_IDS.new)
    scope: MemoryScope
    agent_slug: Slug
    run_id: Text | None = None
    key: Key
    value: Value
    created_at: Instant = Field(default_factory=_CLOCK.now)
    updated_at: Instant = Field(default_factory=_CLOCK.now)
    expires_at: Instant | None = None
    pii_tags: PiiTags = []
    retention_policy: Text | None = None
    embedding: list[Annotated[FiniteFloat, Strict()]] | None = None
    tags: Tags = []
    metadata: Metadata = {}
    unreadable: Annotated[bool, Strict()] = False

    @model_validator(mode="wrap")
    @classmethod
    def _check_combination(cls, value: Any, handler: Any) -> "MemoryEntry":
        # On assignment pydantic passes the model itself and has set the new value before this
        # check of several fields fails; the old values are put back by hand.
        before = dict(value.__dict__) if isinstance(value, cls) else None
        entry: MemoryEntry = handler(value)
        try:
            with value_errors():
                check_run_id(entry.scope, entry.run_id)
                if entry.retention_policy is not None:
                    _retention_rules().require_policy(entry.retention_policy, entry.scope)
        except ValueError:
            if before is not None:
                entry.__dict__.update(before)
            raise
        return entry

    def is_expired(self, now: datetime | None = None) -> bool:
        """Whether `expires_at` is reached; that instant itself counts as expired."""
        if not (now is None or isinstance(now, datetime)):
            raise ValueError("now: must be a datetime")
        return is_expired(now or _CLOCK.now(), self.expires_at)

    def set_ttl(self, seconds: int) -> None:
        """Let the entry expire so many seconds from now."""
        now = _CLOCK.now()
        self.expires_at = _expiry_after(seconds, now)
        self.updated_at = now


def create_memory(  # noqa: PLR0913, PLR0917 - the signature that agents' code calls
    scope: MemoryScope,
    agent_slug: str,
    key: str,
    value: dict[str, Any],
    run_id: str | None = None,
    ttl_seconds: int | None = None,
    pii_tags: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    retention_policy: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> MemoryEntry:
    """Build and validate an entry. To store it call `AbstractMemoryStore.create_memory`."""
    now = _CLOCK.now()
    return MemoryEntry(
        scope=scope,
        agent_slug=agent_slug,
        run_id=run_id,
        key=key,
        value=value,
        created_at=now,
        updated_at=now,
        expires_at=None if ttl_seconds is None else _expiry_after(ttl_seconds, now),
        pii_tags=[] if pii_tags is None else pii_tags,
        retention_policy=retention_policy,
        tags=[] if tags is None else tags,
        metadata={} if metadata is None else metadata,
    )


def apply_default_ttl(scope: MemoryScope) -> int:
    """The default TTL of the scope, in seconds."""
    return DEFAULT_TTL_SECONDS[parse_choice(scope, MemoryScope, "scope")]


def to_entry(stored: StoredMemory) -> MemoryEntry:
    """The entry of a stored record. It is not validated again: rules may have changed since it was
    written, and it must stay readable."""
    memory = stored.memory
    return MemoryEntry.model_construct(
        memory_id=str(memory.id),
        scope=memory.space.scope,
        agent_slug=str(memory.agent_id),
        run_id=memory.run_id,
        key=memory.key or "",
        value=memory.value or {},
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        expires_at=memory.expires_at,
        pii_tags=list(memory.pii_tags),
        retention_policy=memory.retention_policy,
        embedding=None,
        tags=list(memory.tags),
        metadata=memory.metadata,
        unreadable=stored.unreadable,
    )


def create_command(entry: MemoryEntry) -> CreateMemory:
    """The command that stores an entry."""
    return CreateMemory(
        id=entry.memory_id,
        agent_id=entry.agent_slug,
        scope=entry.scope,
        run_id=entry.run_id,
        key=entry.key,
        value=entry.value,
        expires_at=entry.expires_at,
        pii_tags=entry.pii_tags,
        retention_policy=entry.retention_policy,
        tags=entry.tags,
        metadata=entry.metadata,
    )


def patch_command(entry: MemoryEntry, before: Memory) -> PatchMemory:
    """The command that stores a changed entry.

    Expiry, policy and PII tags are sent only if the caller changed them. Sent back unchanged, an
    expiry that was a default would become an explicit one, and one that was approved would need
    another approval.
    """
    changes: dict[str, Any] = {
        "value": entry.value,
        "tags": entry.tags,
        "metadata": entry.metadata,
    }
    if entry.expires_at != before.expires_at:
        changes["expires_at"] = entry.expires_at
    if entry.retention_policy != before.retention_policy:
        changes["retention_policy"] = entry.retention_policy
    if tuple(entry.pii_tags) != before.pii_tags:
        changes["pii_tags"] = entry.pii_tags
    return PatchMemory(**changes)


def _expiry_after(seconds: int, now: datetime) -> datetime | None:
    if isinstance(seconds, bool) or not isinstance(seconds, int):
        raise ValueError("ttl_seconds: must be a whole number of seconds")
    with value_errors():
        return explicit_expiry(seconds, None, counted_from=now)


@cache
def _retention_rules() -> RetentionRules:
    """The retention rules of the settings, as a store has them. Read once per process."""
    return load_retention_rules(load().settings)
