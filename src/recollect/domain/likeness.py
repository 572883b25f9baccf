"""The similarity of two statements.

A small embedding model separates texts by their names and values: for it "Bob likes mayo" and "I
hate mayo" are farther apart than two sentences about colours. If both texts state the same
attribute of the same subjects, their form shows that they are about one thing, whatever the
vectors say. Reconciliation then compares what they say of it.
"""

from recollect.domain.attributes import attribute_of, is_same_person
from recollect.domain.succession import Statement


def likeness(cosine: float, a: Statement, b: Statement) -> float:
    """The cosine of two statements, or 1 if both state the same attribute."""
    return 1.0 if a.subjects == b.subjects and _states_the_same_attribute(a, b) else cosine


def _states_the_same_attribute(a: Statement, b: Statement) -> bool:
    first, second = attribute_of(a.content), attribute_of(b.content)
    if first is None or second is None or first.name != second.name:
        return False
    return is_same_person(first.subject_hint, second.subject_hint)
