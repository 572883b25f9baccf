"""Merges the fields of a repeated statement into the stored one, and names what can't be merged.

Tags, metadata, PII tags and expiry are merged. Fields that would change what the stored statement
says stay as they are and are reported.
"""

from dataclasses import dataclass, replace

from recollect.kernel.errors import ValidationFailed
from recollect.kernel.validation import check_metadata
from recollect.memories.expiry import surviving_approval
from recollect.memories.fields import PLAIN_FIELDS
from recollect.memories.model import TAGS_MAX, Memory
from recollect.memories.write.draft import MemoryDraft


@dataclass(frozen=True, slots=True)
class MergedFields:
    """The stored statement with the merged fields, and the names of the fields left out."""

    memory: Memory
    left: tuple[str, ...]


def merge_repeat(known: Memory, repeat: Memory, draft: MemoryDraft) -> MergedFields:
    """Merge a repeat that is being written. `left` becomes a warning to the writer, who can send a
    PATCH for these fields."""
    taken = _merge_fields(known, repeat)
    return MergedFields(taken, tuple(sorted(_unmerged_fields(taken, repeat, draft))))


def merge_stored_repeat(known: Memory, repeat: Memory) -> MergedFields:
    """Merge a repeat that is stored already, as a reconciliation job does. Nobody can be warned
    then, so the caller must not merge if `left` has anything."""
    left = _differing_fields(known, repeat) | ({"type"} if repeat.type is not known.type else set())
    return MergedFields(_merge_fields(known, repeat), tuple(sorted(left)))


def _merge_fields(known: Memory, repeat: Memory) -> Memory:
    """The later expiry and policy win; tags and metadata are added. Privacy is merged by
    `RepeatCounter.apply_repeat`."""
    pii_tags = tuple(sorted({*known.pii_tags, *repeat.pii_tags}))
    taken = replace(
        known,
        pii_tags=pii_tags,
        approved_expires_at=surviving_approval(known.approved_expires_at, known.pii_tags, pii_tags),
        explicit_expires_at=repeat.explicit_expires_at or known.explicit_expires_at,
        retention_policy=repeat.retention_policy or known.retention_policy,
    )
    return _merge_metadata(_merge_tags(taken, repeat), repeat)


def _merge_tags(known: Memory, repeat: Memory) -> Memory:
    # All or nothing: beyond the limit the stored tags stay as they are, and `tags` is reported.
    tags = tuple(dict.fromkeys((*known.tags, *repeat.tags)))
    return replace(known, tags=tags) if len(tags) <= TAGS_MAX else known


def _merge_metadata(known: Memory, repeat: Memory) -> Memory:
    metadata = known.metadata | {
        n: v for n, v in repeat.metadata.items() if n not in known.metadata
    }
    try:
        check_metadata(metadata)
    except ValidationFailed:
        return known
    return replace(known, metadata=metadata)


def _unmerged_fields(taken: Memory, repeat: Memory, draft: MemoryDraft) -> set[str]:
    # Only what the writer asked for counts. A stricter privacy is not left out but applied.
    looser = draft.sensitivity is not None and draft.sensitivity.rank < taken.sensitivity.rank
    kept = {
        "sensitivity": looser,
        "portable": bool(draft.portable) and not taken.portable,
        "request_approval": draft.request_approval,
    }
    return {name for name, left in kept.items() if left} | _differing_fields(taken, repeat)


def _differing_fields(taken: Memory, repeat: Memory) -> set[str]:
    """The fields in which the merged statement lacks or contradicts what the repeat has."""
    # `repeat` is only a default that equals no value in metadata.
    unlike = any(
        taken.metadata.get(name, repeat) != value for name, value in repeat.metadata.items()
    )
    kept = {"tags": not {*repeat.tags} <= {*taken.tags}, "metadata": unlike}
    plain = {
        field.name
        for field in PLAIN_FIELDS
        # A default asks for nothing.
        if getattr(repeat, field.name) not in (field.default, getattr(taken, field.name))
    }
    return plain | {name for name, left in kept.items() if left}
