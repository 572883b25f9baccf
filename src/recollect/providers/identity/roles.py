"""Which roles a caller holds: by a role in the token, a list of users, a list of clients."""

from collections.abc import Collection, Mapping

from recollect.domain.ids import ClientId, UserId
from recollect.policy.principals import Role
from recollect.providers.identity.settings import IdentitySettings

_NO_ROLES: frozenset[Role] = frozenset()
_OWN_NAMES = {role: frozenset({role.value}) for role in Role}


class RoleGrants:
    """Nobody holds a role that isn't granted here.

    A role in a token counts only where the settings map it. The exception is `local` mode without
    any such mapping: a token made with the local key is believed for the role names themselves,
    since who can make one already owns the database.
    """

    def __init__(self, settings: IdentitySettings) -> None:
        """Raises ValueError for an unknown role name."""
        self._users = _by_role(settings.role_users)
        self._clients = _by_role(settings.role_clients)
        self._tokens = _by_role(settings.role_tokens)
        if settings.mode == "local" and not self._tokens:
            self._tokens = _OWN_NAMES

    def of(
        self, user_id: UserId, client_id: ClientId | None, token_roles: frozenset[str]
    ) -> frozenset[Role]:
        """The roles of a caller whose token names `token_roles`."""
        held = {role for role, users in self._users.items() if user_id in users}
        held.update(role for role, clients in self._clients.items() if client_id in clients)
        if token_roles:
            held.update(role for role, names in self._tokens.items() if names & token_roles)
        return frozenset(held) if held else _NO_ROLES


def _by_role(grants: Mapping[str, Collection[str]]) -> dict[Role, frozenset[str]]:
    return {_role(name): frozenset(holders) for name, holders in grants.items() if holders}


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        known = ", ".join(role.value for role in Role)
        raise ValueError(f"there is no role {name!r}; the roles are {known}") from None
