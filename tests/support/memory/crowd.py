"""A user, Ann, with a few memories, beside a crowd that has told much. She may know none of that.

Ann has a private chat and a group with Bob. The crowd has users, chats, agents and events of its
own; some share Ann's org. It is stored once and then doubled inside the database.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from recollect.agents.model import Agent
from recollect.audit.model import Event, EventKind
from recollect.db.tables.memories import memories
from recollect.db.transaction import Tx
from recollect.kernel.ids import AgentId, ChatId, OrgId
from recollect.kernel.owner import Owner
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import Memory, MemoryOrigin, Sensitivity, StoredMemory
from recollect.people.chat import Chat, ChatKind, Participant, ParticipantKind
from recollect.search.model import index_words
from tests.support.builders import NOON
from tests.support.memory.builders import a_memory
from tests.support.storage import Storage

ANN, BOB = "ann", "bob"
PRIVATE_CHAT, GROUP = ChatId("c"), ChatId("g")
OWN = 20
# Two of each kind of memory that the crowd has.
_CROWD = 16
# The crowd's ids have this in them.
_FAR = "far-"
_JOIN_ORG = "INSERT INTO user_orgs (user_id, org_id) VALUES (:user, 'default')"


def tell(storage: Storage, user: str, count: int) -> None:
    """Memories in the user's space, stated by them and about them, with their events."""
    told = [_own_memory(storage, user, number) for number in range(count)]
    storage.write(lambda tx: _store(storage, tx, told))


def gather_crowd(storage: Storage) -> None:
    """Ann, Bob and their chats; then the crowd, 64 times what a few of them have told."""
    for user in (ANN, BOB):
        tell(storage, user, OWN)
    crowd = [_crowd_memory(storage, number) for number in range(_CROWD)]

    def work(tx: Tx) -> None:
        _open_chat(storage, tx, PRIVATE_CHAT, ChatKind.PRIVATE, [ANN])
        _open_chat(storage, tx, GROUP, ChatKind.GROUP, [ANN, BOB])
        for number in range(_CROWD):
            user = f"{_FAR}{number}"
            chat_id = ChatId(f"{_FAR}chat-{number}")
            _open_chat(storage, tx, chat_id, ChatKind.GROUP, [user])
            storage.stores.agents.insert(tx, _agent(number, Owner.user(user)))
        _store(storage, tx, crowd)

    storage.write(work)
    for user in (ANN, BOB, *(f"{_FAR}{number}" for number in range(_CROWD))):
        storage.database.rows(_JOIN_ORG, user=user)
    double(storage, times=7, first=0)


def double(storage: Storage, *, times: int, first: int) -> None:
    """Everything of the crowd once more, of others, so many times over."""
    for number in range(first, first + times):
        for statement in _doubling(storage.engine.name):
            far = {"far": f"%{_FAR}%"} if ":far" in statement else {}
            storage.database.rows(statement.replace("#", f"{number}-"), **far)


def _own_memory(storage: Storage, user: str, number: int) -> Memory:
    at = NOON - timedelta(minutes=number)
    person_id = f"p-{user}"
    return a_memory(
        storage,
        space=Space(SpaceKind.USER, user),
        stated_by=person_id,
        subjects=(person_id,),
        created_at=at,
        updated_at=at,
        observed_at=at,
    )


