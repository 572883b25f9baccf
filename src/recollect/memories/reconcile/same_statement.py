"""Decides whether one text is a duplicate of another, and why.

Equal texts are duplicates without a look at their vectors. Near copies differ in a word or two that
change nothing: the caller knows from the vectors that they are near, and the rules here check what
must not differ.
"""

from recollect.memories.reconcile.attributes import (
    StatedAttribute,
    is_same_person,
    parse_attribute,
)
from recollect.memories.reconcile.contradictions import (
    is_too_long,
    may_contradict,
)
from recollect.memories.reconcile.details import has_same_details
from recollect.text.normal_form import extract_symbols, is_equal_text

# Why something is a duplicate.
EQUAL_TEXT, SAME_DETAILS = "equal_text", "same_details"


def duplicate_reason(a: str, b: str, *, near: bool) -> str | None:
    """The reason why two texts are duplicates; None if they are not. `near`: their vectors are
    close."""
    if is_equal_text(a, b):
        return EQUAL_TEXT
    return SAME_DETAILS if near and _is_near_copy(a, b) else None


def _is_near_copy(a: str, b: str) -> bool:
    """Whether the texts differ in nothing that matters: no value, negation or symbol, and no
    number, date or name."""
    if is_too_long(a, b):
        return False
    first, second = parse_attribute(a), parse_attribute(b)
    same_attribute = first is None or second is None or _is_same_claim(first, second)
    alike = same_attribute and extract_symbols(a) == extract_symbols(b)
    return alike and has_same_details(a, b) and not may_contradict(a, b)


def _is_same_claim(a: StatedAttribute, b: StatedAttribute) -> bool:
    same = (a.name, a.value, a.negated) == (b.name, b.value, b.negated)
    return same and is_same_person(a.subject_hint, b.subject_hint)
