"""The similarity of two statements.

A small embedding model separates texts by their names and values: for it "Bob likes mayo" and "I
hate mayo" are farther apart than two sentences about colours. If both texts state the same
attribute of the same subjects, their form shows that they are about one thing, whatever the
vectors say. Reconciliation then compares what they say of it.
"""

from recollect.memories.reconcile.attributes import (
    is_same_person,
    parse_attribute,
)
from recollect.memories.supersede.rules import StatementFacts


def statement_similarity(cosine: float, a: StatementFacts, b: StatementFacts) -> float:
    """The cosine of two statements, or 1 if both state the same attribute."""
    return 1.0 if a.subjects == b.subjects and _is_same_attribute(a, b) else cosine


def _is_same_attribute(a: StatementFacts, b: StatementFacts) -> bool:
    first, second = parse_attribute(a.content), parse_attribute(b.content)
    if first is None or second is None or first.name != second.name:
        return False
    return is_same_person(first.subject_hint, second.subject_hint)
