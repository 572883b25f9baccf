"""What services ask of storage about requests that may be sent again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.domain.agents import Owner
from recollect.ports.database import Tx


@dataclass(frozen=True, slots=True)
class Claim:
    """A request under a key. Without a `status` it runs, or was cut off; `body` is the answer's, or
    None once something that it told of was deleted. `mentions` are the ids in it.

    `reserved_id` is the id that a thing gets which the request makes: a second try after a cut
    makes the same thing.
    """

    who: Owner
    key: str
    fingerprint: str
    claimed_at: datetime
    reserved_id: str
    status: int | None = None
    body: str | None = None
    mentions: frozenset[str] = frozenset()


class IdempotencyStore(Protocol):
    """One row for a requester and a key."""

    def insert(self, tx: Tx, claim: Claim) -> bool:
        """False if there is one already."""
        ...

    def fetch(self, tx: Tx, who: Owner, key: str) -> Claim | None:
        """The claim, held until the transaction ends."""
        ...

    def update(self, tx: Tx, claim: Claim) -> None:
        """All but whose it is."""
        ...

    def delete(self, tx: Tx, claim: Claim) -> None:
        """Give the key back, unless somebody else has claimed it since."""
        ...

    def delete_before(self, tx: Tx, cutoff: datetime, *, limit: int) -> int:
        """Remove a batch of claims that are too old to count; how many went."""
        ...
