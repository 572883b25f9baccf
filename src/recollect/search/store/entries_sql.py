"""SQL of the entry search index. Statements that look at many trees are built and cached per shape
of scope: which values it has, not what the values are."""

from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    and_,
    case,
    delete,
    exists,
    false,
    func,
    insert,
    literal_column,
    null,
    or_,
    select,
    true,
    union_all,
    update,
)

from recollect.conversations.store.rows import ENTRY_COLUMNS
from recollect.db.engines.expressions import (
    FullTextMatch,
    InUuidList,
    insert_if_absent,
)
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import (
    conversations,
    embeddings,
    entries,
    index,
    trees,
)
from recollect.identity.scope import ScopeReach, TreeScope
from recollect.identity.scope_sql import join_scope, scope_clause, scope_params
from recollect.kernel.runtime import SEALED_MARKER
from recollect.search.model import EntryTrait
from recollect.search.ports import EMBEDDED_CHARS, SearchScope

_c, _e, _i, _t, _v = conversations.c, entries.c, index.c, trees.c, embeddings.c

_TEXT = (
    _i.entry_id,
    _i.conversation_group_id,
    _i.conversation_id,
    _i.seq,
    _i.speaker,
    _i.traits,
    _i.head,
    _i.terms,
)
_VECTOR = (_v.entry_id, _v.embedding, _v.window_embedding)
_TREE = param("tree_id", _t.id)
_ENTRY = param("entry_id", _i.entry_id)
_LIMIT = param("limit", _i.seq)
_IDS = param("ids", _i.terms)
_MODEL = param("model", _v.model)


def scope_shape(scope: SearchScope) -> SearchScope:
    """The scope without its values; the key of the statement cache."""
    inner = TreeScope(scope.scope.reach, None, scope.scope.least)
    # Any constant will do: the statement only has to know that there is an owner.
    owner = None if scope.owner_user_id is None else ""
    return SearchScope(inner, owner, scope.include_deleted)


def scope_values(scope: SearchScope) -> dict[str, Any]:
    """The values of a scope as statement parameters."""
    return {**scope_params(scope.scope), "owner": scope.owner_user_id}


def _select_in_scope(
    columns: tuple[ColumnElement[Any], ...],
    source: FromClause,
    tree_id: ColumnElement[str],
    scope: SearchScope,
) -> Select[Any]:
    """Select from a source that is joined with `trees`, restricted to the scope. All queries for
    rows are built on this, so that none can forget the restriction."""
    query = select(*columns).select_from(join_scope(source, scope.scope, tree_id))
    query = query.where(scope_clause(scope.scope, _t.deleted_at))
    if scope.scope.reach is ScopeReach.EVERYTHING and not scope.include_deleted:
        query = query.where(_t.deleted_at.is_(None))
    # The owner is that of the tree's root conversation, which has the tree's id.
    if scope.owner_user_id is not None:
        owned = and_(_c.id == _t.id, _c.owner_user_id == param("owner", _c.owner_user_id))
        query = query.where(exists(select(literal_column("1")).where(owned)))
    return query


def _select_indexed(scope: SearchScope, *columns: ColumnElement[Any]) -> Select[Any]:
    source = index.join(trees, _t.id == _i.conversation_group_id)
    return _select_in_scope(columns, source, _i.conversation_group_id, scope)


@cache
def tree_states(scope: SearchScope) -> Query:
    """States of permitted trees with indexed entries."""
    columns = (_t.id, _t.index_entries, _t.index_revision, _t.created_at, _t.index_removals)
    query = _select_in_scope(columns, trees, _t.id, scope).where(
        _t.index_entries > literal_column("0")
    )
    return Query(query.limit(_LIMIT))


@cache
def count_entries(scope: SearchScope) -> Query:
    """The number of permitted entries."""
    return Query(_select_in_scope((func.sum(_t.index_entries),), trees, _t.id, scope))


@cache
def scope_speakers(scope: SearchScope) -> Query:
    """Distinct speakers of permitted entries, and whether as an assistant."""
    assistant = _i.traits.op("&")(literal_column(str(int(EntryTrait.ASSISTANT))))
    return Query(_select_indexed(scope, _i.speaker, assistant).distinct())


