"""What a writer sends beside words that are known already: what the known statement takes over, and
what it keeps. Nothing is lost without a word."""

from dataclasses import dataclass, replace

from recollect.domain.expiry import still_approved
from recollect.domain.memories import TAGS_MAX, Memory, MemoryType
from recollect.domain.memory_checks import check_metadata
from recollect.errors import ValidationFailed
from recollect.services.drafts import Draft


@dataclass(frozen=True, slots=True)
class Taken:
    """The known statement with what it takes over, and the names of what it does not."""

    memory: Memory
    left: tuple[str, ...]


def taken_over(known: Memory, said: Memory, draft: Draft) -> Taken:
    """What a repeat means for the known statement when it is sent. What would change the statement
    is left: that is for a PATCH."""
    taken = _marked(known, said)
    return Taken(taken, tuple(sorted(_left(taken, said, draft))))


def folded(known: Memory, said: Memory) -> Taken:
    """What a stored statement that turned out to repeat the known one means for it. Its words are
    its own, and so are its type, tags, metadata and times: they are left where the known one has
    others. Nobody is asked by then, so it is for the caller not to fold where something is left."""
    left = _unlike(known, said) | ({"type"} if said.type is not known.type else set())
    return Taken(_marked(known, said), tuple(sorted(left)))


def _marked(known: Memory, said: Memory) -> Memory:
    """The later word counts for the term; tags and metadata are added. Whose word on privacy counts
    is known elsewhere."""
    pii_tags = tuple(sorted({*known.pii_tags, *said.pii_tags}))
    taken = replace(
        known,
        pii_tags=pii_tags,
        approved_expires_at=still_approved(known.approved_expires_at, known.pii_tags, pii_tags),
        explicit_expires_at=said.explicit_expires_at or known.explicit_expires_at,
        retention_policy=said.retention_policy or known.retention_policy,
    )
    return _with_metadata(_with_tags(taken, said), said)


def _with_tags(known: Memory, said: Memory) -> Memory:
    tags = tuple(dict.fromkeys((*known.tags, *said.tags)))
    return replace(known, tags=tags) if len(tags) <= TAGS_MAX else known


def _with_metadata(known: Memory, said: Memory) -> Memory:
    metadata = known.metadata | {n: v for n, v in said.metadata.items() if n not in known.metadata}
    try:
        check_metadata(metadata)
    except ValidationFailed:
        return known
    return replace(known, metadata=metadata)


def _left(taken: Memory, said: Memory, draft: Draft) -> set[str]:
    looser = draft.sensitivity is not None and draft.sensitivity.rank < taken.sensitivity.rank
    kept = {
        "type": draft.type not in (MemoryType.KNOWLEDGE, taken.type),
        "sensitivity": looser,
        "portable": bool(draft.portable) and not taken.portable,
        "request_approval": draft.request_approval,
    }
    return {name for name, left in kept.items() if left} | _unlike(taken, said)


def _unlike(taken: Memory, said: Memory) -> set[str]:
    """The marks of the repeat that this one doesn't have."""
    unlike = any(taken.metadata.get(name, said) != value for name, value in said.metadata.items())
    kept = {
        "tags": not {*said.tags} <= {*taken.tags},
        "metadata": unlike,
        "valid_from": _differs(taken, said, "valid_from"),
        "valid_until": _differs(taken, said, "valid_until"),
    }
    return {name for name, left in kept.items() if left}


def _differs(taken: Memory, said: Memory, name: str) -> bool:
    sent = getattr(said, name)
    return sent is not None and sent != getattr(taken, name)
