"""A Scope as SQL. The property tests hold this equal to `Scope.matches` on every engine."""

from sqlalchemy import ColumnElement, FromClause, and_, false, true

from recollect.domain.memberships import Level
from recollect.policy.scope import Reach, Scope
from recollect.stores.statements import Params, param, word
from recollect.stores.tables import memberships


def needs_membership(scope: Scope) -> bool:
    """Does the predicate look at a membership of the scope's user?"""
    return scope.reach is Reach.MEMBER


def membership_join(tree_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Joins the memberships of the scope's user to a tree."""
    return and_(
        memberships.c.conversation_group_id == tree_id,
        memberships.c.user_id == param("scope_user_id", memberships.c.user_id),
    )


def predicate(scope: Scope, deleted_at: ColumnElement[object]) -> ColumnElement[bool]:
    """Which rows the scope holds, given that `membership_join` was applied where it is needed."""
    if scope.reach is Reach.EVERYTHING:
        return true()
    if scope.reach is Reach.NOTHING:
        return false()
    enough = [word(level.word) for level in Level if level >= scope.least]
    return and_(deleted_at.is_(None), memberships.c.access_level.in_(enough))


def scope_params(scope: Scope) -> Params:
    """The parameters of the two functions above."""
    return {"scope_user_id": scope.user_id} if needs_membership(scope) else {}


def scoped(source: FromClause, scope: Scope, tree_id: ColumnElement[str]) -> FromClause:
    """`source`, joined with memberships where the scope needs them."""
    if not needs_membership(scope):
        return source
    return source.join(memberships, membership_join(tree_id))
