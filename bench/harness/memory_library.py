"""A database as it is after users have told much: memories in the spaces of users, each with its
version, its people, its words and its vector, put in by bulk inserts. The rows are made by what the
stores make theirs with; vectors are random, but each is near one question."""

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

import numpy as np

from bench.harness import library, speech
from bench.harness.library import Vectors, owner_name, quiet_settings
from bench.harness.seeds import START, Row, an_id, insert_rows
from recollect.app import application as app
from recollect.audit.model import AuditOutcome, EventKind
from recollect.db.encryption import AesGcmCipher
from recollect.db.transaction import Tx
from recollect.embedding.minilm import MiniLmEmbedder
from recollect.kernel.ids import MemoryId, PersonId, UserId
from recollect.kernel.owner import Owner, OwnerKind
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import (
    Memory,
    MemoryKind,
    MemoryType,
    StoredMemory,
    VersionChange,
)
from recollect.memories.store.rows import MemoryRows, version_id
from recollect.memories.trust import derive_trust
from recollect.people.chat import ChatKind
from recollect.search.model import index_words

ACQUAINTANCES = 5
_EMBEDDINGS = "memory_embeddings (doc, memory_id, embedding, model, dimensions)"
_ROWS = MemoryRows(AesGcmCipher())
_TYPES = (MemoryType.KNOWLEDGE, MemoryType.PREFERENCE, MemoryType.EVENT, MemoryType.IDENTITY)


@dataclass(frozen=True, slots=True)
class Size:
    """How many users there are, and how many memories each of them has."""

    users: int
    each: int

    @property
    def memories(self) -> int:
        """All together."""
        return self.users * self.each


def write(database_url: str, size: Size, *, near: Vectors) -> list[str]:
    """Fill an empty database; the users' names."""
    names = [owner_name(number) for number in range(size.users)]
    asyncio.run(_introduce(database_url, names))
    known = list(_memories(size))
    insert_rows(database_url, {"people": _acquaintances(size), **_chats(names), **_events(known)})
    insert_rows(database_url, _tables(known, words_table=database_url.startswith("sqlite:")))
    library.plant_vectors(database_url, _EMBEDDINGS, _vector_rows(known, near))
    return names


def texts(seed: int) -> Iterator[str]:
    """What users tell, without end; no two are the same."""
    return (f"{text} {number}" for number, text in enumerate(speech.texts(seed)))


def private_chat_of(user: str) -> str:
    """Where the user talks with nobody else."""
    return f"private-{user}"


def group_of(user: str) -> str:
    """Where the user talks with the next one."""
    return f"group-{user}"


async def _introduce(database_url: str, names: Sequence[str]) -> None:
    """Users with a person each. With what a server queues at its first start out of the way, it
    has nothing to do later."""
    built = app.build(quiet_settings(database_url))

    def work(tx: Tx) -> None:
        for number, name in enumerate(names):
            person_id = PersonId(_person_id(number, 0))
            built.context.stores.users.insert_person(
                tx, UserId(name), person_id, name=name, at=START
            )

    try:
        await built.open()
        await built.jobs.indexing.schedule()
        while await built.jobs.worker.run_due():
            pass
        await built.context.database.write(work)
    finally:
        await built.close()


def _memories(size: Size) -> Iterator[StoredMemory]:
    """The users take turns, as they do in life. A third is about the user, a third about somebody
    else, and a third about nobody."""
    told = itertools.islice(texts(seed=size.memories), size.memories)
    for number, text in enumerate(told):
        user, turn = number % size.users, number // size.users
        yield StoredMemory(_memory(number, user, turn, text), Owner.user(owner_name(user)))


def _memory(number: int, user: int, turn: int, text: str) -> Memory:
    told_at = START + timedelta(seconds=number)
    stated_by, subjects = _person_id(user, 0), _subjects(user, turn)
    return Memory(
        id=MemoryId(an_id(4, number)),
        kind=MemoryKind.STATEMENT,
        content=text,
        space=Space(SpaceKind.USER, owner_name(user)),
        type=_TYPES[turn % len(_TYPES)],
        subjects=subjects,
        stated_by=stated_by,
        trust=derive_trust(stated_by, subjects),
        created_at=told_at,
        updated_at=told_at,
        observed_at=told_at,
    )


