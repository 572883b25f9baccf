"""A right as a list of named rules: one rule that holds is enough."""

from collections.abc import Callable
from typing import TypeVar

from recollect.policy.decide import Decision
from recollect.policy.spaces import Caller

View = TypeVar("View")


def first_holding(
    rules: tuple[tuple[str, Callable[[Caller, View], bool]], ...], caller: Caller, view: View
) -> Decision:
    """Allowed by the first rule that holds, else refused; the refusal names all rules, any of which
    would have been enough."""
    for name, holds in rules:
        if holds(caller, view):
            return Decision(True, name)
    return Decision(False, "needs " + " or ".join(name for name, _ in rules))