def _crowd_memory(storage: Storage, number: int) -> Memory:
    """Older than what Ann has told, and newer, in turn."""
    at = NOON + timedelta(hours=1 if number % 2 else -1000)
    user, person_id, agent_id = f"{_FAR}{number}", f"p-{_FAR}{number}", f"{_FAR}agent-{number}"
    agents = {"agent_id": AgentId(agent_id), "org_id": OrgId("default")}
    variants: tuple[dict[str, Any], ...] = (
        {},
        {"sensitivity": Sensitivity.PERSONAL, "origin": MemoryOrigin.UNKNOWN},
        {"learned_in": ChatId(f"{_FAR}chat-{number}"), "origin": MemoryOrigin.CHAT},
        {"space": Space(SpaceKind.CHAT, f"{_FAR}chat-{number}"), "subjects": ()},
        {"space": Space(SpaceKind.AGENT_PRIVATE, agent_id), **agents},
        {"space": Space(SpaceKind.RUN, f"{_FAR}run-{number}"), **agents},
        {"space": Space(SpaceKind.ORG, f"{_FAR}org-{number}"), **agents},
        {"subjects": ()},
    )
    fields: dict[str, Any] = {
        "id": f"{_FAR}m-{number}",
        "space": Space(SpaceKind.USER, user),
        "stated_by": person_id,
        "subjects": (person_id,),
        "origin": MemoryOrigin.DIRECT,
        "created_at": at,
        "updated_at": at,
        "observed_at": at,
    }
    return a_memory(storage, **(fields | variants[number // 2]))


def _store(storage: Storage, tx: Tx, told: list[Memory]) -> None:
    stores = storage.stores
    for memory in told:
        stored = stores.memories.insert(tx, StoredMemory(memory, Owner.user(memory.space.id)))
        assert stored is not None
        stores.memory_search.put(tx, stored, index_words(memory.content), pending=False)
        for event in _events(storage, memory):
            stores.events.insert(tx, event)


def _events(storage: Storage, memory: Memory) -> Iterator[Event]:
    """That it was written, and something that belongs to no space."""
    written = Event(
        storage.new_id(),
        memory.created_at,
        EventKind.MEMORY,
        "write",
        memory_id=memory.id,
        agent_id=memory.agent_id,
        space_kind=str(memory.space.kind),
        space_id=memory.space.id,
    )
    yield written
    if memory.id.startswith(_FAR):
        yield Event(
            storage.new_id(), memory.created_at, EventKind.PERSON, "create", memory_id=memory.id
        )


def _open_chat(storage: Storage, tx: Tx, chat_id: ChatId, kind: ChatKind, users: list[str]) -> None:
    creator = Owner.user(users[0])
    storage.stores.chats.insert(
        tx, Chat(id=chat_id, kind=kind, created_by=creator, created_at=NOON)
    )
    for user in users:
        storage.stores.chats.join(tx, chat_id, Participant(ParticipantKind.USER, user, NOON))


def _agent(number: int, owner: Owner) -> Agent:
    return Agent(
        id=AgentId(f"{_FAR}agent-{number}"),
        name=None,
        description=None,
        owner=owner,
        org_id=OrgId("default"),
        space_mode=None,
        created_by=owner,
        created_at=NOON,
        updated_at=NOON,
    )


def _doubling(engine: str) -> Iterator[str]:
    renamed = ("id", "space_id", "stated_by", "learned_in", "agent_id")
    names = [column.name for column in memories.columns if column.name != "doc"]
    yield _copy("memories", "id", names, renamed)
    yield _copy("memory_subjects", "memory_id", ["memory_id", "person_id", "place"])
    versions = ["id", "memory_id", "version", "change", "at", "by_kind", "by_id", "status"]
    yield _copy("memory_versions", "memory_id", versions)
    yield """
    INSERT INTO memory_index (doc, memory_id, revision, head, terms, stems, pending)
    SELECT doc, id, 1, 0, 'tea', '', false FROM memories
    WHERE doc NOT IN (SELECT doc FROM memory_index)
    """
    chats = ["id", "kind", "created_by_kind", "created_by_id", "created_at"]
    yield _copy("named_chats", "id", chats)
    yield _copy("user_orgs", "user_id", ["user_id", "org_id"])
    members = ["chat_id", "kind", "member_id", "joined_at"]
    yield _copy("chat_participations", "chat_id", members)
    agents = ["id", "owner_kind", "owner_id", "org_id", "created_by_kind", "created_by_id"]
    yield _copy("agents", "id", [*agents, "created_at", "updated_at"], ("id", "owner_id"))
    events = ["at", "kind", "action", "outcome", "memory_id", "agent_id", "space_kind", "space_id"]
    new_id = "gen_random_uuid()" if engine == "postgres" else "lower(hex(randomblob(16)))"
    yield _copy(
        "audit_events", "memory_id", events, ("memory_id", "agent_id", "space_id"), id=new_id
    )


_RENAMED = ("id", "user_id", "memory_id", "person_id", "created_by_id", "chat_id", "member_id")


def _copy(
    table: str,
    key: str,
    names: list[str],
    renamed: tuple[str, ...] = _RENAMED,
    **computed: str,
) -> str:
    """An INSERT of the crowd's rows of a table under new ids."""
    values = {name: f"'#' || {name}" if name in renamed else name for name in names} | computed
    into = f"INSERT INTO {table} ({', '.join(values)})"
    return f"{into} SELECT {', '.join(values.values())} FROM {table} WHERE {key} LIKE :far"
