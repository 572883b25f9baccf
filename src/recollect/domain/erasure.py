"""Erasing somebody: by what they are known, what is linked to them, and the report.

How they are taken out of a text is in `traces.py`. A report names nobody.
"""

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any

from recollect.domain import jsontext
from recollect.domain.clock import to_text
from recollect.domain.ids import parse_uuid
from recollect.domain.traces import is_address

VERIFY_FOR = timedelta(days=30)
IDENTIFIERS_MAX = 100
# A shorter one is in any large file by chance.
BYTES_MIN = 5

# What no server can reach.
NOT_COVERED = (
    "copies_of_callers",
    "logs_of_the_process",
    "memory_of_running_processes",
    "backups_made_by_others",
    "backup_folders_of_other_servers",
)
_AGAIN = timedelta(minutes=1)
_AGAIN_MAX = timedelta(hours=1)


class ErasureStatus(StrEnum):
    """How far it is. `incomplete`: something was still found, and the job goes on."""

    PLANNED = "planned"
    RUNNING = "running"
    INCOMPLETE = "incomplete"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Whom an erasure is about and what is linked to them. Names nobody once it is `settled`.

    `stand_in` is the random id that their ids become. `chats` and `trees` are those that stay,
    `gone_chats` and `gone_trees` those without another human. `memories` are statements of theirs
    that stay. `marks` are hashes of their ids.
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
        """All that their texts are searched for, each once."""
        return tuple(dict.fromkeys((*self.user_ids, *self.handles, *self.names)))

    @property
    def addresses(self) -> tuple[str, ...]:
        """E-mail addresses that a token has vouched for: it names the user by them."""
        return tuple(id_ for id_ in self.user_ids if is_address(id_))

    @property
    def everywhere(self) -> tuple[str, ...]:
        """What is surely theirs and goes wherever it is, linked or not."""
        return (*self.addresses, *self.person_ids)

    def grown(self, other: "Target") -> "Target":
        """With what has been linked to them since; what stayed then stays."""
        mine, theirs = self.to_json(), other.to_json()
        known = {id_ for name in _PLACES for id_ in mine[name]}
        fresh = {name: [id_ for id_ in theirs[name] if id_ not in known] for name in _PLACES}
        lists = {name: found for name, found in (theirs | fresh).items() if name != "stand_in"}
        joined = {name: list(dict.fromkeys((*mine[name], *lists[name]))) for name in lists}
        return Target.from_json(mine | joined)

    def settled(self) -> "Target":
        """What a later look needs: where to look, and nobody's name."""
        return Target(
            stand_in=self.stand_in,
            chats=self.chats,
            trees=self.trees,
            memories=self.memories,
            agents=self.agents,
            marks=self.marks,
        )

    def renamed(self, identifiers: Iterable[str], erasure_id: str) -> "Target":
        """The same with the names that a caller brings; an id is known again by its hash.

        Ids of people are ours and looked for inside of texts; a user's id may be a short word, and
        counts only where it is all of a value.
        """
        brought = tuple(dict.fromkeys(identifiers))
        ids = tuple(one for one in brought if mark(erasure_id, one) in self.marks)
        return Target(
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
        """As it is stored."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Target":
        """The inverse of `to_json`."""
        lists = {name: tuple(value) for name, value in stored.items() if name != "stand_in"}
        return cls(stand_in=stored["stand_in"], **lists)


_PLACES = ("chats", "trees", "gone_chats", "gone_trees")


def pause_after(rounds: int) -> timedelta:
    """How long the job waits after so many rounds that found something."""
    doubled: int = 2 ** min(rounds - 1, 10)
    return min(_AGAIN * doubled, _AGAIN_MAX)


def exchanged(value: Any, ids: Mapping[str, str]) -> Any:
    """A JSON value in which each string that is one of these ids is another one. Member names are
    ours: no log has ids for names."""
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, Mapping):
        return {name: exchanged(member, ids) for name, member in value.items()}
    return [exchanged(item, ids) for item in value] if isinstance(value, list) else value


def mark(secret: str, text: str) -> str:
    """A hash that knows a text again, and tells nothing of it without the secret."""
    return hmac.new(secret.encode(), text.encode(), sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class Check:
    """How often one store was asked, and how much was found that should be gone."""

    store: str
    probes: int
    found: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an erasure did, or would do."""

    id: str
    status: ErasureStatus
    dry_run: bool
    requested_by_role: str
    started_at: datetime
    finished_at: datetime | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    joint: int = 0
    checks: Sequence[Check] = ()
    not_covered: Sequence[str] = NOT_COVERED

    def members(self) -> dict[str, Any]:
        """As it is shown, but for digest and signature."""
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
    """SHA-256 of the canonical JSON: members in order of their names, no blanks."""
    return sha256(_canonical(members)).hexdigest()


def signature(members: Mapping[str, Any], key: str | None) -> str | None:
    """HMAC-SHA-256 of the same bytes; None without a key."""
    if key is None:
        return None
    return hmac.new(key.encode(), _canonical(members), sha256).hexdigest()


def _canonical(members: Mapping[str, Any]) -> bytes:
    return jsontext.dump(_ordered(members)).encode()


def _ordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _ordered(value[name]) for name in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value
