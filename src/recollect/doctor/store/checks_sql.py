"""The rules of the doctor as SQL: for each check queries for the ids of rows that break it.

A rule is a tuple of queries, whose union is what the check finds. Two statements are made from it:
a page of ids, and the ones of a given list that still break the rule.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Text,
    and_,
    cast,
    exists,
    false,
    literal_column,
    not_,
    or_,
    select,
    true,
    union,
)

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import tasks
from recollect.db.tables.memories import (
    entities,
    erasures,
    memories,
    memory_embeddings,
    memory_index,
    memory_links,
    memory_subjects,
    relations,
)
from recollect.db.tables.people import agents, people
from recollect.doctor.model import DoctorCheck
from recollect.doctor.store.people_sql import PEOPLE_RULES
from recollect.doctor.store.rules_sql import (
    NOT_BEING_ERASED,
    ONE,
    IdQuery,
    exists_row,
    select_ids,
)
from recollect.erasure.model import ErasureStatus
from recollect.kernel.space import AGENT_KINDS, SpaceKind
from recollect.memories.model import MemoryKind, MemoryStatus

_m, _i, _v, _l, _s = (
    table.c for table in (memories, memory_index, memory_embeddings, memory_links, memory_subjects)
)
_p, _r, _e, _t, _w = people.c, relations.c, entities.c, tasks.c, erasures.c
NOW = param("now", _m.created_at)
ACTIVE = and_(
    NOT_BEING_ERASED,
    _m.status == literal_word(MemoryStatus.ACTIVE),
    or_(_m.expires_at.is_(None), _m.expires_at > NOW),
)


def ids_query(check: DoctorCheck) -> Query:
    """A page of the ids that break the rule."""
    ids = _broken_ids(check).c.id
    page = select(ids).where(ids > param("after", _m.id)).order_by(ids).limit(param("limit"))
    return Query(page)


def recheck_query(check: DoctorCheck) -> Query:
    """Those of a list of ids that break the rule."""
    ids = _broken_ids(check).c.id
    return Query(select(ids).where(InTextList(ids, param("ids"))).order_by(ids))


def _broken_ids(check: DoctorCheck) -> Any:
    """Each id once, as a text."""
    return union(*_RULES[check]).subquery("broken")


def _orphan_index() -> tuple[IdQuery, ...]:
    """Index rows of memories that are gone, quarantined or compacted, and vectors without index
    rows. Both `doc` and id must match, as either alone could be that of another memory. Memories
    that are being erased are left to that job."""
    findable = and_(_m.status != literal_word(MemoryStatus.QUARANTINED), _m.compacted_at.is_(None))
    has_rows = exists_row(
        _m.doc == _i.doc,
        _m.id == _i.memory_id,
        or_(_m.erasure_id.is_not(None), findable),
        outer=memory_index,
    )
    words = exists_row(_i.doc == _v.doc, _i.memory_id == _v.memory_id, outer=memory_embeddings)
    return select_ids(_i.memory_id, not_(has_rows)), select_ids(_v.memory_id, not_(words))


def _missing_vectors() -> tuple[IdQuery, ...]:
    """Index rows of active memories without a vector of the model that either don't wait for one,
    or wait while no job makes any. Nothing is missing where there is no model."""
    model = param("model", _v.model)
    # Any job of these kinds makes vectors of whatever is pending, so one is enough for all rows.
    made = exists_row(_v.doc == _i.doc, _v.model == model, outer=memory_index)
    kinds = [literal_word("memory_vectors"), literal_word("memory_vectors_retry")]
    is_queued = exists(select(ONE).where(_t.task_type.in_(kinds)))
    lacking = or_(
        and_(_i.pending == false(), not_(made)), and_(_i.pending == true(), not_(is_queued))
    )
    wanted = model != literal_column("''")
    source = memory_index.join(memories, and_(_m.doc == _i.doc, ACTIVE))
    return (select(_i.memory_id.label("id")).select_from(source).where(wanted, lacking),)


def _has_node(end: ColumnElement[Any]) -> ColumnElement[bool]:
    return or_(
        exists_row(_p.id == end, outer=relations),
        exists_row(_e.id == end, outer=relations),
    )


# An edge without its memory, whose memory is quarantined, or one of whose ends does not exist. An
# end is a person or an entity.
LOST_EDGE = or_(
    not_(
        exists_row(
            _m.id == _r.memory_id,
            _m.status != literal_word(MemoryStatus.QUARANTINED),
            outer=relations,
        )
    ),
    not_(_has_node(_r.from_id)),
    not_(_has_node(_r.to_id)),
)
LONE_ENTITY = not_(
    or_(
        exists_row(_r.from_id == _e.id, outer=entities),
        exists_row(_r.to_id == _e.id, outer=entities),
    )
)


def _unknown_agent() -> tuple[IdQuery, ...]:
    """Memories in spaces and runs of an agent that isn't registered. Memories of an org stay: the
    org still owns them."""
    own = _m.space_kind.in_([literal_word(kind) for kind in sorted({*AGENT_KINDS, SpaceKind.RUN})])
    registered = exists_row(
        agents.c.id == _m.agent_id, agents.c.removed_at.is_(None), outer=memories
    )
    kept = _m.status != literal_word(MemoryStatus.ARCHIVED)
    return (select_ids(_m.id, NOT_BEING_ERASED, own, kept, not_(registered)),)


def _conflicts() -> tuple[IdQuery, ...]:
    # Conflicts are linked both ways, so both memories of a pair are found.
    one, other = memories.alias("one").c, memories.alias("other").c

    def stands(row: Any) -> ColumnElement[bool]:
        return and_(
            row.status == literal_word(MemoryStatus.ACTIVE),
            row.erasure_id.is_(None),
            or_(row.expires_at.is_(None), row.expires_at > NOW),
        )

    pair = and_(one.id == _l.from_id, other.id == _l.to_id, _l.kind == literal_word("conflict"))
    return (select(one.id.label("id")).where(pair, stands(one), stands(other)),)


_old = memories.alias("old")
_o = _old.c


def _has_more_subjects(one: Any, other: Any) -> ColumnElement[bool]:
    """Whether memory `one` has a subject that memory `other` has not."""
    of_one, of_other = memory_subjects.alias().c, memory_subjects.alias().c
    shared = exists(
        select(ONE).where(of_other.memory_id == other, of_other.person_id == of_one.person_id)
    )
    return exists(select(ONE).where(of_one.memory_id == one, not_(shared)))


# An older statement that says the same: equal normalised text, space, subjects, speaker, origin and
# chat. Ties in `created_at` are broken by id, so that of two duplicates exactly one is the older.
OLDER_EQUAL = and_(
    _o.erasure_id.is_(None),
    _o.status == literal_word(MemoryStatus.ACTIVE),
    or_(_o.expires_at.is_(None), _o.expires_at > NOW),
    _o.kind == literal_word(MemoryKind.STATEMENT),
    _o.space_kind == _m.space_kind,
    _o.space_id == _m.space_id,
    _o.fold == _m.fold,
    _o.stated_by.is_not_distinct_from(_m.stated_by),
    _o.origin == _m.origin,
    _o.learned_in.is_not_distinct_from(_m.learned_in),
    or_(_o.created_at < _m.created_at, and_(_o.created_at == _m.created_at, _o.id < _m.id)),
    not_(_has_more_subjects(_m.id, _o.id)),
    not_(_has_more_subjects(_o.id, _m.id)),
)
OLDER = _old


def _near_duplicates() -> tuple[IdQuery, ...]:
    older = exists(select(ONE).select_from(_old).where(OLDER_EQUAL).correlate(memories))
    # An empty `fold` belongs to rows that are never compared.
    statement = and_(_m.kind == literal_word(MemoryKind.STATEMENT), _m.fold != literal_column("''"))
    return (select_ids(_m.id, ACTIVE, statement, _m.bare_names.is_(None), older),)


def _clock() -> tuple[IdQuery, ...]:
    # Times in the future, beyond the tolerance for clocks that differ, and updates before creation.
    ahead = param("ahead", _m.created_at)
    times = (_m.created_at, _m.updated_at, _m.observed_at)
    return (
        select_ids(
            _m.id, NOT_BEING_ERASED, or_(_m.updated_at < _m.created_at, *(t > ahead for t in times))
        ),
    )


# The name of an erasure's job is made from its id. A job that is stuck still counts as one here: it
# is reported under its own id.
_HAS_JOB = exists_row(_t.task_name == literal_column("'erase:'").concat(_w.id), outer=erasures)
_UNFINISHED = _w.status.in_(
    [literal_word(ErasureStatus.RUNNING), literal_word(ErasureStatus.INCOMPLETE)]
)
LOST_ERASURE = and_(_UNFINISHED, not_(_HAS_JOB))
_LATE_ERASURE = and_(
    _w.status == literal_word(ErasureStatus.INCOMPLETE),
    _w.created_at <= param("overdue", _w.created_at),
)

_RULES: Mapping[DoctorCheck, tuple[IdQuery, ...]] = {
    DoctorCheck.ORPHAN_INDEX: _orphan_index(),
    DoctorCheck.MISSING_VECTORS: _missing_vectors(),
    DoctorCheck.ORPHAN_EDGES: (select_ids(_r.id, LOST_EDGE), select_ids(_e.id, LONE_ENTITY)),
    DoctorCheck.UNKNOWN_ORIGIN: (
        select_ids(
            _m.id, ACTIVE, or_(_m.origin == literal_word("unknown"), _m.bare_names.is_not(None))
        ),
    ),
    DoctorCheck.UNKNOWN_AGENT: _unknown_agent(),
    **PEOPLE_RULES,
    DoctorCheck.CONFLICTS: _conflicts(),
    DoctorCheck.NEAR_DUPLICATES: _near_duplicates(),
    DoctorCheck.STUCK_JOBS: (
        select_ids(cast(_t.id, Text), _t.stuck_at.is_not(None)),
        select_ids(_w.id, or_(LOST_ERASURE, _LATE_ERASURE)),
    ),
    DoctorCheck.CLOCK: _clock(),
}
