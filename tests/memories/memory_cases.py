"""Memories and records for tests, and refusals of what they may not hold."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import strategies as st

from recollect.kernel.errors import ValidationFailed
from recollect.kernel.ids import MemoryId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import Memory, MemoryKind
from tests.support.strategies import json_values, texts

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
records = st.dictionaries(texts, json_values, max_size=5)


def a_memory(**changes: Any) -> Memory:
    """A statement of ann's own."""
    given: dict[str, Any] = {
        "id": MemoryId("m1"),
        "kind": MemoryKind.STATEMENT,
        "content": "likes tea",
        "space": Space(SpaceKind.USER, "ann"),
        "created_at": NOW,
        "updated_at": NOW,
        "observed_at": NOW,
    }
    return Memory(**given | changes)


def refused(check: Callable[[], object]) -> ValidationFailed:
    """What is said of it."""
    with pytest.raises(ValidationFailed) as refusal:
        check()
    assert refusal.value.code == "validation_error"
    return refusal.value


def field_of(check: Callable[[], object]) -> str:
    """The field that is refused."""
    return refused(check).violations[0].field
