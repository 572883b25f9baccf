"""How well a memory is known: by who said it of whom, and by what it was made from."""

from collections.abc import Collection, Iterable

from recollect.domain.memories import Trust


def trust_of(stated_by: str | None, subjects: Collection[str]) -> Trust:
    """The trust of what somebody said. Ids are canonical: merged persons count as one."""
    if stated_by is None:
        return Trust.UNKNOWN
    return Trust.FACT if not subjects or stated_by in subjects else Trust.HEARSAY


def lowest(trusts: Iterable[Trust]) -> Trust:
    """The trust of what was derived from these; of nothing at all it is `unknown`."""
    return min(trusts, key=_FROM_LEAST.index, default=Trust.UNKNOWN)


_FROM_LEAST = tuple(Trust)
