"""The table of all commands: what each calls, and an example that works on a file and on a server.

In an example `{name}` stands for what an earlier example has left: a row may name it in `makes`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A command, the operations that it calls, and how it is called."""

    name: str
    operations: tuple[str, ...]
    example: str
    makes: str = ""
    json_kind: type = dict


TABLE = (
    Row("remember", ("createMemory",), "remember 'I like green tea.'", "memory"),
    Row("remember", ("createMemory",), "remember 'The desk is by the window.'", "second"),
    Row("recall", ("recallMemories",), "recall tea"),
    Row("search", ("searchMemories",), "search tea", json_kind=list),
    Row("memories list", ("listMemories",), "memories list", json_kind=list),
    Row("memories show", ("getMemory",), "memories show {memory}"),
    Row("memories history", ("getHistory",), "memories history {memory}", json_kind=list),
    Row("memories explain", ("explainMemory",), "memories explain {memory}"),
    Row("agents register", ("registerAgent",), "agents register helper --owner {asker}"),
    Row("agents list", ("listAgents",), "agents list", json_kind=list),
    Row("agents show", ("getAgent",), "agents show helper"),
    Row("memories move", ("moveMemory",), "memories move {second} --agent helper", "moved"),
    Row("agents remove", ("deleteAgent",), "agents remove helper --memories delete"),
    Row("people add", ("createPerson",), "people add 'Cy Young' --relationship brother", "person"),
    Row("people list", ("listPeople",), "people list", json_kind=list),
    Row("people show", ("getPerson",), "people show {person}"),
    Row(
        "people memories",
        ("resolvePerson", "listPersonMemories"),
        "people memories 'Cy Young'",
        json_kind=list,
    ),
    Row("people remove", ("deletePerson",), "people remove {person}"),
    Row("chats create", ("putChat",), "chats create team --title Team"),
    Row("chats add", ("putParticipant",), "chats add team bob"),
    Row("chats list", ("listChats",), "chats list", json_kind=list),
    Row("chats show", ("getChat", "listParticipants"), "chats show team"),
    Row("chats remove", ("deleteParticipant",), "chats remove team bob"),
    Row("conversations say", ("appendEntry",), "conversations say 'Where is it?'", "talk"),
    Row("conversations list", ("listConversations",), "conversations list", json_kind=list),
    Row("conversations tail", ("listEntries",), "conversations tail {talk}", "entry"),
    Row("conversations fork", ("forkConversation",), "conversations fork {talk} {entry}", "fork"),
    Row(
        "conversations show",
        ("getConversation", "listForks", "listMemberships"),
        "conversations show {fork}",
    ),
    Row("conversations export", ("listEntries",), "conversations export {talk}"),
    Row(
        "conversations search",
        ("searchConversations",),
        "conversations search where",
        json_kind=list,
    ),
    Row("export", ("exportMemories",), "export"),
    Row("import", ("importMemories",), "import {lines}"),
    Row(
        "stats",
        ("exportMemories", "adminListConversations", "adminGetHealth"),
        "stats",
    ),
    Row("expire", ("expireMemories",), "expire --really"),
    Row("vacuum", ("vacuumMemories",), "vacuum --dry-run"),
    Row("gc", ("collectMemories",), "gc --really"),
    Row("evict", ("adminListConversations", "adminEvict"), "evict --older-than 30d --really"),
    Row("forget", ("deleteMemory",), "forget {memory}"),
    Row("erase", ("erase", "getErasure"), "erase {asker} --yes"),
)

# They call no operation: they look after this program, or run on a database of their own.
WITHOUT_OPERATION = {
    "backup",
    "completion",
    "config show",
    "doctor",
    "key create",
    "key list",
    "key revoke",
    "migrate",
    "open",
    "profile add",
    "profile list",
    "reindex",
    "restore",
    "serve",
    "skill",
    "token",
    "version",
    "worker",
}
