"""Whether two texts say the same, and how that is known. Pure.

Equal texts are the same without a look at their vectors. Near copies differ by a word or two that
change nothing: whoever calls knows from the vectors that they are near, and here stands what must
not differ all the same.
"""

from recollect.domain.attributes import Attribute, attribute_of, is_same_person
from recollect.domain.contradictions import is_long, may_contradict
from recollect.domain.details import same_details
from recollect.domain.folding import is_equal_text, signs

# Why something is a duplicate.
EQUAL_TEXT, SAME_DETAILS = "equal_text", "same_details"
REPEAT_REASONS = frozenset({EQUAL_TEXT, SAME_DETAILS})


def sameness(a: str, b: str, *, near: bool) -> str | None:
    """Why two texts say the same, in one word; None if they don't."""
    if is_equal_text(a, b):
        return EQUAL_TEXT
    return SAME_DETAILS if near and _says_the_same(a, b) else None


def _says_the_same(a: str, b: str) -> bool:
    """Near copies differ by a word: not one of a value, not a "not", and not by a sign."""
    if is_long(a, b):
        return False
    first, second = attribute_of(a), attribute_of(b)
    same_attribute = first is None or second is None or _same_claim(first, second)
    alike = same_attribute and signs(a) == signs(b)
    return alike and same_details(a, b) and not may_contradict(a, b)


def _same_claim(a: Attribute, b: Attribute) -> bool:
    same = (a.name, a.value, a.negated) == (b.name, b.value, b.negated)
    return same and is_same_person(a.subject_hint, b.subject_hint)
