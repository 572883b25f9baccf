"""A `TreeScope` as SQL. Property tests prove it equal to `TreeScope.matches` on every engine."""

from sqlalchemy import ColumnElement, FromClause, and_, false, true

from recollect.db.statements import Params, literal_word, param
from recollect.db.tables.conversations import memberships
from recollect.identity.scope import ScopeReach, TreeScope
from recollect.kernel.access_level import Level


def needs_membership(scope: TreeScope) -> bool:
    """Does the clause need a join with memberships?"""
    return scope.reach is ScopeReach.MEMBER


def membership_join(tree_id: ColumnElement[str]) -> ColumnElement[bool]:
    """The join condition between a tree and the membership of the scope's user."""
    return and_(
        memberships.c.conversation_group_id == tree_id,
        memberships.c.user_id == param("scope_user_id", memberships.c.user_id),
    )


def scope_clause(scope: TreeScope, deleted_at: ColumnElement[object]) -> ColumnElement[bool]:
    """The WHERE clause of the scope. Needs `membership_join` where `needs_membership` says so."""
    if scope.reach is ScopeReach.EVERYTHING:
        return true()
    if scope.reach is ScopeReach.NOTHING:
        return false()
    # Levels are stored as words, which SQL can't order. So the sufficient ones are listed.
    enough = [literal_word(level.word) for level in Level if level >= scope.least]
    return and_(deleted_at.is_(None), memberships.c.access_level.in_(enough))


def scope_params(scope: TreeScope) -> Params:
    """The parameters of `membership_join`."""
    return {"scope_user_id": scope.user_id} if needs_membership(scope) else {}


def join_scope(source: FromClause, scope: TreeScope, tree_id: ColumnElement[str]) -> FromClause:
    """`source`, joined with memberships if the scope needs them."""
    if not needs_membership(scope):
        return source
    return source.join(memberships, membership_join(tree_id))
