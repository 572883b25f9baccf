"""Maps the API keys of the settings to clients."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from recollect.identity.user_ids import id_problem
from recollect.kernel.ids import ClientId


class ApiKeys:
    """Looks keys up by SHA-256 digest, so the time of a look-up reveals nothing about keys."""

    def __init__(self, keys: Mapping[str, Sequence[str]]) -> None:
        """Raises ValueError for a key given twice, an unusable key or a bad client id."""
        self._clients: dict[bytes, ClientId] = {}
        for client_id, own_keys in keys.items():
            problem = id_problem(client_id)
            if problem:
                raise ValueError(f"client id {client_id!r} {problem}")
            for key in own_keys:
                self._add(ClientId(client_id), key)

    def find_client(self, key: str) -> ClientId | None:
        """The key's client; None for an unknown one."""
        return self._clients.get(_digest(key))

    def _add(self, client_id: ClientId, key: str) -> None:
        # HTTP strips white space around header values, so such a key could never be sent.
        if not key or key != key.strip():
            raise ValueError(f"client {client_id!r} has an API key that is empty or not stripped")
        digest = _digest(key)
        if digest in self._clients:
            holder = self._clients[digest]
            raise ValueError(f"one API key is given twice: to {holder!r} and to {client_id!r}")
        self._clients[digest] = client_id


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogatepass")).digest()
