"""A database from before presence needed consent: who did something in a chat has consented."""

import json
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from recollect.db import migrations
from recollect.kernel.clock import to_text
from tests.conftest import Host
from tests.support.builders import NOON
from tests.support.bulk import insert
from tests.support.engines import TestDatabase
from tests.support.memory.callers import Caller
from tests.support.storage import an_engine

pytestmark = pytest.mark.amendment(2)

# The last file that knows nothing of consent.
BEFORE = 11
TREE = str(uuid.UUID(int=7, version=4))
EARLY, MIDDLE, LATE = (to_text(NOON + timedelta(hours=hours)) for hours in (0, 1, 2))
# Everybody has a person; what they stated is theirs by that.
USERS = ("owner", "author", "back", "stater", "quiet", "maker", "guest")


@pytest.fixture
def old(new_database: Callable[[], TestDatabase], monkeypatch: pytest.MonkeyPatch) -> TestDatabase:
    """A tree and a named chat, and what their participants did there."""
    database, known = new_database(), migrations._migration_files
    with monkeypatch.context() as patch:
        patch.setattr(
            migrations,
            "_migration_files",
            lambda name: (file for file in known(name) if file.number <= BEFORE),
        )
        assert migrations.migrate(an_engine(database)).to_version == BEFORE
    put(database, "person_users", *({"user_id": u, "person_id": f"{u}-person"} for u in USERS))
    put_tree(database)
    put_named_chat(database)
    return database


def put_tree(database: TestDatabase) -> None:
    tree = {"conversation_group_id": TREE}
    put(
        database,
        "conversation_groups",
        {"id": TREE, "created_at": EARLY, "last_seq": 2, "last_at": MIDDLE},
    )
    times = {"created_at": EARLY, "updated_at": EARLY}
    put(database, "conversations", {"id": TREE, "owner_user_id": "owner"} | tree | times)
    members = {"owner": "owner", "author": "writer", "back": "writer", "stater": "reader"}
    for user, level in (members | {"quiet": "manager"}).items():
        put(
            database,
            "conversation_memberships",
            tree | {"user_id": user, "access_level": level, "created_at": EARLY},
        )
        stays = [(EARLY, MIDDLE), (LATE, None)] if user == "back" else [(EARLY, None)]
        for joined_at, left_at in stays:
            stay = {"user_id": user, "joined_at": joined_at, "left_at": left_at}
            put(database, "participations", tree | stay)
    for seq, user in enumerate(("author", "back"), 1):
        put(database, "entries", an_entry(seq, user))
    put(database, "memories", a_memory("told-in-tree", "stater", learned_in=TREE))


def put_named_chat(database: TestDatabase) -> None:
    made = {"created_by_kind": "user", "created_by_id": "maker", "created_at": EARLY}
    put(database, "named_chats", {"id": "room", "kind": "group"} | made)
    for kind, id_ in (
        ("user", "maker"),
        ("user", "stater"),
        ("person", "guest-person"),
        ("user", "quiet"),
        ("agent", "maker"),
    ):
        stay = {"chat_id": "room", "kind": kind, "member_id": id_, "joined_at": EARLY}
        put(database, "chat_participations", stay)
    in_room = {"space_kind": "chat", "space_id": "room"}
    put(
        database,
        "memories",
        a_memory("of-room", "stater", **in_room),
        a_memory("of-guest", "guest", **in_room),
        a_memory("elsewhere", "quiet", learned_in="another room"),
    )


def put(database: TestDatabase, table: str, *rows: dict[str, Any]) -> None:
    insert(database, table, list(rows[0]), [list(row.values()) for row in rows])


def an_entry(seq: int, user: str) -> dict[str, Any]:
    return {
        "id": str(uuid.uuid4()),
        "conversation_id": TREE,
        "conversation_group_id": TREE,
        "seq": seq,
        "user_id": user,
        "channel": "history",
        "content_type": "history",
        "content": json.dumps([{"role": "USER", "text": "hello"}]),
        "created_at": EARLY,
    }


def a_memory(id_: str, stater: str, **members: Any) -> dict[str, Any]:
    row = {
        "id": id_,
        "kind": "statement",
        "content": json.dumps("The kettle is new."),
        "space_kind": "user",
        "space_id": stater,
        "type": "knowledge",
        "sensitivity": "public",
        "portable": True,
        "has_subjects": False,
        "stated_by": f"{stater}-person",
        "learned_in": None,
        "origin": "chat",
        "verified": True,
        "trust": "fact",
        "expiry_rule": "never",
        "source": "api",
        "status": "active",
        "written_by_kind": "user",
        "written_by_id": stater,
        "fold": "",
    }
    times = ("observed_at", "created_at", "updated_at", "status_at")
    return row | dict.fromkeys(times, MIDDLE) | members


def confirmed(caller: Caller, chat_id: str) -> dict[str, list[bool]]:
    """Of each participant, whether each stay is confirmed; always from its beginning on."""
    found: dict[str, list[bool]] = {}
    for stay in caller.lists("/chats/{}/participants", chat_id, include_left=True):
        assert stay["confirmed_at"] in (None, stay["joined_at"])
        who = stay["user_id"] or stay["agent_id"] or stay["person_id"]
        found.setdefault(who, []).append(stay["confirmed_at"] is not None)
    return found


def test_who_made_owned_or_wrote_is_confirmed_and_who_was_only_there_is_not(
    host: Host, old: TestDatabase
) -> None:
    with host(old) as world:
        users = {name: Caller(world.named(name), world) for name in ("owner", "maker")}
        assert confirmed(users["owner"], TREE) == {
            "owner": [True],
            "author": [True],
            "back": [True, False],
            "stater": [True],
            "quiet": [False],
        }
        room = users["maker"].lists("/chats/{}/participants", "room")
        seen = {
            (stay["person_id"] or stay["agent_id"]): stay["confirmed_at"] is not None
            for stay in room
        }
        assert seen == {
            "maker-person": True,
            "stater-person": True,
            "guest-person": True,
            "quiet-person": False,
            "maker": False,
        }
