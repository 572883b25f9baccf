"""The trust level of a memory, from who said it about whom, or from the memories it came from."""

from collections.abc import Collection, Iterable

from recollect.domain.memories import Trust


def trust_of(stated_by: str | None, subjects: Collection[str]) -> Trust:
    """The trust of a statement: a fact if a subject said it or there is none, else hearsay.

    Ids must be canonical, so that merged people count as one. Without a speaker it is unknown.
    """
    if stated_by is None:
        return Trust.UNKNOWN
    return Trust.FACT if not subjects or stated_by in subjects else Trust.HEARSAY


def lowest(trusts: Iterable[Trust]) -> Trust:
    """The trust of what was derived from several memories; `unknown` if there are none."""
    return min(trusts, key=_FROM_LEAST.index, default=Trust.UNKNOWN)


_FROM_LEAST = tuple(Trust)