@cache
def texts(scope: SearchScope) -> Query:
    """The words of all permitted entries."""
    return Query(_select_indexed(scope, *_TEXT))


@cache
def texts_matching(scope: SearchScope) -> Query:
    """Permitted entries that match a word query, in batches."""
    query = _select_indexed(scope, *_TEXT, _i.doc).where(
        FullTextMatch(param("query", _i.terms), index), _i.doc > param("after_doc", _i.doc)
    )
    return Query(query.order_by(_i.doc).limit(_LIMIT))


@cache
def texts_with_neighbours(scope: SearchScope) -> Query:
    """Permitted entries by id, each with its two neighbours.

    The scope restricts the given entries only. Neighbours are in the same conversation, hence in
    the same tree, and permissions are per tree. They are found by position with min and max, which
    are index lookups; positions in a conversation have gaps.
    """
    positions = _select_indexed(scope, _i.conversation_id, _i.seq).where(
        InUuidList(_i.entry_id, _IDS)
    )
    at = positions.cte("entry")
    other = index.alias("other")
    before = select(func.max(other.c.seq)).where(
        other.c.conversation_id == at.c.conversation_id, other.c.seq < at.c.seq
    )
    after = select(func.min(other.c.seq)).where(
        other.c.conversation_id == at.c.conversation_id, other.c.seq > at.c.seq
    )
    places = union_all(
        select(at.c.conversation_id, at.c.seq),
        select(at.c.conversation_id, before.scalar_subquery()),
        select(at.c.conversation_id, after.scalar_subquery()),
    ).subquery("places")
    joined = and_(_i.conversation_id == places.c.conversation_id, _i.seq == places.c.seq)
    return Query(select(*_TEXT).distinct().select_from(places.join(index, joined)))


def select_vectors(scope: SearchScope, *columns: ColumnElement[Any]) -> Select[Any]:
    """Permitted vectors of one model."""
    source = embeddings.join(trees, _t.id == _v.conversation_group_id)
    return _select_in_scope(columns, source, _v.conversation_group_id, scope).where(
        _v.model == _MODEL
    )


@cache
def vectors(scope: SearchScope, *, ids: bool) -> Query:
    """Own and window vectors of all permitted entries, or of those in a list."""
    query = select_vectors(scope, *_VECTOR)
    return Query(query.where(InUuidList(_v.entry_id, _IDS)) if ids else query)


@cache
def own_vectors_of_trees(scope: SearchScope) -> Query:
    """Permitted own vectors of some trees."""
    query = select_vectors(scope, _v.entry_id, _v.embedding, _v.revision)
    return Query(query.where(InUuidList(_v.conversation_group_id, _IDS)))


@cache
def own_vectors_after(scope: SearchScope) -> Query:
    """Permitted own vectors of one tree, in batches ordered by revision and id."""
    revision, id_ = param("revision", _v.revision), param("after", _v.entry_id)
    query = select_vectors(scope, _v.entry_id, _v.embedding, _v.revision)
    query = query.where(
        _v.conversation_group_id == _TREE,
        _v.revision >= revision,
        or_(_v.revision > revision, _v.entry_id > id_),
    )
    return Query(query.order_by(_v.revision, _v.entry_id).limit(_LIMIT))


@cache
def permitted_entries(scope: SearchScope) -> Query:
    """Permitted entries by id, with their conversation's title and their indexed text."""
    source = entries.join(trees, _t.id == _e.conversation_group_id)
    title = select(_c.title).where(_c.id == _e.conversation_id).scalar_subquery()
    columns = (*ENTRY_COLUMNS, title.label("title"), _e.indexed_content)
    query = _select_in_scope(columns, source, _e.conversation_group_id, scope)
    return Query(query.where(InUuidList(_e.id, _IDS), _e.indexed_content.is_not(None)))


@cache
def unindexed_entries(*, cursor: bool) -> Query:
    """History entries of live trees without indexed text, oldest first. `created_at >=` is implied
    by the `or`, but lets the planner start at the right place of the index."""
    at, id_ = param("after_at", _e.created_at), param("after_id", _e.id)
    query = (
        select(*ENTRY_COLUMNS)
        .join_from(entries, trees, _t.id == _e.conversation_group_id)
        .where(
            _e.channel == literal_word("history"),
            _e.indexed_content.is_(None),
            _e.removed_at.is_(None),
            _t.deleted_at.is_(None),
        )
    )
    if cursor:
        query = query.where(
            _e.created_at >= at, or_(_e.created_at > at, and_(_e.created_at == at, _e.id > id_))
        )
    return Query(query.order_by(_e.created_at, _e.id).limit(_LIMIT))


