"""Decides who may change whose membership, as a pure function."""

from enum import Enum

from recollect.domain.memberships import Level


class Ruling(Enum):
    """The decision on a membership change. Values of refusals are error messages."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    OWNER_NOT_GRANTED = "owner is not granted, it is transferred"
    OWNER_STAYS = "the owner can't be changed or removed; transfer the ownership first"


def rule_on_change(
    actor: Level | None, *, present: Level | None, wanted: Level | None, own: bool = False
) -> Ruling:
    """May `actor` change a membership from level `present` to `wanted`? None is no membership.

    `own` means that it is the actor's own membership. Everybody but the owner may leave. Managers
    and the owner may change others, but only the owner may add, change or remove managers.
    Ownership changes by a transfer only.
    """
    if actor is None:
        return Ruling.FORBIDDEN
    if own and wanted is None:
        return Ruling.OWNER_STAYS if actor is Level.OWNER else Ruling.ALLOWED
    if actor < Level.MANAGER:
        return Ruling.FORBIDDEN
    if wanted is Level.OWNER:
        return Ruling.OWNER_NOT_GRANTED
    # The owner's membership changes by a transfer only. The owner learns that; to a manager the
    # change is just forbidden.
    if present is Level.OWNER:
        return Ruling.OWNER_STAYS if actor is Level.OWNER else Ruling.FORBIDDEN
    owner_alone = Level.MANAGER in (present, wanted)
    return Ruling.FORBIDDEN if owner_alone and actor is not Level.OWNER else Ruling.ALLOWED
