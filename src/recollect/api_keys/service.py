"""Issues, lists and revokes API keys, and finds the client of one."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.api_keys.model import IssuedKey, KeyState, ListedKey, ShownKey, key_hash, make_key
from recollect.api_keys.store import IssuedKeyStores
from recollect.audit.event_recorder import AuditName, used_role
from recollect.audit.model import Event, EventKind
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.model import KeyHolder, Principal
from recollect.identity.user_ids import id_problem
from recollect.kernel.errors import Forbidden, InvalidInput, NotFound
from recollect.kernel.ids import ClientId
from recollect.kernel.pages import Page, decode_key, encode_key

_LIST = "api keys"


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to make. Without `expires_at` it lives until it is revoked."""

    client_id: str
    name: str | None = None
    expires_at: datetime | None = None


class IssuedKeyService:
    """A caller without a principal is the command line: whoever runs it controls the settings and
    the database anyway. `privileged` are clients that may act as any user, as an agent or in a
    role. An admin makes no keys of these, who could otherwise become anybody with one call."""

    def __init__(
        self, context: ServiceContext[IssuedKeyStores], *, privileged: Collection[str]
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._privileged = frozenset(privileged)

    async def create(
        self, caller: Principal | None, new: NewKey, *, justification: str | None = None
    ) -> ShownKey:
        """A new key. The event has its id and client, never the key."""
        client_id = self._check_client(caller, new.client_id)
        now = self._runtime.clock.now()
        if new.expires_at is not None and new.expires_at <= now:
            raise InvalidInput("`expiresAt` should lie in the future", field="expiresAt")
        made = make_key()
        stored = IssuedKey(
            id=self._runtime.ids.new(),
            client_id=client_id,
            name=new.name,
            created_at=now,
            created_by=caller.user_id if caller else None,
            expires_at=new.expires_at,
        )

        def work(tx: Tx) -> None:
            self._stores.issued_keys.insert(tx, stored, key_hash(made))
            self._record(tx, caller, "createApiKey", stored, justification)

        await self._database.write(work)
        return ShownKey(stored, made)

    async def list(
        self,
        caller: Principal | None,
        *,
        after: str | None,
        limit: int,
        justification: str | None = None,
    ) -> Page[ListedKey]:
        """All keys, the newest first, expired and revoked ones too."""
        key = decode_key(_LIST, after) if after else None

        def work(tx: Tx) -> list[IssuedKey]:
            if caller is not None:
                self._record(tx, caller, "listApiKeys", None, justification)
            return self._stores.issued_keys.page(tx, after=key, limit=limit + 1)

        found = await self._database.write(work)
        now = self._runtime.clock.now()
        page = [ListedKey(one, one.state(now)) for one in found[:limit]]
        if len(found) <= limit:
            return Page(page, None)
        last = page[-1].stored
        return Page(page, encode_key(_LIST, last.created_at, last.id))

    async def revoke(
        self, caller: Principal | None, key_id: str, *, justification: str | None = None
    ) -> None:
        """Revoke a key for good. A second call changes nothing. Raises NotFound."""

        def work(tx: Tx) -> None:
            at = self._runtime.clock.now()
            stored = self._stores.issued_keys.revoke(tx, key_id, at)
            if stored is None:
                raise NotFound("api_key", key_id)
            self._record(tx, caller, "revokeApiKey", stored, justification)

        await self._database.write(work)

    async def find_holder(self, key: str) -> KeyHolder | None:
        """Whose key it is; None for an unknown, expired or revoked one.

        Asked at each request and kept nowhere: a revoked key ends with the next request on every
        node.
        """
        digest = key_hash(key)
        stored = await self._database.read(lambda tx: self._stores.issued_keys.find(tx, digest))
        if stored is None or stored.state(self._runtime.clock.now()) is not KeyState.ACTIVE:
            return None
        return KeyHolder(stored.client_id, stored.expires_at)

    def _check_client(self, caller: Principal | None, client_id: str) -> ClientId:
        problem = id_problem(client_id)
        if problem:
            raise InvalidInput(f"`clientId` {problem}", field="clientId")
        if caller is not None and client_id in self._privileged:
            raise Forbidden(
                "the settings let this client act as others or in a role: "
                "make its keys with `recollect key create`"
            )
        return ClientId(client_id)

    def _record(
        self,
        tx: Tx,
        caller: Principal | None,
        action: str,
        stored: IssuedKey | None,
        justification: str | None,
    ) -> None:
        kind = EventKind.ADMIN_READ if stored is None else EventKind.ADMIN_WRITE
        name = AuditName(kind, action)
        event = Event(
            id=self._runtime.ids.new(),
            at=self._runtime.clock.now(),
            kind=name.kind,
            action=name.action,
            justification=justification,
            params={} if stored is None else {"apiKeyId": stored.id, "clientId": stored.client_id},
        )
        if caller is not None:
            event = replace(
                event,
                actor_user_id=caller.user_id,
                actor_client_id=caller.client_id,
                role=used_role(caller, kind),
            )
        self._stores.events.insert(tx, event)