@cache
def entries_not_in_index(*, cursor: bool) -> Query:
    """Entries that have a text for search but no index row, by id."""
    known = exists(select(literal_column("1")).where(_i.entry_id == _e.id))
    query = select(*ENTRY_COLUMNS, _e.indexed_content).where(
        _e.indexed_content.is_not(None), ~known
    )
    if cursor:
        query = query.where(_e.id > param("after", _e.id))
    return Query(query.order_by(_e.id).limit(_LIMIT))


@cache
def next_trees(*, cursor: bool) -> Query:
    """Trees with indexed entries, by id, locked until the transaction ends."""
    query = select(_t.id).where(_t.index_entries > literal_column("0"))
    if cursor:
        query = query.where(_t.id > param("after", _t.id))
    return Query(query.order_by(_t.id).limit(_LIMIT).with_for_update())


@cache
def trees_without_vectors(*, cursor: bool) -> Query:
    """Trees by id with a text that has no vector of the model and is not pending."""
    tree_id = _i.conversation_group_id
    query = select(tree_id).distinct().where(_i.pending == false(), _HAS_NO_VECTOR)
    if cursor:
        query = query.where(tree_id > param("after", tree_id))
    return Query(query.order_by(tree_id).limit(_LIMIT))


def _build_window_texts() -> Query:
    """The text at a position, and up to `reach` texts before and after it. Three selects, because
    each side needs a limit of its own."""
    here = _i.conversation_id == param("conversation_id", _i.conversation_id)
    seq, reach = param("seq", _i.seq), param("reach", _i.seq)
    parts = (
        select(_i.entry_id, _i.seq).where(here, _i.seq < seq).order_by(_i.seq.desc()).limit(reach),
        select(_i.entry_id, _i.seq).where(here, _i.seq == seq),
        select(_i.entry_id, _i.seq).where(here, _i.seq > seq).order_by(_i.seq).limit(reach),
    )
    places = union_all(*(select(part.subquery()) for part in parts)).subquery()
    # A sealed text can be opened as a whole only.
    sealed = func.substr(_e.indexed_content, 1, 1) == literal_column(f"'{SEALED_MARKER[0]}'")
    text = case(
        (sealed, _e.indexed_content), else_=func.substr(_e.indexed_content, 1, EMBEDDED_CHARS)
    )
    joined = places.join(entries, _e.id == places.c.entry_id)
    query = select(places.c.entry_id, places.c.seq, text).select_from(joined)
    return Query(query.where(_e.indexed_content.is_not(None)).order_by(places.c.seq))


_HAS_NO_VECTOR = ~exists(
    select(literal_column("1")).where(_v.entry_id == _i.entry_id, _v.model == _MODEL)
)
# Read from the tree's row in the same statement. The tree is locked and its revision was bumped
# before, so every row that a transaction writes gets the tree's new revision.
_REVISION = select(_t.index_revision).where(_t.id == _TREE).scalar_subquery()
_WORDS = {
    "revision": _REVISION,
    "traits": param("traits", _i.traits),
    "head": param("head", _i.head),
    "terms": param("terms", _i.terms),
    "stems": param("stems", _i.stems),
    "pending": param("pending", _i.pending),
}
_VECTORS = {
    "window_embedding": param("window", _v.window_embedding),
    "revision": _REVISION,
}
_OWN_VECTOR = {
    "embedding": param("embedding", _v.embedding),
    "model": _MODEL,
    "dimensions": param("dimensions", _v.dimensions),
}
# Of a single text: the revision that a reader or a job has seen.
_REVISION_PARAM = param("revision", _i.revision)
_AT = param("at", _e.indexed_at)

