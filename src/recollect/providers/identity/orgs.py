"""Which orgs a user belongs to."""

from collections.abc import Collection, Mapping

from recollect.domain.spaces import DEFAULT_ORG, OrgId


class Orgs:
    """By the token and by the settings; a user with neither, and everybody in local mode, belongs
    to the default org."""

    def __init__(self, members: Mapping[str, Collection[str]], *, local: bool) -> None:
        self._local = local
        self._of_user: dict[str, set[OrgId]] = {}
        for org_id, users in members.items():
            for user_id in users:
                self._of_user.setdefault(user_id, set()).add(OrgId(org_id))

    def of(self, user_id: str, claimed: Collection[str] = ()) -> frozenset[OrgId]:
        """All of them, never none."""
        if self._local:
            return frozenset({DEFAULT_ORG})
        orgs = self._of_user.get(user_id, set()) | {OrgId(org) for org in claimed}
        return frozenset(orgs or {DEFAULT_ORG})
