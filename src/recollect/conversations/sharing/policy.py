"""Decides who may change whose membership, as a pure function."""

from enum import Enum

from recollect.kernel.access_level import Level


class MembershipRuling(Enum):
    """The decision on a membership change. Values of refusals are error messages."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    OWNER_NOT_GRANTED = "owner is not granted, it is transferred"
    OWNER_STAYS = "the owner can't be changed or removed; transfer the ownership first"


def decide_membership_change(
    actor: Level | None, *, present: Level | None, wanted: Level | None, own: bool = False
) -> MembershipRuling:
    """May `actor` change a membership from level `present` to `wanted`? None is no membership.

    `own` means that it is the actor's own membership. Everybody but the owner may leave. Managers
    and the owner may change others, but only the owner may add, change or remove managers.
    Ownership changes by a transfer only.
    """
    if actor is None:
        return MembershipRuling.FORBIDDEN
    if own and wanted is None:
        return MembershipRuling.OWNER_STAYS if actor is Level.OWNER else MembershipRuling.ALLOWED
    if actor < Level.MANAGER:
        return MembershipRuling.FORBIDDEN
    if wanted is Level.OWNER:
        return MembershipRuling.OWNER_NOT_GRANTED
    # The owner's membership changes by a transfer only. The owner learns that; to a manager the
    # change is just forbidden.
    if present is Level.OWNER:
        return MembershipRuling.OWNER_STAYS if actor is Level.OWNER else MembershipRuling.FORBIDDEN
    owner_alone = Level.MANAGER in (present, wanted)
    return (
        MembershipRuling.FORBIDDEN
        if owner_alone and actor is not Level.OWNER
        else MembershipRuling.ALLOWED
    )
