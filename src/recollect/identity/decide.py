"""Access policy of conversation trees, in two forms.

`decide` answers for one tree: may the caller do this? `scope_for` answers for lists: which trees
does the caller see? Property tests prove that the two agree."""

from dataclasses import dataclass

from recollect.identity.actions import (
    LEAST_LEVEL,
    NEEDS_CLIENT,
    NEEDS_ROLE,
    Action,
)
from recollect.identity.model import Principal
from recollect.identity.scope import TreeScope
from recollect.identity.tree_view import TreeAccess
from recollect.kernel.access_level import Level
from recollect.kernel.errors import Forbidden


@dataclass(frozen=True, slots=True)
class AccessDecision:
    """Whether an action is allowed, and the rule that decided."""

    allowed: bool
    rule: str

    def require_allowed(self) -> None:
        """Raise Forbidden with the rule, unless it is allowed. For what belongs to an owner."""
        if not self.allowed:
            raise Forbidden(f"not allowed: {self.rule}", code="not_owner")


def decide(principal: Principal, action: Action, view: TreeAccess) -> AccessDecision:
    """May the caller do this in this tree? `view.level` is the caller's own level there."""
    # An action needs a server role or a level, never both. A role gives no level: an admin reads
    # other users' conversations through the admin operations only, which are audited.
    role = NEEDS_ROLE.get(action)
    if role is not None:
        return _make_decision(principal.has_role(role), f"needs role {role}")
    least = LEAST_LEVEL.get(action)
    if least is None:
        return AccessDecision(False, "unknown action")
    if action in NEEDS_CLIENT and principal.client_id is None:
        return AccessDecision(False, "needs an API key")
    if view.deleted:
        return AccessDecision(False, "the conversation is deleted")
    if view.level is None:
        return AccessDecision(False, "not a member")
    return _make_decision(view.level >= least, f"needs level {least.word}")


def scope_for(principal: Principal, action: Action) -> TreeScope:
    """The scope of all trees in which `decide` allows the action."""
    role = NEEDS_ROLE.get(action)
    if role is not None:
        return TreeScope.system(f"role {role}") if principal.has_role(role) else TreeScope.nothing()
    least: Level | None = LEAST_LEVEL.get(action)
    if least is None or (action in NEEDS_CLIENT and principal.client_id is None):
        return TreeScope.nothing()
    return TreeScope.member(principal.user_id, least)


def _make_decision(allowed: bool, rule: str) -> AccessDecision:
    return AccessDecision(allowed, rule)
