"""Decides whether one text is a duplicate of another, and why.

Equal texts are duplicates without a look at their vectors. Near copies differ in a word or two that
change nothing: the caller knows from the vectors that they are near, and the rules here check what
must not differ.
"""

from recollect.domain.attributes import Attribute, attribute_of, is_same_person
from recollect.domain.contradictions import is_long, may_contradict
from recollect.domain.details import same_details
from recollect.domain.folding import is_equal_text, signs

# Why something is a duplicate.
EQUAL_TEXT, SAME_DETAILS = "equal_text", "same_details"
REPEAT_REASONS = frozenset({EQUAL_TEXT, SAME_DETAILS})


def sameness(a: str, b: str, *, near: bool) -> str | None:
    """The reason why two texts are duplicates; None if they are not. `near`: their vectors are
    close."""
    if is_equal_text(a, b):
        return EQUAL_TEXT
    return SAME_DETAILS if near and _says_the_same(a, b) else None


def _says_the_same(a: str, b: str) -> bool:
    """Whether the texts differ in nothing that matters: no value, negation or symbol, and no
    number, date or name."""
    if is_long(a, b):
        return False
    first, second = attribute_of(a), attribute_of(b)
    same_attribute = first is None or second is None or _same_claim(first, second)
    alike = same_attribute and signs(a) == signs(b)
    return alike and same_details(a, b) and not may_contradict(a, b)


def _same_claim(a: Attribute, b: Attribute) -> bool:
    same = (a.name, a.value, a.negated) == (b.name, b.value, b.negated)
    return same and is_same_person(a.subject_hint, b.subject_hint)
