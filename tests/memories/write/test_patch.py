"""Which tags of personal data a change leaves: the long look at texts is over before."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.kernel.ids import MemoryId
from recollect.kernel.retention_rules import SHIPPED_RULES
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.commands import PatchMemory
from recollect.memories.model import Memory, MemoryKind, MemoryType
from recollect.memories.write.patch import (
    DetectedTags,
    PatchParser,
    PreviousText,
    ScreenedPatch,
    patched_fields,
)
from recollect.memories.write.screen import ScreeningService
from recollect.screening.rules import ScreeningRules

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)
MAIL = "write to ann@example.com"


def a_memory(content: str, **members: Any) -> Memory:
    made: dict[str, Any] = dict.fromkeys(("created_at", "updated_at", "observed_at"), NOW)
    space = Space(SpaceKind.USER, "ann")
    named: dict[str, Any] = {"id": MemoryId("m"), "kind": MemoryKind.STATEMENT, "space": space}
    return Memory(content=content, **(named | made | members))


def a_patch(**members: Any) -> ScreenedPatch:
    return PatchParser(ScreeningService(ScreeningRules(SHIPPED_RULES))).parse(
        PatchMemory(**members), NOW
    )


def kept(content: str, *pii_tags: str) -> dict[str, Any]:
    """An earlier version."""
    return {"content": content, "value": None, "metadata": {}, "tags": (), "pii_tags": pii_tags}


def tags_after(memory: Memory, patch: ScreenedPatch, *earlier: dict[str, Any]) -> tuple[str, ...]:
    changes = patched_fields(memory, patch.with_detected_tags(PreviousText(memory, earlier)))
    tags: tuple[str, ...] = changes["pii_tags"]
    return tags


def test_what_was_looked_at_is_not_looked_at_again() -> None:
    memory, patch = a_memory(MAIL, pii_tags=("email",)), a_patch(pii_tags=[])
    assert not patch.has_checked(memory)
    seen = replace(patch, detected=DetectedTags(memory.version, frozenset({"phone"})))
    assert seen.has_checked(memory)
    assert patched_fields(memory, seen)["pii_tags"] == ("phone",)
    assert not seen.has_checked(replace(memory, version=memory.version + 1))
    assert a_patch(type=MemoryType.EVENT).has_checked(memory)


@pytest.mark.parametrize(
    ("earlier", "left"),
    [
        ([], ()),
        ([kept(MAIL, "email")], ("email",)),
        ([kept("a note", "email"), kept(MAIL, "email")], ("email",)),
        ([kept("a note", "email")], ()),
        ([kept("a note") | {"metadata": {"to": MAIL}, "pii_tags": ("email",)}], ("email",)),
    ],
)
def test_a_tag_stays_as_long_as_a_version_has_what_it_tells_of(
    earlier: list[dict[str, Any]], left: tuple[str, ...]
) -> None:
    memory = a_memory("a note", pii_tags=("email", "health"))
    assert tags_after(memory, a_patch(pii_tags=[]), *earlier) == left
    assert tags_after(memory, a_patch(pii_tags=["health"]), *earlier) == (*left, "health")
