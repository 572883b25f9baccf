"""A permission as a list of named rules: it is granted if one of them holds."""

from collections.abc import Callable
from typing import TypeVar

from recollect.identity.decide import AccessDecision
from recollect.identity.model import Caller

View = TypeVar("View")


def decide_by_rules(
    rules: tuple[tuple[str, Callable[[Caller, View], bool]], ...], caller: Caller, view: View
) -> AccessDecision:
    """Allowed by the first rule that holds, else refused; the refusal names all rules, any of which
    would have been enough."""
    for name, holds in rules:
        if holds(caller, view):
            return AccessDecision(True, name)
    return AccessDecision(False, "needs " + " or ".join(name for name, _ in rules))