LOCK_TREE = Query(select(_t.id).where(_t.id == _TREE).with_for_update())
SELECT_DOC = Query(select(_i.doc).where(_i.entry_id == _ENTRY))
_NEXT_REVISION = {"index_revision": _t.index_revision + literal_column("1")}
BUMP_REVISION = Query(update(trees).where(_t.id == _TREE).values(_NEXT_REVISION))
BUMP_AND_COUNT = Query(
    update(trees)
    .where(_t.id == _TREE)
    .values(_NEXT_REVISION | {"index_entries": _t.index_entries + literal_column("1")})
)
COUNT_REMOVAL = Query(
    update(trees)
    .where(_t.id == _TREE)
    .values(
        _NEXT_REVISION
        | {
            "index_entries": _t.index_entries - literal_column("1"),
            "index_removals": _t.index_removals + literal_column("1"),
        }
    )
)
DELETE = Query(delete(index).where(_i.entry_id == _ENTRY))
CLEAR_WINDOW = Query(
    update(embeddings)
    .where(_v.entry_id == _ENTRY)
    .values(window_embedding=null(), revision=_REVISION)
)
MARK_ENTRY_PENDING = Query(
    update(index).where(_i.entry_id == _ENTRY).values(pending=true(), revision=_REVISION)
)
INSERT = Query(
    insert(index).values(
        entry_id=_ENTRY,
        conversation_group_id=_TREE,
        conversation_id=param("conversation_id", _i.conversation_id),
        seq=param("seq", _i.seq),
        speaker=param("speaker", _i.speaker),
        **_WORDS,
    )
)
REPLACE = Query(update(index).where(_i.entry_id == _ENTRY).values(_WORDS))
SET_TEXT = Query(
    update(entries)
    .where(_e.id == param("id", _e.id))
    .values(indexed_content=param("text", _e.indexed_content), indexed_at=_AT)
)
CHANGED_TEXTS = Query(
    select(*_TEXT).where(_i.conversation_group_id == _TREE, _i.revision > _REVISION_PARAM)
)
CHANGED_VECTORS = Query(
    select(*_VECTOR).where(
        _v.conversation_group_id == _TREE,
        _v.revision > param("revision", _v.revision),
        _v.model == _MODEL,
    )
)
PENDING = Query(
    select(_i.entry_id, _i.conversation_id, _i.seq, _i.revision)
    .where(_i.conversation_group_id == _TREE, _i.pending == true())
    .order_by(_i.seq)
    .limit(_LIMIT)
)
MARK_PENDING = Query(update(index).where(_i.conversation_group_id == _TREE).values(pending=true()))
MARK_WITHOUT_VECTORS = Query(
    update(index).where(_i.conversation_group_id == _TREE, _HAS_NO_VECTOR).values(pending=true())
)
WINDOW_TEXTS = _build_window_texts()
# Changes nothing if the text was replaced since the job read it: its revision is higher then.
CLEAR_PENDING = Query(
    update(index)
    .where(_i.entry_id == _ENTRY, _i.revision == _REVISION_PARAM)
    .values(pending=literal_column("false"))
)
# Only beside an own vector of the same model: a cosine with a mix of two models means nothing.
SET_WINDOW = Query(
    update(embeddings).where(_v.entry_id == _ENTRY, _v.model == _MODEL).values(_VECTORS)
)
SET_VECTORS = Query(update(embeddings).where(_v.entry_id == _ENTRY).values(_VECTORS | _OWN_VECTOR))
INSERT_VECTORS = Query(
    insert_if_absent(embeddings, "entry_id").values(
        entry_id=_ENTRY,
        conversation_id=param("conversation_id", _v.conversation_id),
        conversation_group_id=_TREE,
        **_VECTORS,
        **_OWN_VECTOR,
    )
)
DELETE_VECTORS = Query(delete(embeddings).where(_v.entry_id == _ENTRY))
SET_INDEXED_AT = Query(update(entries).where(_e.id == param("id", _e.id)).values(indexed_at=_AT))
SET_VECTORIZED_AT = Query(
    update(conversations)
    .where(_c.id == param("id", _c.id))
    .values(vectorized_at=param("at", _c.vectorized_at))
)
COUNT_PENDING = Query(select(func.count()).select_from(index).where(_i.pending == true()))
COUNT_ENTRIES = Query(select(func.sum(_t.index_entries)).select_from(trees))
