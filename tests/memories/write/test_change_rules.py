"""What may be changed in a memory, and by whom."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.errors import Forbidden, ValidationFailed
from recollect.memories import validation as checks
from recollect.memories.model import (
    IMMUTABLE_FIELDS,
    PATCH_FIELDS,
    MemoryKind,
    Sensitivity,
)
from tests.memories.memory_cases import a_memory, field_of, refused

IMMUTABLE = """id kind key space visibility scope agent_id run_id created_at observed_at stated_by
learned_in"""


@pytest.mark.parametrize("name", IMMUTABLE.split())
@pytest.mark.parametrize("kind", MemoryKind)
def test_an_immutable_field_can_not_be_patched(kind: MemoryKind, name: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        checks.check_patch(kind, ["tags", name])
    assert refusal.value.code == "immutable_field"
    assert refusal.value.violations[0].field == name


@pytest.mark.parametrize("kind", MemoryKind)
def test_what_may_change_can_be_patched(kind: MemoryKind) -> None:
    checks.check_patch(kind, PATCH_FIELDS[kind])
    assert not PATCH_FIELDS[kind] & IMMUTABLE_FIELDS


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (MemoryKind.RECORD, "content"),
        (MemoryKind.STATEMENT, "value"),
        (MemoryKind.STATEMENT, "visibilty"),
        (MemoryKind.STATEMENT, "trust"),
        (MemoryKind.RECORD, "expiry_rule"),
    ],
)
def test_nothing_else_can_be_patched(kind: MemoryKind, name: str) -> None:
    assert field_of(lambda: checks.check_patch(kind, [name])) == name


LOOSER = [
    (Sensitivity.SENSITIVE, False, Sensitivity.PERSONAL, False),
    (Sensitivity.PERSONAL, True, Sensitivity.PUBLIC, True),
    (Sensitivity.PUBLIC, False, Sensitivity.PUBLIC, True),
    (Sensitivity.PUBLIC, False, Sensitivity.SENSITIVE, True),
]


@pytest.mark.parametrize(("was", "moved", "sensitivity", "portable"), LOOSER)
def test_only_a_subject_gives_up_privacy(
    was: Sensitivity, moved: bool, sensitivity: Sensitivity, portable: bool
) -> None:
    memory = a_memory(sensitivity=was, portable=moved, subjects=("q", "r"))
    checks.check_loosening(memory, "q", sensitivity=sensitivity, portable=portable)
    for stranger in ("p", None):
        with pytest.raises(Forbidden) as refusal:
            checks.check_loosening(memory, stranger, sensitivity=sensitivity, portable=portable)
        assert refusal.value.code == "subject_only"


@pytest.mark.parametrize(("was", "moved", "sensitivity", "portable"), LOOSER)
def test_anyone_may_where_nobody_else_is_a_subject(
    was: Sensitivity, moved: bool, sensitivity: Sensitivity, portable: bool
) -> None:
    alone = a_memory(sensitivity=was, portable=moved, subjects=("p",))
    about_nobody = a_memory(sensitivity=was, portable=moved)
    for memory in (alone, about_nobody):
        checks.check_loosening(memory, "p", sensitivity=sensitivity, portable=portable)


@given(st.sampled_from(Sensitivity), st.sampled_from(Sensitivity), st.booleans(), st.booleans())
def test_more_privacy_is_anybodys_to_give(
    a: Sensitivity, b: Sensitivity, was: bool, portable: bool
) -> None:
    low, high = sorted((a, b), key=lambda each: each.rank)
    memory = a_memory(sensitivity=low, portable=was or portable, subjects=("q",))
    checks.check_loosening(memory, "p", sensitivity=high, portable=portable)


def test_a_refusal_never_repeats_the_text() -> None:
    text = "very private\0"
    refusing = [
        lambda: checks.check_content(text),
        lambda: checks.check_record(text, {}),
        lambda: checks.check_record("k", {"a": text}),
        lambda: checks.clean_tags([text]),
        lambda: checks.clean_subjects([text]),
        lambda: checks.parse_messages([{"role": "user", "content": text}]),
    ]
    assert not any("private" in refused(check).message for check in refusing)