def _subjects(user: int, turn: int) -> tuple[str, ...]:
    kind = turn % 3
    if kind == 0:
        return (_person_id(user, 0),)
    return (_person_id(user, 1 + turn % ACQUAINTANCES),) if kind == 1 else ()


def _person_id(user: int, place: int) -> str:
    """The user's own person has place 0, those that they know have the others."""
    return an_id(5, user << 8 | place)


def _acquaintances(size: Size) -> list[Row]:
    return [
        {
            "id": _person_id(user, place),
            "name": f"Friend {place}",
            "normal_name": f"friend {place}",
            "created_by_kind": "user",
            "created_by_id": owner_name(user),
            "created_at": START,
            "updated_at": START,
        }
        for user in range(size.users)
        for place in range(1, ACQUAINTANCES + 1)
    ]


def _chats(names: Sequence[str]) -> dict[str, list[Row]]:
    """A private chat of each user, and a group of each with the next."""
    next_names = [*names[1:], names[0]]
    members: dict[str, tuple[str, ...]] = {private_chat_of(name): (name,) for name in names}
    members |= {group_of(one): (one, other) for one, other in zip(names, next_names, strict=True)}
    return {
        "named_chats": [
            {
                "id": chat_id,
                "kind": ChatKind.PRIVATE if len(users) == 1 else ChatKind.GROUP,
                "created_by_kind": OwnerKind.USER,
                "created_by_id": users[0],
                "created_at": START,
            }
            for chat_id, users in members.items()
        ],
        "chat_participations": [
            {
                "chat_id": chat_id,
                "kind": "user",
                "member_id": user,
                "joined_at": START,
            }
            for chat_id, users in members.items()
            for user in users
        ],
    }


def _events(known: Sequence[StoredMemory]) -> dict[str, list[Row]]:
    """One of each memory: that it was written."""
    rows = [
        {
            "id": an_id(6, number),
            "at": stored.memory.created_at,
            "kind": EventKind.MEMORY,
            "action": "write",
            "outcome": AuditOutcome.ALLOWED,
            "actor_user_id": stored.written_by.id,
            "memory_id": stored.memory.id,
            "space_kind": stored.memory.space.kind,
            "space_id": stored.memory.space.id,
            "params": "{}",
        }
        for number, stored in enumerate(known)
    ]
    return {"audit_events": rows}


def _tables(known: Sequence[StoredMemory], *, words_table: bool) -> dict[str, list[Row]]:
    words = [_index_row(number, stored) for number, stored in enumerate(known, 1)]
    tables = {
        "memories": [_plain(_ROWS.to_params(stored)) for stored in known],
        "memory_versions": [_version_row(stored) for stored in known],
        "memory_subjects": [
            {"memory_id": stored.memory.id, "person_id": person_id, "place": 0}
            for stored in known
            for person_id in stored.memory.subjects
        ],
        "memory_index": words,
    }
    if words_table:
        tables["memory_words"] = [
            {"rowid": row["doc"], "words": f"{row['terms']} {row['stems']}"} for row in words
        ]
    return tables


def _plain(row: Row) -> Row:
    """Drivers write the name of a word, or refuse it."""
    return {
        name: str(value) if isinstance(value, StrEnum) else value for name, value in row.items()
    }


def _version_row(stored: StoredMemory) -> Row:
    memory = stored.memory
    row = {
        "id": version_id(memory.id, memory.version),
        "memory_id": memory.id,
        "version": memory.version,
        "change": VersionChange.CREATED,
        "at": memory.created_at,
        "by_kind": stored.written_by.kind,
        "by_id": stored.written_by.id,
        "status": memory.status,
    }
    return _plain(row)


def _index_row(number: int, stored: StoredMemory) -> Row:
    """Rows of an empty database are numbered from 1 on."""
    found = index_words(stored.memory.content)
    return {
        "doc": number,
        "memory_id": stored.memory.id,
        "revision": stored.memory.version,
        "head": found.head,
        "vector_model": MiniLmEmbedder.model,
        "terms": found.terms,
        "stems": found.stems,
        "pending": False,
    }


def _vector_rows(
    known: Sequence[StoredMemory], near: Vectors
) -> Iterator[tuple[library.VectorField, ...]]:
    chance = np.random.default_rng(len(known))
    vectors = library.around(near, len(known), chance)
    for number, (stored, vector) in enumerate(zip(known, vectors, strict=True), 1):
        yield number, stored.memory.id, vector, MiniLmEmbedder.model, MiniLmEmbedder.dimensions
