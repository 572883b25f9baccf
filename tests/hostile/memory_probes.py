"""What a stranger may try at every operation of the memory family.

A text that begins with `$` stands for an id: `$memory`, `$chat` and so on are somebody else's,
those with `my_` the stranger's own. `SAID` is a word of what is hidden, `SHARED` one that the
stranger has said too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SAID = "zanzibarquux"
SHARED = "teapot"


@dataclass(frozen=True, slots=True)
class Probe:
    """One call: the ids of the path, the query, the body, the key under which it is sent. A list
    as body of an operation that takes lines is one line for each item."""

    operation: str
    path: dict[str, str]
    query: dict[str, str]
    body: Any
    key: str | None = None

    @property
    def names(self) -> list[str]:
        """The ids that it needs, without the `$`."""
        return sorted({text[1:] for text in _texts([self.path, self.query, self.body])})


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str) and value.startswith("$"):
        yield value


def probe(operation: str, body: Any = None, *, query: Any = None, **path: str) -> Probe:
    """A call in short."""
    return Probe(operation, path, query or {}, body)


MINE: dict[str, Any] = {"space": {"kind": "user"}}
KEY = "a key of theirs"
SENT_UNDER_KEY: dict[str, Any] = {
    "createMemory": {"content": "The same words of both"} | MINE,
    "createPerson": {"name": "Somebody of both"},
}
WHY = {"justification": "to see"}
PAST = "2100-01-01T00:00:00Z"

# Where somebody may look for memories, by names that a query and a body share.
PLACES: tuple[dict[str, Any], ...] = (
    {"agent_id": "$agent"},
    {"agent_id": "$agent", "visibility": "private"},
    {"agent_id": "$agent", "scope": "session"},
    {"user_id": "$user"},
    {"chat_id": "$chat"},
    {"chat_id": "$my_chat"},
    {"chat_id": "$my_private_chat"},
    {"chat_id": "$my_chat", "user_id": "$user"},
    {"chat_id": "$my_chat", "asker_id": "$user"},
    {"run_id": "$run"},
    {"scope": "session"},
    {"scope": "org"},
    {"scope": "long_term"},
    {"user_id": "$me", "stated_by": "$person"},
    {"scope": "long_term", "key": SAID},
    {"scope": "long_term", "include_expired": True},
    {"scope": "long_term", "as_of": PAST},
    {"scope": "long_term", "valid_at": PAST},
    {"scope": "long_term", "sensitivity": "sensitive"},
    *({"scope": "long_term", "status": one} for one in ("superseded", "expired", "archived")),
    {"scope": "long_term", "status": "quarantined"},
)
# The same where a list has another form in a query.
LISTED: tuple[tuple[str, Any, str], ...] = (
    ("spaces", "all", "all"),
    ("spaces", [{"kind": "chat", "id": "$chat"}], "chat"),
    ("spaces", [{"kind": "user"}], "user"),
    ("subjects", ["$person"], "$person"),
    ("tags", [SAID], SAID),
)


def _looking(operation: str) -> Iterator[Probe]:
    yield from (probe(operation, query=_asked(place)) for place in PLACES)
    for name, _, text in LISTED:
        yield probe(operation, query={"scope": "long_term", name: text})
    yield probe(operation, query={"spaces": "all", "limit": "1"})


def _finding(operation: str, **members: Any) -> Iterator[Probe]:
    asked = {"query": f"{SHARED} {SAID}"} | members
    yield from (probe(operation, asked | place) for place in PLACES)
    for name, value, _ in LISTED:
        yield probe(operation, asked | {"scope": "long_term", name: value})
    yield probe(operation, asked | {"spaces": "all"})
    yield probe(operation, {"query": SAID, "spaces": "all"})


def _asked(place: dict[str, Any]) -> dict[str, str]:
    return {name: "true" if value is True else value for name, value in place.items()}


def _about_a_memory(name: str, body: Any = None, *queries: dict[str, str]) -> Iterator[Probe]:
    for query in queries or ({},):
        yield probe(name, body, query=query, memory_id="$memory")
        yield probe(name, body, query=query, memory_id="$org_memory")


def _writing() -> Iterator[Probe]:
    for place in (
        {"agent_id": "$agent"},
        {"agent_id": "$agent", "visibility": "private"},
        {"agent_id": "$agent", "scope": "session", "run_id": "$run"},
        {"agent_id": "$agent", "scope": "org"},
        {"space": {"kind": "user", "id": "$user"}},
        {"space": {"kind": "chat", "id": "$chat"}},
        MINE | {"chat_id": "$chat"},
        MINE | {"learned_in": "$chat"},
        MINE | {"subjects": ["$person"]},
        MINE | {"subjects": ["$my_person"], "stated_by": "$person"},
        MINE | {"supersedes": ["$memory"]},
        MINE | {"supersedes": ["$org_memory"]},
        MINE | {"source_entries": ["$entry"]},
        MINE,
    ):
        yield probe("createMemory", {"content": "a note of mine"} | place)
    changes = [{"op": "update", "id": "$memory", "tags": []}, {"op": "delete", "id": "$memory"}]
    mixed = [{"op": "update", "id": "$my_memory", "tags": ["mine"]}, *changes]
    link = [{"op": "create", "content": "a link of mine", "supersedes": ["$memory"]} | MINE]
    for atomic in (True, False):
        for items in (changes, mixed, mixed[::-1], link):
            yield probe("batchMemories", {"items": items, "atomic": atomic})


def _keyed() -> Iterator[Probe]:
    """The very request of somebody else, under the very key."""
    for operation, body in SENT_UNDER_KEY.items():
        yield Probe(operation, {}, {}, body, key=KEY)


def _people() -> Iterator[Probe]:
    friend = {"relationship": "friend", "to_person_id": "$person"}
    yield probe("createPerson", {"name": "Somebody"})
    yield probe("createPerson", {"name": "Somebody", "relationships": [friend]})
    yield from (probe("listPeople", query=query) for query in ({}, {"query": SAID}, {"limit": "1"}))
    yield probe("listDuplicatePeople")
    for name in (SAID, "$alias", "my boss", "$user"):
        yield probe("resolvePerson", {"name": name})
    yield probe("resolvePerson", {"name": SAID, "chat_id": "$chat"})
    for one, other in (("$person", "$my_person"), ("$my_person", "$person")):
        ids = {"primary_id": one, "secondary_id": other}
        yield from (probe("mergePeople", ids | {"dry_run": dry}) for dry in (True, False))
    for name, body in (
        ("getPerson", None),
        ("updatePerson", {"name": "x"}),
        ("deletePerson", None),
        ("unmergePeople", {"secondary_id": "$person"}),
        ("addAlias", {"value": "x"}),
        ("addRelationship", {"relationship": "friend"}),
    ):
        yield probe(name, body, person_id="$person")
    yield probe("unmergePeople", {"secondary_id": "$person"}, person_id="$my_person")
    yield probe("addRelationship", friend, person_id="$my_person")
    yield probe("deleteAlias", person_id="$person", value="$alias")
    yield probe("deleteRelationship", person_id="$person", claim_id="$claim")
    yield probe("deleteRelationship", person_id="$my_person", claim_id="$claim")
    for query in (
        {},
        {"chat_id": "$chat"},
        {"chat_id": "$my_chat"},
        {"exclude_owner_user_id": "$user"},
        {"as_of": PAST},
        {"include_expired": "true"},
    ):
        yield probe("listPersonMemories", query=query, person_id="$person")


def _chats() -> Iterator[Probe]:
    yield probe("listChats")
    yield probe("listChats", query={"limit": "1"})
    yield probe("getChat", chat_id="$chat")
    for query in ({}, {"include_left": "true"}):
        yield probe("listParticipants", query=query, chat_id="$chat")
    for kind, member in (("user", "$me"), ("agent", "$my_agent"), ("person", "$person")):
        yield probe("putParticipant", {"kind": kind}, chat_id="$chat", member_id=member)
    yield probe("putParticipant", {"kind": "person"}, chat_id="$my_chat", member_id="$person")
    for member in ("$user", "$me", "$person"):
        yield probe("deleteParticipant", chat_id="$chat", member_id=member)
    yield probe("putChat", {"kind": "group"}, chat_id="$my_chat")


def _agents_and_runs() -> Iterator[Probe]:
    for query in ({}, {"query": SAID}, {"owner_id": "$user"}):
        yield probe("listAgents", query=query)
    yield probe("registerAgent", {"name": "probe"})
    yield probe("registerAgent", {"name": "probe", "owner_id": "$user"})
    yield probe("getAgent", agent_id="$agent")
    yield probe("updateAgent", {"name": "x"}, agent_id="$agent")
    yield probe("setAgentOwner", {"owner_id": "$me"}, agent_id="$agent")
    for what in ("refuse", "archive", "delete"):
        yield probe("deleteAgent", query={"memories": what}, agent_id="$agent")
    yield probe("startRun", {"agent_id": "$agent"})
    yield probe("startRun", {"agent_id": "$my_agent", "parent_run_id": "$run"})
    yield probe("completeRun", {"status": "failed"}, run_id="$run")
    for query in ({}, {"agent_id": "$agent"}, {"status": "running"}):
        yield probe("listRuns", query=query)
    yield probe("getRun", run_id="$run")
    yield probe("getRunLineage", run_id="$run")


def _graph() -> Iterator[Probe]:
    for query in ({}, {"query": SAID}, {"kind": "person"}, {"limit": "1"}):
        yield probe("listEntities", query=query)
    for entity in ("$entity", "$person"):
        for query in (
            {},
            {"hops": "2"},
            {"chat_id": "$chat"},
            {"chat_id": "$my_chat"},
            {"as_of": PAST},
            {"valid_at": PAST},
        ):
            yield probe("getEntity", query=query, entity_id=entity)
        yield probe("findPath", query={"from": "$my_person", "to": entity, "max_hops": "4"})
    yield probe("findPath", query={"from": "$person", "to": "$entity"})


def _governing() -> Iterator[Probe]:
    for query in (
        {},
        {"memory_id": "$memory"},
        {"memory_id": "$org_memory"},
        {"agent_id": "$agent"},
        {"run_id": "$run"},
        {"event_type": "memory.write"},
        {"limit": "1"},
    ):
        yield probe("listEvents", query=query)
    yield probe("listApprovals")
    yield probe("listApprovals", query={"status": "pending"})
    yield probe("getApproval", approval_id="$approval")
    yield from (probe(name, WHY, approval_id="$approval") for name in ("approve", "deny"))
    yield probe("examineMemories", WHY)
    for name in ("expireMemories", "vacuumMemories", "collectMemories", "compactMemories"):
        yield probe(name, {"dry_run": True} | WHY)
    yield probe("getRetentionPolicies")
    yield probe("previewRetention", {"scope": "long_term", "created_at": "2026-01-01T00:00:00Z"})
    for query in ({}, {"agent_id": "$agent"}, {"run_id": "$run"}, {"user_id": "$user"}):
        yield probe("listQuarantine", query=query)
    yield probe("listQuarantine", query={"subjects": "$person"})
    yield from _about_a_memory("releaseMemory", {})
    yield from _about_a_memory("rejectMemory", {})
    yield from rollbacks()
    yield probe("undoRollback", rollback_id="$rollback")
    for target in ({"person_id": "$person"}, {"user_id": "$user"}):
        yield from (probe("erase", target | {"dry_run": dry}) for dry in (True, False))
    yield probe("getErasure", erasure_id="$erasure")
    yield probe("verifyErasure", {"identifiers": [SAID]}, erasure_id="$erasure")


def rollbacks() -> Iterator[Probe]:
    """Of every source, dry and real."""
    for source in (
        {"memory_id": "$memory"},
        {"chat_id": "$chat"},
        {"conversation_id": "$chat"},
        {"entry_id": "$entry"},
        {"run_id": "$run"},
        {"agent_id": "$agent"},
        {"stated_by": "$person"},
        {"import_id": "$import"},
    ):
        for dry in (True, False):
            yield probe("rollBack", {"source": source, "dry_run": dry})


def _probes() -> Iterator[Probe]:
    yield from _looking("listMemories")
    yield from (probe("exportMemories", query=_asked(place)) for place in PLACES)
    for query in (
        {},
        {"status": "all"},
        {"spaces": "all", "status": "all"},
        {"subjects": "$person"},
    ):
        yield probe("exportMemories", query=query)
    yield from _finding("searchMemories", explain=True)
    yield from _finding("recallMemories")
    yield from _about_a_memory(
        "getMemory",
        None,
        {},
        {"chat_id": "$my_chat"},
        {"chat_id": "$chat"},
        {"as_of": PAST},
        {"include": "embedding"},
    )
    yield from _about_a_memory("getHistory")
    for query in ({}, {"query": SAID}, {"chat_id": "$chat"}, {"chat_id": "$my_chat"}):
        yield from _about_a_memory("explainMemory", None, query)
    yield from _about_a_memory("explainMemory", None, {"as_user": "$user"})
    yield from _about_a_memory("updateMemory", {"tags": []})
    yield from _about_a_memory("updateMemory", {"version": 1, "portable": False})
    yield from _about_a_memory("deleteMemory")
    yield from _about_a_memory("deleteMemory", None, {"agent_id": "$my_agent"})
    yield from _about_a_memory("moveMemory", MINE)
    for space in ({"kind": "chat", "id": "$chat"}, {"kind": "user", "id": "$user"}):
        yield probe("moveMemory", {"space": space}, memory_id="$my_memory")
    yield from _writing()
    yield from _keyed()
    yield probe("importMemories", [{"schema": 1, "type": "memory"}], query={"dry_run": "true"})
    yield from _people()
    yield from _chats()
    yield from _agents_and_runs()
    yield from _graph()
    yield from _governing()


def _repeating() -> Iterator[Probe]:
    """To say what is hidden oneself; then it is no wonder that it can be read."""
    for _ in range(2):
        yield probe("createMemory", {"content": f"I live in {SAID.title()}"} | MINE)
        yield probe("createMemory", {"key": SAID, "value": {"a": 1}, "on_conflict": "keep"} | MINE)
    for entity in ("$entity", "$my_person"):
        yield probe("getEntity", query={"hops": "2"}, entity_id=entity)
    yield probe("listEntities", query={"query": SAID})
    yield probe("createPerson", {"name": f"Boss {SAID}"})
    yield probe("resolvePerson", {"name": f"Boss {SAID}"})
    yield from _finding("searchMemories", explain=True)


PROBES: tuple[Probe, ...] = tuple(_probes())
REPEATING: tuple[Probe, ...] = tuple(_repeating())
