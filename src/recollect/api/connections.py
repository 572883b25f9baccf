"""How many connections the port of REST and gRPC may have."""

RELAYED_COST = 3
REFUSED_MAX = 16


class Connections:
    """Counts descriptors: a connection of REST is one. One that is handed on to gRPC is three: its
    own, and both ends of the way there."""

    def __init__(self, *, descriptors_max: int, relayed_max: int) -> None:
        self._free = descriptors_max
        self._relayed_free = relayed_max
        self._refused_free = REFUSED_MAX

    def enter(self) -> bool:
        """A connection came; is there room for it?"""
        if self._free < 1:
            return False
        self._free -= 1
        return True

    def leave(self) -> None:
        """It is gone."""
        self._free += 1

    def refuse(self) -> bool:
        """There was none; is there room to say so?"""
        if self._refused_free < 1:
            return False
        self._refused_free -= 1
        return True

    def leave_refused(self) -> None:
        """It is gone."""
        self._refused_free += 1

    def hand_on(self) -> bool:
        """One that entered is to be handed on; is there room for that?"""
        if self._free < RELAYED_COST - 1 or self._relayed_free < 1:
            return False
        self._free -= RELAYED_COST - 1
        self._relayed_free -= 1
        return True

    def leave_relayed(self) -> None:
        """It is gone, with all of its way."""
        self._free += RELAYED_COST
        self._relayed_free += 1
