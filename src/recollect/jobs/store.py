"""The durable job queue in the table `tasks`. A claim is a lease: a dead worker's jobs come back.

`retry_at` is both the time a job is due and the end of its lease. A claim moves it into the future
and counts the attempt, so nothing else marks a job as running.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    and_,
    case,
    delete,
    exists,
    func,
    literal_column,
    null,
    or_,
    select,
    update,
)

from recollect.db.engines.expressions import insert_if_absent
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import tasks
from recollect.db.transaction import RetryTransaction, Tx
from recollect.jobs.model import Job, NewJob, QueueState
from recollect.kernel import strict_json
from recollect.kernel.clock import Clock
from recollect.kernel.ids import Ids

_t = tasks.c


class SqlJobs:
    """Implements `JobStore` on both engines."""

    def __init__(self, clock: Clock, ids: Ids) -> None:
        self._clock = clock
        self._ids = ids

    def insert(self, tx: Tx, job: NewJob) -> None:
        params = {
            "id": self._ids.new(),
            "name": job.name,
            "type": job.type,
            "body": strict_json.dump(job.body),
            "at": self._clock.now(),
            "due_at": job.due_at,
        }
        tx.run(_INSERT, params)

    def insert_and_lock(self, tx: Tx, job: NewJob) -> None:
        self.insert(tx, job)
        if tx.fetch_first(_LOCK_NAME, {"name": job.name}) is None:
            # The job that had the name was finished between the two statements.
            raise RetryTransaction

    def claim(
        self, tx: Tx, *, types: Sequence[str], claim_id: str, lease_seconds: int, limit: int
    ) -> list[Job]:
        now = self._clock.now()
        due = tx.fetch(_due_query(tuple(types)), {"now": now, "limit": limit})
        until = now + timedelta(seconds=lease_seconds)
        jobs = [Job(row[0], row[1], strict_json.load(row[2]), row[3] + 1) for row in due]
        for job in jobs:
            tx.run(_CLAIM, {"id": job.id, "claim_id": claim_id, "until": until})
        return jobs

    def renew(self, tx: Tx, job_id: str, *, claim_id: str, lease_seconds: int) -> bool:
        until = self._clock.now() + timedelta(seconds=lease_seconds)
        return tx.run_and_count(_RENEW, {"id": job_id, "claim_id": claim_id, "until": until}) == 1

    def finish(self, tx: Tx, job_id: str, *, claim_id: str) -> None:
        tx.run(_FINISH, {"id": job_id, "claim_id": claim_id})

    def fail(
        self, tx: Tx, job_id: str, *, claim_id: str, error: str, retry_at: datetime, stuck: bool
    ) -> None:
        params = {"id": job_id, "claim_id": claim_id, "error": error, "retry_at": retry_at}
        tx.run(_FAIL, params | {"stuck_at": self._clock.now() if stuck else None})

    def clear_name(self, tx: Tx, job_id: str) -> None:
        tx.run(_CLEAR_NAME, {"id": job_id})

    def rename(self, tx: Tx, job_id: str, *, type_: str, name: str) -> bool:
        return tx.run_and_count(_RENAME, {"id": job_id, "type": type_, "name": name}) == 1

    def release(self, tx: Tx, job_id: str, *, claim_id: str, retry_at: datetime) -> None:
        tx.run(_RELEASE, {"id": job_id, "claim_id": claim_id, "until": retry_at})

    def revive_stuck(self, tx: Tx) -> int:
        return tx.run_and_count(_REVIVE, {"now": self._clock.now()})

    def fetch_queue_state(self, tx: Tx, *, types: Sequence[str] | None = None) -> QueueState:
        statement = _state_query(None if types is None else tuple(types))
        row = tx.fetch_first(statement, {"now": self._clock.now()})
        waiting, stuck, oldest = row if row else (0, 0, None)
        return QueueState(int(waiting or 0), int(stuck or 0), oldest)

    def fetch_bodies(self, tx: Tx, type_: str) -> list[dict[str, Any]]:
        return [strict_json.load(row[0]) for row in tx.fetch(_BODIES, {"type": type_})]


@cache
def _due_query(types: tuple[str, ...]) -> Query:
    return Query(
        select(_t.id, _t.task_type, _t.task_body, _t.retry_count)
        .where(
            _t.stuck_at.is_(None),
            _t.retry_at <= param("now", _t.retry_at),
            _t.task_type.in_([literal_word(type_) for type_ in types]),
        )
        .order_by(_t.retry_at, _t.id)
        .limit(param("limit"))
        # Workers that claim at the same time get different jobs instead of waiting for each other.
        .with_for_update(skip_locked=True)
    )


@cache
def _state_query(types: tuple[str, ...] | None) -> Query:
    query = select(
        func.sum(case((and_(_t.stuck_at.is_(None), _WAITING), _ONE), else_=_ZERO)),
        func.sum(case((_t.stuck_at.is_not(None), _ONE), else_=_ZERO)),
        func.min(case((_t.stuck_at.is_(None), _t.retry_at))),
    ).select_from(tasks)
    if types is not None:
        query = query.where(_t.task_type.in_([literal_word(type_) for type_ in types]))
    return Query(query)


_ZERO: ColumnElement[int] = literal_column("0")
_ONE: ColumnElement[int] = literal_column("1")
_ID = param("id", _t.id)
_NAME = param("name", _t.task_name)
_CLAIM_ID = param("claim_id", _t.claim_id)
# A worker whose lease ended must not touch a job that another one has claimed since.
_UNDER_CLAIM = (_t.id == _ID, _t.claim_id == _CLAIM_ID)
_UNTIL = param("until", _t.retry_at)

_INSERT = Query(
    insert_if_absent(tasks, "task_name").values(
        id=_ID,
        task_name=_NAME,
        task_type=param("type", _t.task_type),
        task_body=param("body", _t.task_body),
        created_at=param("at", _t.created_at),
        retry_at=param("due_at", _t.retry_at),
    )
)
# FOR KEY SHARE: the weakest lock that a change or removal of the name waits for. Writers share it.
_LOCK_NAME = Query(
    select(_t.id).where(_t.task_name == _NAME).with_for_update(read=True, key_share=True)
)
_BODIES = Query(select(_t.task_body).where(_t.task_type == param("type", _t.task_type)))
_CLAIM = Query(
    update(tasks)
    .where(_t.id == _ID)
    .values(claim_id=_CLAIM_ID, retry_at=_UNTIL, retry_count=_t.retry_count + 1)
)
_RENEW = Query(update(tasks).where(*_UNDER_CLAIM).values(retry_at=_UNTIL))
_FINISH = Query(delete(tasks).where(*_UNDER_CLAIM))
_FAIL = Query(
    update(tasks)
    .where(*_UNDER_CLAIM)
    .values(
        last_error=param("error", _t.last_error),
        retry_at=param("retry_at", _t.retry_at),
        stuck_at=param("stuck_at", _t.stuck_at),
        claim_id=null(),
    )
)
_CLEAR_NAME = Query(update(tasks).where(_t.id == _ID).values(task_name=null()))
_other = tasks.alias("other")
_RENAME = Query(
    update(tasks)
    .where(_t.id == _ID, ~exists(select(_ONE).where(_other.c.task_name == _NAME)))
    .values(task_type=param("type", _t.task_type), task_name=_NAME)
)
_RELEASE = Query(
    update(tasks)
    .where(*_UNDER_CLAIM)
    .values(claim_id=null(), retry_at=_UNTIL, retry_count=_t.retry_count - 1)
)
_REVIVE = Query(
    update(tasks)
    .where(_t.stuck_at.is_not(None))
    .values(stuck_at=null(), retry_count=0, retry_at=param("now", _t.retry_at))
)
# A job counts as waiting if it is due, claimed or was tried before. One that is planned for later
# and was never tried does not.
_WAITING = or_(
    _t.retry_at <= param("now", _t.retry_at), _t.claim_id.is_not(None), _t.retry_count > _ZERO
)
