"""Verification by SQL: ids in every text column of every table, words in the indexes, orphan
vectors, and identifiers that still occur in plain texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from sqlalchemy import ColumnElement, Table, Text, and_, cast, exists, func, or_, select
from sqlalchemy import literal_column as literal

from recollect.db.engines.expressions import (
    FullTextMatch,
    InTextList,
    InUuidList,
    JsonTextRows,
)
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import index
from recollect.db.tables.memories import memories, memory_embeddings, memory_index
from recollect.db.tables.people import people
from recollect.db.transaction import Tx
from recollect.erasure.model import ErasureCheck, ErasureTarget
from recollect.erasure.plan import RedactionPlan
from recollect.erasure.store.links_sql import (
    MEMORY_IN_CONVERSATIONS,
    USERS,
    link_params,
)
from recollect.erasure.store.needles_sql import (
    contains,
    contains_any,
    escape_like,
    needle_list,
)
from recollect.kernel import strict_json
from recollect.text import tokens as words

# Every table of the schema: the three modules imported above define them in one metadata.
TABLES: Sequence[Table] = people.metadata.sorted_tables
_TEXT_COLUMNS = {t.name: [c for c in t.columns if type(c.type) is Text] for t in TABLES}
# Ids chosen by callers stay even if they contain a person id; `count_custom_ids` counts them.
_CUSTOM_ID_COLUMNS = frozenset(
    {"memory_id", "agent_id", "source_agent", "run_id", "parent_run_id", "root_run_id"}
    | {"ancestor_id", "chat_id", "space_id", "learned_in", "superseded_by", "source_id"}
    | {"mentioned_id", "memories.id", "memory_versions.id", "agents.id", "runs.id"}
    | {"named_chats.id", "memory_links.from_id", "memory_links.to_id"}
)
_SEARCHED_COLUMNS = {
    name: [c for c in columns if not {c.name, f"{name}.{c.name}"} & _CUSTOM_ID_COLUMNS]
    for name, columns in _TEXT_COLUMNS.items()
}
# Columns with a user id, and the column that says whether the id is a user's. User ids are compared
# as whole values: they may be short words, which a search inside texts would find everywhere.
_USER_ID_COLUMNS = (
    ("conversations", "owner_user_id", None),
    ("conversation_memberships", "user_id", None),
    ("participations", "user_id", None),
    ("entries", "user_id", None),
    ("entry_index", "speaker", None),
    ("conversation_ownership_transfers", "from_user_id", None),
    ("conversation_ownership_transfers", "to_user_id", None),
    ("audit_events", "actor_user_id", None),
    ("audit_events", "target_user_id", None),
    ("audit_events", "space_id", "space_kind"),
    ("agents", "owner_id", "owner_kind"),
    ("agents", "created_by_id", "created_by_kind"),
    ("user_orgs", "user_id", None),
    ("people", "created_by_id", "created_by_kind"),
    ("person_users", "user_id", None),
    ("person_aliases", "added_by_id", "added_by_kind"),
    ("person_relationships", "added_by_id", "added_by_kind"),
    ("person_merges", "by_id", "by_kind"),
    ("named_chats", "created_by_id", "created_by_kind"),
    ("chat_participations", "member_id", "kind"),
    ("memories", "space_id", "space_kind"),
    ("memories", "written_by_id", "written_by_kind"),
    ("memory_versions", "by_id", "by_kind"),
    ("approvals", "requested_by_id", "requested_by_kind"),
    ("approvals", "decided_by", None),
    ("idempotency_answers", "requester_id", "requester_kind"),
    ("rollbacks", "by_id", "by_kind"),
)


def check_ids(tx: Tx, target: ErasureTarget) -> tuple[Counter[str], Counter[str]]:
    """By table: the number of searches, and of rows that contain an id of the target.

    Person ids are UUIDs of ours and are searched as substrings of every text column, JSON included.
    """
    probes, found = Counter[str](), Counter[str]()
    params = link_params(target) | {"person_needles": needle_list(target.person_ids)}
    for name, statement in _person_id_queries().items():
        probes[name] += len(_SEARCHED_COLUMNS[name]) * len(target.person_ids)
        found[name] += int(tx.fetch(statement, params)[0][0])
    for (name, _, _), statement in zip(_USER_ID_COLUMNS, _user_id_queries(), strict=True):
        probes[name] += len(target.user_ids)
        found[name] += int(tx.fetch(statement, params)[0][0])
    return probes, found


def check_fulltext(tx: Tx, plan: RedactionPlan) -> tuple[int, int]:
    """The number of searches, and of linked rows that the engine's full-text index returns for a
    name although the stored words of the row don't contain it.

    That finds remains inside the engine's index. Rows whose stored words contain the name are
    counted by the checks of rows.
    """
    names = [words.query_tokens(one) for one in plan.unique]
    target = plan.target
    params = link_params(target) | {
        "ids": strict_json.dump(list(target.memories)),
        "trees": strict_json.dump(list(target.trees)),
    }
    found = 0
    for tokens in filter(None, names):
        query = " AND ".join(f'"{token}"' for token in tokens)
        for statement in _FULLTEXT_QUERIES:
            rows = tx.fetch(statement, params | {"query": query})
            # The engine's index leads here, but the row's words lack a token: the entry is stale.
            found += sum(not {*tokens} <= {*f"{row[0]} {row[1]}".split()} for row in rows)
    return len(names) * len(_FULLTEXT_QUERIES), found


def check_vectors(tx: Tx) -> ErasureCheck:
    """Vectors whose memory no longer exists."""
    return ErasureCheck("vectors", 1, int(tx.fetch(_ORPHAN_VECTORS, {})[0][0]))


def find_in_plain_text(tx: Tx, identifiers: Sequence[str]) -> list[str]:
    """Which of these occur in an unencrypted text column of any table."""
    forms = {escape_like(one.lower()): one for one in identifiers}
    params = {"needles": strict_json.dump(sorted(forms))}
    found_texts = {row[0] for one in _plain_text_queries() for row in tx.fetch(one, params)}
    return [one for form, one in forms.items() if form in found_texts]


def _count_query(table: Table, found: ColumnElement[bool]) -> Query:
    return Query(select(func.count()).select_from(table).where(found))


def _user_id_query(name: str, column: str, kind: str | None) -> Query:
    table = people.metadata.tables[name]
    found = InTextList(table.c[column], USERS)
    return _count_query(
        table, found if kind is None else and_(found, table.c[kind] == literal_word("user"))
    )


def _plain_text_query(table: Table) -> Query:
    listed = JsonTextRows(param("needles")).table_valued("value", "place")
    value = cast(listed.c.value, Text)
    contained = or_(*(contains(column, value) for column in _TEXT_COLUMNS[table.name]))
    return Query(select(listed.c.value).where(exists(select(literal("1")).where(contained))))


# These statements cover every text column. They are built at the first use: at import they would
# take longer than all other statements together.
@cache
def _person_id_queries() -> Mapping[str, Query]:
    return {
        table.name: _count_query(
            table,
            or_(*(contains_any(c, param("person_needles")) for c in _SEARCHED_COLUMNS[table.name])),
        )
        for table in TABLES
        if _SEARCHED_COLUMNS[table.name]
    }


@cache
def _user_id_queries() -> Sequence[Query]:
    return [_user_id_query(*place) for place in _USER_ID_COLUMNS]


@cache
def _plain_text_queries() -> Sequence[Query]:
    return [_plain_text_query(table) for table in TABLES if _TEXT_COLUMNS[table.name]]


_QUERY = param("query", memory_index.c.terms)
_LINKED = or_(
    InTextList(memory_index.c.memory_id, param("ids")),
    exists().where(memories.c.id == memory_index.c.memory_id, MEMORY_IN_CONVERSATIONS),
)
_FULLTEXT_QUERIES = (
    Query(
        select(memory_index.c.terms, memory_index.c.stems).where(
            FullTextMatch(_QUERY, memory_index), _LINKED
        )
    ),
    Query(
        select(index.c.terms, index.c.stems).where(
            FullTextMatch(_QUERY, index), InUuidList(index.c.conversation_group_id, param("trees"))
        )
    ),
)
_ORPHAN_VECTORS = _count_query(
    memory_embeddings, ~exists().where(memories.c.id == memory_embeddings.c.memory_id)
)
