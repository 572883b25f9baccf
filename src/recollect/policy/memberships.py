"""Who may change whose membership: the contract's table as one pure function."""

from enum import Enum

from recollect.domain.memberships import Level


class Ruling(Enum):
    """What a membership change meets."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    OWNER_NOT_GRANTED = "owner is not granted, it is transferred"
    OWNER_STAYS = "the owner can't be changed or removed; transfer the ownership first"


def rule_on_change(
    actor: Level | None, *, present: Level | None, wanted: Level | None, own: bool = False
) -> Ruling:
    """May `actor` turn a membership from `present` into `wanted`? None means no membership.

    `own` marks the actor's own membership: giving it up is leaving, open to all but the owner.
    """
    if actor is None:
        return Ruling.FORBIDDEN
    if own and wanted is None:
        return Ruling.OWNER_STAYS if actor is Level.OWNER else Ruling.ALLOWED
    if actor < Level.MANAGER:
        return Ruling.FORBIDDEN
    if wanted is Level.OWNER:
        return Ruling.OWNER_NOT_GRANTED
    if present is Level.OWNER:
        return Ruling.OWNER_STAYS if actor is Level.OWNER else Ruling.FORBIDDEN
    owner_alone = Level.MANAGER in (present, wanted)
    return Ruling.FORBIDDEN if owner_alone and actor is not Level.OWNER else Ruling.ALLOWED
