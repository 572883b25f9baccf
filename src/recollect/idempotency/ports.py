"""Storage of idempotency keys: the claim of a key, and the answer recorded under it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.db.transaction import Tx
from recollect.identity.store import IdentityStores
from recollect.kernel.owner import Owner

# A key of the conversation API is stored behind its operation and client. The separator is no part
# of a key, since a key is printable.
KEY_SEPARATOR = "\x1f"
# The calls whose answers quote the titles and previews of a conversation.
QUOTING_KEYS = (f"forkConversation{KEY_SEPARATOR}", f"createOwnershipTransfer{KEY_SEPARATOR}")


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """A request that claimed an idempotency key.

    Without a `status` the request is still running, or its server died. `body` is the recorded
    answer; None once something it mentions was deleted. `mentions` are the ids in the answer. An
    `unreadable` claim has neither answer nor reserved id: it can't be decrypted.
    `reserved_id` becomes the id of what the request creates. A second attempt uses the same id, so
    it finds what the first one created and creates nothing twice.
    """

    who: Owner
    key: str
    fingerprint: str
    claimed_at: datetime
    reserved_id: str
    status: int | None = None
    body: str | None = None
    mentions: frozenset[str] = frozenset()
    unreadable: bool = False


class IdempotencyStore(Protocol):
    """One row for each requester and key."""

    def insert(self, tx: Tx, claim: IdempotencyClaim) -> bool:
        """Insert the claim; False if the requester has one under this key already."""
        ...

    def fetch(self, tx: Tx, who: Owner, key: str) -> IdempotencyClaim | None:
        """The claim, its row locked until the transaction ends."""
        ...

    def update(self, tx: Tx, claim: IdempotencyClaim) -> None:
        """Overwrite everything but requester and key, and replace the mentions."""
        ...

    def renew(self, tx: Tx, claim: IdempotencyClaim, at: datetime) -> bool:
        """Set the time of a claim without an answer; False if another attempt has taken it over."""
        ...

    def release_open(self, tx: Tx, at: datetime) -> None:
        """Set the time of all later claims without an answer to this one."""
        ...

    def delete(self, tx: Tx, claim: IdempotencyClaim) -> None:
        """Delete the claim, unless another request has claimed the key since (`claimed_at`)."""
        ...

    def delete_before(self, tx: Tx, cutoff: datetime, *, limit: int) -> int:
        """Delete up to `limit` claims older than `cutoff`; returns how many."""
        ...

    def blank_answers(self, tx: Tx, mentioned_ids: Sequence[str]) -> None:
        """Remove the recorded answers that mention one of these ids."""
        ...

    def blank_quoting_answers(self, tx: Tx, conversation_ids: Sequence[str]) -> None:
        """Remove the recorded answers that quote titles or previews of these conversations: those
        of forks and of transfers."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyStores(IdentityStores):
    """The stores of this package and of those below."""

    idempotency: IdempotencyStore
