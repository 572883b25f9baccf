"""Erasure of a person: the target with its identifiers and linked rows, and the report.

`IdentifierMatcher` finds identifiers in texts. A report contains no name and no id of the person.
"""

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any

from recollect.erasure.identifier_matcher import is_email_address
from recollect.kernel import strict_json
from recollect.kernel.clock import to_text
from recollect.kernel.ids import parse_uuid

VERIFY_WINDOW = timedelta(days=30)
IDENTIFIERS_MAX = 100
# A search for fewer bytes would match in any large file by chance.
BYTE_SEARCH_MIN = 5

# Places that a server can't search; listed in every report.
NOT_COVERED = (
    "copies_of_callers",
    "logs_of_the_process",
    "memory_of_running_processes",
    "backups_made_by_others",
    "backup_folders_of_other_servers",
)
_RETRY_DELAY = timedelta(minutes=1)
_RETRY_DELAY_MAX = timedelta(hours=1)


class ErasureStatus(StrEnum):
    """`incomplete`: verification found something, and the job will run again."""

    PLANNED = "planned"
    RUNNING = "running"
    INCOMPLETE = "incomplete"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureTarget:
    """The person to erase and what is linked to them; without identifiers after `anonymize`.

    `stand_in` is a random id that replaces their ids in rows that stay. `chats` and `trees` are
    shared with other humans and stay; `gone_chats` and `gone_trees` are not and are deleted.
    `memories` are their statements about others, which stay. `marks` are keyed hashes of their ids.
    """

    stand_in: str
    person_ids: tuple[str, ...] = ()
    user_ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    handles: tuple[str, ...] = ()
    chats: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()
    gone_chats: tuple[str, ...] = ()
    gone_trees: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()

    @property
    def identifiers(self) -> tuple[str, ...]:
        """What linked texts are searched for, without duplicates."""
        return tuple(dict.fromkeys((*self.user_ids, *self.handles, *self.names)))

    @property
    def email_addresses(self) -> tuple[str, ...]:
        """User ids that are e-mail addresses. Authentication vouches for a user id; an address
        among the handles is only a claim."""
        return tuple(id_ for id_ in self.user_ids if is_email_address(id_))

    @property
    def unambiguous_identifiers(self) -> tuple[str, ...]:
        """Identifiers that can belong to nobody else; redacted in all rows, linked or not."""
        return (*self.email_addresses, *self.person_ids)

    def merge(self, other: "ErasureTarget") -> "ErasureTarget":
        """The union of both. A chat or tree that `self` has stays in the list that it is in.

        If the other members leave a shared tree while the job runs, `other` lists it as private. It
        must not be deleted: it was shared when the erasure was requested.
        """
        own, later = self.to_json(), other.to_json()
        known = {id_ for name in _CONVERSATION_FIELDS for id_ in own[name]}
        fresh = {
            name: [id_ for id_ in later[name] if id_ not in known] for name in _CONVERSATION_FIELDS
        }
        lists = {name: found for name, found in (later | fresh).items() if name != "stand_in"}
        joined = {name: list(dict.fromkeys((*own[name], *lists[name]))) for name in lists}
        return ErasureTarget.from_json(own | joined)

    def anonymize(self) -> "ErasureTarget":
        """Only what `verify` needs later: where to search, and hashes of ids."""
        return ErasureTarget(
            stand_in=self.stand_in,
            chats=self.chats,
            trees=self.trees,
            memories=self.memories,
            agents=self.agents,
            marks=self.marks,
        )

    def with_identifiers(self, identifiers: Iterable[str], erasure_id: str) -> "ErasureTarget":
        """An anonymized target with identifiers from a caller; ids are recognized by their hash.

        Person ids are UUIDs and are searched inside texts. A user id may be a short word, so it
        counts as an id only where it is the whole value of a column.
        """
        brought = tuple(dict.fromkeys(identifiers))
        ids = tuple(one for one in brought if keyed_hash(erasure_id, one) in self.marks)
        return ErasureTarget(
            stand_in=self.stand_in,
            chats=self.chats,
            trees=self.trees,
            memories=self.memories,
            agents=self.agents,
            marks=self.marks,
            person_ids=tuple(one for one in ids if parse_uuid(one) is not None),
            user_ids=ids,
            names=brought,
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "ErasureTarget":
        lists = {name: tuple(value) for name, value in stored.items() if name != "stand_in"}
        return cls(stand_in=stored["stand_in"], **lists)


# Fields of a target in which an id of a chat or tree may be, in one of them only.
_CONVERSATION_FIELDS = ("chats", "trees", "gone_chats", "gone_trees")


def retry_delay(rounds: int) -> timedelta:
    """Delay before the next round: a minute, doubled after each round, an hour at most."""
    doubled: int = 2 ** min(rounds - 1, 10)
    return min(_RETRY_DELAY * doubled, _RETRY_DELAY_MAX)


def replace_ids(value: Any, ids: Mapping[str, str]) -> Any:
    """Replace every string of a JSON value that equals one of `ids`. Field names stay: no log
    uses ids as field names."""
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, Mapping):
        return {name: replace_ids(member, ids) for name, member in value.items()}
    return [replace_ids(item, ids) for item in value] if isinstance(value, list) else value


def keyed_hash(secret: str, text: str) -> str:
    """HMAC-SHA-256: recognizes a text, and reveals nothing about it without the secret."""
    return hmac.new(secret.encode(), text.encode(), sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class ErasureCheck:
    """How many searches were made in one store, and how many rows they found."""

    store: str
    probes: int
    found: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReport:
    """What an erasure did or, in a dry run, would do."""

    id: str
    status: ErasureStatus
    dry_run: bool
    requested_by_role: str
    started_at: datetime
    finished_at: datetime | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    joint: int = 0
    checks: Sequence[ErasureCheck] = ()
    not_covered: Sequence[str] = NOT_COVERED

    def to_json(self) -> dict[str, Any]:
        """All fields but digest and signature."""
        return {
            "id": self.id,
            "status": str(self.status),
            "dry_run": self.dry_run,
            "requested_by_role": self.requested_by_role,
            "started_at": to_text(self.started_at),
            "finished_at": None if self.finished_at is None else to_text(self.finished_at),
            "counts": dict(self.counts),
            "joint": self.joint,
            "checks": [asdict(check) for check in self.checks],
            "not_covered": list(self.not_covered),
        }


def digest(members: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON: fields sorted by name, no whitespace."""
    return sha256(_canonical_json(members)).hexdigest()


def signature(members: Mapping[str, Any], key: str | None) -> str | None:
    """HMAC-SHA-256 of the same bytes; None without a key."""
    if key is None:
        return None
    return hmac.new(key.encode(), _canonical_json(members), sha256).hexdigest()


def _canonical_json(members: Mapping[str, Any]) -> bytes:
    return strict_json.dump(_sort_keys(members)).encode()


def _sort_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _sort_keys(value[name]) for name in sorted(value)}
    return [_sort_keys(item) for item in value] if isinstance(value, list) else value
