"""Disclosure is one predicate over columns, joins on the judged person, and parameters.

The statement is written from the contract's steps, apart from the code, and runs in the SQLite of
the standard library. So it is a second opinion on every case, and the proof that a row can carry
all that the rule needs.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from recollect.people.chat import ChatKind
from recollect.visibility.disclosure import (
    AskerView,
    ChatView,
    DisclosureSettings,
    MemoryView,
    decide_disclosure,
)
from tests.visibility import disclosure_cases as cases

TABLES = """
CREATE TABLE memory (space_kind, space_id, sensitivity, portable, origin, learned_in, stated_by,
                     bare_names, space_allows, active);
CREATE TABLE subject (person_id);
CREATE TABLE witness (person_id);
CREATE TABLE space_org (org_id);
CREATE TABLE asker_user (user_id);
CREATE TABLE asker_chat (chat_id);
CREATE TABLE asker_org (org_id);
CREATE TABLE participant (person_id);
CREATE TABLE participant_user (user_id);
"""

# `inside`: p owns the space or takes part in it. `q_knows`: a confirmed participant owns the
# space, stated it or was there. A NULL `:chat` is the direct context.
PREDICATE = """
WITH facts AS (
  SELECT *,
    CASE space_kind WHEN 'user' THEN space_id IN (SELECT user_id FROM asker_user)
                    WHEN 'chat' THEN space_id IN (SELECT chat_id FROM asker_chat)
                    ELSE space_allows END AS inside,
    bare_names OR EXISTS (SELECT 1 FROM subject) AS has_subjects,
    :p IS NOT NULL AND :p IN (SELECT person_id FROM subject) AS s,
    :p IS NOT NULL AND space_kind = 'user' AND space_id IN (SELECT user_id FROM asker_user) AS o,
    :p IS NOT NULL AND stated_by IS :p AS t,
    :p IS NOT NULL AND origin = 'chat' AND learned_in IS NOT NULL
      AND :p IN (SELECT person_id FROM witness) AS w,
    sensitivity = 'public' AS is_public,
    EXISTS (SELECT 1 FROM subject JOIN participant USING (person_id)) AS subject_there,
    (space_kind = 'user' AND space_id IN (SELECT user_id FROM participant_user))
      OR (stated_by IS NOT NULL AND stated_by IN (SELECT person_id FROM participant))
      OR (origin = 'chat' AND learned_in IS NOT NULL
          AND EXISTS (SELECT 1 FROM witness JOIN participant USING (person_id))) AS q_knows
  FROM memory)
SELECT active
  AND (space_kind NOT IN ('user', 'chat') OR inside
       OR EXISTS (SELECT 1 FROM space_org JOIN asker_org USING (org_id)))
  AND (portable OR (:chat IS NULL AND inside)
       OR (:chat IS NOT NULL AND origin = 'chat' AND learned_in IS :chat))
  AND CASE
    WHEN space_kind IN ('agent_public', 'agent', 'org') THEN space_allows
    WHEN space_kind IN ('agent_private', 'run') THEN space_allows AND (is_public OR NOT :in_group)
    ELSE
      (:chat IS NULL AND space_kind = 'user' AND inside)
      OR (space_kind = 'chat' AND (is_public OR NOT has_subjects)
          AND (space_id IS :chat OR (:chat IS NULL AND inside)))
      OR (NOT (origin = 'unknown' AND :closed) AND (inside OR NOT bare_names) AND CASE
        WHEN NOT :in_group THEN CASE sensitivity
          WHEN 'public' THEN s OR o OR t OR w OR (origin = 'unknown' AND has_subjects)
                             OR (:p IS NOT NULL AND inside AND NOT has_subjects)
          WHEN 'personal' THEN s OR o
          ELSE s OR (o AND t) END
        WHEN is_public AND has_subjects
          THEN subject_there OR q_knows OR (:anyone AND :humans > 1)
        WHEN is_public THEN o
        WHEN :subject_present THEN subject_there
        ELSE sensitivity = 'personal' AND s END)
    END
FROM facts
"""


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    """Empty tables, shared: each example fills them and rolls back."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        yield connection


@hypothesis_settings(max_examples=300)
@given(cases.memories, cases.people | cases.agents, cases.chats, cases.settings)
def test_the_predicate_shows_what_the_function_shows(
    database: sqlite3.Connection,
    memory: MemoryView,
    asker: AskerView,
    chat: ChatView | None,
    settings: DisclosureSettings,
) -> None:
    fill(database, memory, asker, chat)
    parameters = {
        "p": asker.person_id,
        "chat": chat.id if chat else None,
        "in_group": chat is not None and chat.kind is ChatKind.GROUP,
        "closed": settings.unknown_origin == "closed",
        "subject_present": settings.sensitive_in_groups == "subject_present",
        "anyone": settings.public_in_groups == "anyone",
        "humans": chat.humans if chat else 0,
    }
    (shown,) = database.execute(PREDICATE, parameters).fetchone()
    database.rollback()
    assert bool(shown) == decide_disclosure(memory, asker, chat, settings).allowed


def fill(
    database: sqlite3.Connection, memory: MemoryView, asker: AskerView, chat: ChatView | None
) -> None:
    """One memory, and what is known of those around it."""
    row = (
        memory.space.kind,
        memory.space.id,
        memory.sensitivity,
        memory.portable,
        memory.origin,
        memory.learned_in,
        memory.stated_by,
        memory.bare_names,
        memory.space_allows,
        memory.active,
    )
    database.execute("INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    sets: dict[str, frozenset[str]] = {
        "subject": frozenset(memory.subjects),
        "witness": frozenset(memory.witnesses),
        "space_org": frozenset(memory.orgs),
        "asker_user": frozenset(asker.users),
        "asker_chat": frozenset(asker.chats),
        "asker_org": frozenset(asker.orgs),
        "participant": frozenset(chat.people if chat else ()),
        "participant_user": frozenset(chat.users if chat else ()),
    }
    for table, members in sets.items():
        database.executemany(f"INSERT INTO {table} VALUES (?)", [(member,) for member in members])
