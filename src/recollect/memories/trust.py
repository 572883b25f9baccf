"""The trust level of a memory, from who said it about whom, or from the memories it came from."""

from collections.abc import Collection, Iterable

from recollect.memories.model import TrustLevel


def derive_trust(stated_by: str | None, subjects: Collection[str]) -> TrustLevel:
    """The trust of a statement: a fact if a subject said it or there is none, else hearsay.

    Ids must be canonical, so that merged people count as one. Without a speaker it is unknown.
    """
    if stated_by is None:
        return TrustLevel.UNKNOWN
    return TrustLevel.FACT if not subjects or stated_by in subjects else TrustLevel.HEARSAY


def lowest_trust(trusts: Iterable[TrustLevel]) -> TrustLevel:
    """The trust of what was derived from several memories; `unknown` if there are none."""
    return min(trusts, key=_TRUST_ORDER.index, default=TrustLevel.UNKNOWN)


_TRUST_ORDER = tuple(TrustLevel)
