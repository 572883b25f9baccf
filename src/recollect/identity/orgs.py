"""Finds the orgs of a user."""

from collections.abc import Collection, Mapping

from recollect.kernel.ids import OrgId
from recollect.kernel.space import DEFAULT_ORG


class OrgMemberships:
    """Orgs come from the token and from the settings. A user with neither belongs to the default
    org, and so does everybody in local mode."""

    def __init__(self, members: Mapping[str, Collection[str]], *, local: bool) -> None:
        self._local = local
        self._of_user: dict[str, set[OrgId]] = {}
        for org_id, users in members.items():
            for user_id in users:
                self._of_user.setdefault(user_id, set()).add(OrgId(org_id))

    def find_orgs(self, user_id: str, claimed: Collection[str] = ()) -> frozenset[OrgId]:
        """All orgs of the user, at least one. `claimed` are those of the token."""
        if self._local:
            return frozenset({DEFAULT_ORG})
        orgs = self._of_user.get(user_id, set()) | {OrgId(org) for org in claimed}
        return frozenset(orgs or {DEFAULT_ORG})
