"""Finds the server roles of a caller: by user, by client, or by a role in the token."""

from collections.abc import Collection, Mapping

from recollect.identity.model import ServerRole
from recollect.identity.settings import IdentitySettings
from recollect.kernel.ids import ClientId, UserId

_NO_ROLES: frozenset[ServerRole] = frozenset()
_ROLE_NAMES = {role: frozenset({role.value}) for role in ServerRole}


class RoleGrants:
    """The roles that the settings grant.

    A role in a token counts only if the settings map it. The exception is `local` mode without any
    such mapping: there the role names in a token are accepted as they are, because whoever can
    sign a token with the local key has access to the database anyway.
    """

    def __init__(self, settings: IdentitySettings) -> None:
        """Raises ValueError for an unknown role name."""
        self._users = _parse_grants(settings.role_users)
        self._clients = _parse_grants(settings.role_clients)
        self._tokens = _parse_grants(settings.role_tokens)
        if settings.mode == "local" and not self._tokens:
            self._tokens = _ROLE_NAMES

    def find_roles(
        self, user_id: UserId, client_id: ClientId | None, token_roles: frozenset[str]
    ) -> frozenset[ServerRole]:
        """The roles of a caller whose token names `token_roles`."""
        roles = {role for role, users in self._users.items() if user_id in users}
        roles.update(role for role, clients in self._clients.items() if client_id in clients)
        if token_roles:
            roles.update(role for role, names in self._tokens.items() if names & token_roles)
        return frozenset(roles) if roles else _NO_ROLES


def _parse_grants(grants: Mapping[str, Collection[str]]) -> dict[ServerRole, frozenset[str]]:
    return {_parse_role(name): frozenset(holders) for name, holders in grants.items() if holders}


def _parse_role(name: str) -> ServerRole:
    try:
        return ServerRole(name)
    except ValueError:
        known = ", ".join(role.value for role in ServerRole)
        raise ValueError(f"there is no role {name!r}; the roles are {known}") from None
