"""Handles: a noun of the system, who asks, and the verbs of the noun."""

import uuid
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Unpack

from recollect_client import models, table
from recollect_client._async.call import AsyncCaller
from recollect_client._async.operations import AsyncOperations
from recollect_client._async.streams import export, import_lines, replay, respond, stop_recording
from recollect_client.errors import NotFound
from recollect_client.messages import check_list, entry_content, list_messages, memory_content
from recollect_client.values import check_segment, check_text

HISTORY = {"channel": "history", "content_type": "history"}
TAIL_MAX = 1000
# The last is an object with `content`, and with `role` or `type`.
Messages = Sequence[models.Message | Mapping[str, Any] | tuple[str, str] | Any]


class AsyncPlace:
    """What can be remembered somewhere, and found there.

    `_written` says where a memory goes to, `_searched` where one is looked for. An argument of a
    call comes before them: `ann.recall("tea", spaces="all")` looks everywhere that ann may look.
    """

    def __init__(
        self, caller: AsyncCaller, *, written: Mapping[str, Any], searched: Mapping[str, Any]
    ) -> None:
        self._caller = caller
        self._written = dict(written)
        self._searched = dict(searched)
        self.operations = AsyncOperations(caller)

    async def remember(
        self, content: str | Messages, **options: Unpack[table.CreateMemoryOptions]
    ) -> models.WriteResult:
        """Remember a text, or a list of messages with role and content. The answer has the memory
        as it is stored, and warnings. With `wait` it comes when the memory is found by meaning,
        too."""
        said = memory_content(content)
        return await self.operations.create_memory(**_merge(self._written | said, options))

    async def put(
        self, key: str, value: Mapping[str, Any], **options: Unpack[table.CreateMemoryOptions]
    ) -> models.WriteResult:
        """Store a record under a key, in place of an earlier one with this key."""
        record = {"key": check_text(key, "key"), "value": value, "on_conflict": "supersede"}
        return await self.operations.create_memory(**_merge(self._written | record, options))

    async def recall(
        self, query: str | None = None, **options: Unpack[table.RecallMemoriesOptions]
    ) -> models.Recall:
        """What an agent should be told now, as a block of text for its prompt (`context`). Without
        a query and messages: what is known, the newest first."""
        asked: dict[str, Any] = {} if query is None else {"query": query}
        if options.get("messages") is not None:
            asked["messages"] = list_messages(options.pop("messages"), "messages")
        return await self.operations.recall_memories(**_merge(self._searched | asked, options))

    async def search(
        self, query: str, **options: Unpack[table.SearchMemoriesOptions]
    ) -> models.MemoryHits:
        """Memories that match, the best first."""
        asked = self._searched | {"query": query}
        return await self.operations.search_memories(**_merge(asked, options))

    def memories(
        self, **filters: Unpack[table.ListMemoriesArguments]
    ) -> AsyncIterator[models.Memory]:
        """All memories here, the newest first, page by page."""
        listed = _merge(listed_filters(self._searched), filters)
        return self.operations.iterate_list_memories(**listed)

    async def get(
        self, memory_id: str, **options: Unpack[table.GetMemoryArguments]
    ) -> models.Memory:
        """One memory. NotFound if there is none that the caller may see."""
        return await self.operations.get_memory(memory_id, **options)

    async def update(
        self, memory_id: str, **changes: Unpack[table.UpdateMemoryArguments]
    ) -> models.Memory:
        """Change a memory; its earlier version stays in its history."""
        return await self.operations.update_memory(memory_id, **changes)

    async def move(
        self, memory_id: str, **target: Unpack[table.MoveMemoryArguments]
    ) -> models.WriteResult:
        """Move a memory to another space, where it gets a new id."""
        return await self.operations.move_memory(memory_id, **target)

    async def forget(self, memory_id: str) -> None:
        """Delete a memory with all its versions. NotFound if there is none."""
        await self.operations.delete_memory(memory_id)

    async def explain(
        self, memory_id: str, **options: Unpack[table.ExplainMemoryArguments]
    ) -> models.Explanation:
        """Why the caller sees a memory: the rule, the sources, what it replaced."""
        if "chat_id" in self._searched:
            options.setdefault("chat_id", self._searched["chat_id"])
        return await self.operations.explain_memory(memory_id, **options)


class AsyncMemoryPlace(AsyncPlace):
    """A place whose history is that of its memories."""

    def history(
        self, memory_id: str, **options: Unpack[table.GetHistoryArguments]
    ) -> AsyncIterator[models.HistoryItem]:
        """All versions of a memory and of those that it replaced, the newest first."""
        return self.operations.iterate_get_history(memory_id, **options)


class AsyncUser(AsyncMemoryPlace):
    """A user, their own space, and everything that is asked on their behalf."""

    def __init__(self, caller: AsyncCaller, user_id: str) -> None:
        space = {"kind": "user"}
        super().__init__(caller, written={"space": space}, searched={"spaces": [space]})
        self.id = user_id

    def agent(self, agent_id: str) -> "AsyncAgent":
        """The spaces of an agent, as this user may use them."""
        return AsyncAgent(self._caller, check_text(agent_id, "agent_id"))

    def chat(self, chat_id: str) -> "AsyncChat":
        """A chat, with this user asking in it."""
        return AsyncChat(self._caller, check_text(chat_id, "chat_id"))

    def run(self, run_id: str, *, agent_id: str) -> "AsyncRun":
        """A run of an agent, as this user may use it."""
        return AsyncRun(self._caller, check_text(run_id, "run_id"), agent_id)

    def conversation(self, conversation_id: str | None = None) -> "AsyncConversation":
        """A conversation; without an id a new one, which the first message creates."""
        return AsyncConversation(self._caller, conversation_id)

    def conversations(
        self, **options: Unpack[table.ListConversationsArguments]
    ) -> AsyncIterator[models.ConversationSummary]:
        """The user's conversations, the latest first."""
        return self.operations.iterate_list_conversations(**options)

    async def search_conversations(
        self, query: str, **options: Unpack[table.SearchConversationsOptions]
    ) -> models.SearchResultPage:
        """Messages that match, in all conversations that the user may read, the best first."""
        return await self.operations.search_conversations(**_merge({"query": query}, options))

    def people(self, **options: Unpack[table.ListPeopleArguments]) -> AsyncIterator[models.Person]:
        """The people whom the user knows."""
        return self.operations.iterate_list_people(**options)

    def export(
        self, **filters: Unpack[table.ExportMemoriesArguments]
    ) -> AsyncIterator[dict[str, Any]]:
        """The user's memories with what they refer to, as lines that `import_lines` takes."""
        return export(self._caller, _merge(listed_filters(self._searched), filters))

    async def import_lines(
        self,
        lines: Iterable[Mapping[str, Any] | str],
        *,
        dry_run: bool = False,
        **options: Unpack[table.ImportMemoriesOptions],
    ) -> models.ImportReport:
        """Store the lines of an export again, with their ids and times. The report names the lines
        that were refused. With `dry_run` nothing is stored."""
        return await import_lines(self._caller, lines, _merge({"dry_run": dry_run}, options))

    async def erase(self, *, dry_run: bool, justification: str | None = None) -> models.EraseReport:
        """Erase the user everywhere. With `dry_run` nothing is removed, and the report says what
        would be; without it the answer has the id under which the report can be read."""
        return await self.operations.erase(
            user_id=self.id, dry_run=dry_run, justification=justification
        )


class AsyncAgent(AsyncMemoryPlace):
    """An agent: its public and its private space."""

    def __init__(self, caller: AsyncCaller, agent_id: str) -> None:
        place = {"agent_id": agent_id}
        super().__init__(caller, written=place, searched=place)
        self.id = agent_id

    async def register(self, **options: Unpack[table.RegisterAgentArguments]) -> models.Agent:
        """Register the agent. Conflict if there is one with this id."""
        return await self.operations.register_agent(**_merge({"id": self.id}, options))

    async def details(self) -> models.Agent:
        """The agent as it is registered."""
        return await self.operations.get_agent(self.id)

    async def delete(self, **options: Unpack[table.DeleteAgentArguments]) -> None:
        """Remove the agent. If it has memories, `memories` says what becomes of them."""
        await self.operations.delete_agent(self.id, **options)

    def run(self, run_id: str) -> "AsyncRun":
        """A run of this agent."""
        return AsyncRun(self._caller, check_text(run_id, "run_id"), self.id)

    def chat(self, chat_id: str) -> "AsyncChat":
        """A chat in which this agent takes part."""
        return AsyncChat(self._caller, check_text(chat_id, "chat_id"))


class AsyncRun(AsyncMemoryPlace):
    """A run of an agent: what is remembered in it ends with it."""

    def __init__(self, caller: AsyncCaller, run_id: str, agent_id: str) -> None:
        place = {"agent_id": check_text(agent_id, "agent_id"), "run_id": run_id}
        super().__init__(
            caller, written=place | {"scope": "session"}, searched=place | {"scope": "session"}
        )
        self.id = run_id
        self.agent_id = agent_id

    async def start(
        self,
        *,
        parent_run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> models.Run:
        """Start the run. A write to a run that does not exist starts it too."""
        return await self.operations.start_run(
            id=self.id, agent_id=self.agent_id, parent_run_id=parent_run_id, metadata=metadata
        )

    async def details(self) -> models.Run:
        """The run with its state."""
        return await self.operations.get_run(self.id)

    async def complete(
        self, status: models.RunEnding | str = "succeeded", *, error: str | None = None
    ) -> models.RunCompletion:
        """End the run: `succeeded`, `failed` or `cancelled`."""
        return await self.operations.complete_run(self.id, status=status, error=error)


class AsyncChat(AsyncMemoryPlace):
    """A chat with an id of an outside system: its space, and what may be said in it."""

    def __init__(self, caller: AsyncCaller, chat_id: str) -> None:
        space = {"kind": "chat", "id": chat_id}
        super().__init__(caller, written={"space": space}, searched={"chat_id": chat_id})
        self.id = chat_id

    async def create(
        self, kind: models.ChatKind | str, **options: Unpack[table.PutChatOptions]
    ) -> models.Chat:
        """Create the chat, or change its title: a `group`, or `private` with one human in it."""
        return await self.operations.put_chat(self.id, **options, kind=kind)

    async def details(self) -> models.Chat:
        """Kind, title and participants."""
        return await self.operations.get_chat(self.id)

    async def add(
        self,
        member_id: str,
        kind: models.ParticipantKind | str = "user",
        **options: Unpack[table.PutParticipantOptions],
    ) -> models.Participant:
        """Add a participant: a `user`, a `person` or an `agent`."""
        return await self.operations.put_participant(self.id, member_id, **options, kind=kind)

    async def remove(self, member_id: str) -> None:
        """End somebody's participation."""
        await self.operations.delete_participant(self.id, member_id)

    def people(
        self, **options: Unpack[table.ListParticipantsArguments]
    ) -> AsyncIterator[models.Participant]:
        """Who takes part."""
        return self.operations.iterate_list_participants(self.id, **options)


class AsyncConversation(AsyncPlace):
    """A conversation: what was said, its forks and members. It is also a chat, so memories can be
    kept and found in it."""

    def __init__(self, caller: AsyncCaller, conversation_id: str | None = None) -> None:
        # Without an id it does not exist yet: until something is said it is empty, and what can be
        # found in it is what the user knows.
        self._is_new = conversation_id is None
        wanted = str(uuid.uuid4()) if conversation_id is None else conversation_id
        self.id = check_text(wanted, "conversation_id")
        space = {"kind": "chat", "id": self.id}
        searched = {"spaces": [{"kind": "user"}]} if self._is_new else {"chat_id": self.id}
        super().__init__(caller, written={"space": space}, searched=searched)

    async def append(
        self,
        content: str | Sequence[Any],
        *,
        role: str = "user",
        **options: Unpack[table.AppendEntryOptions],
    ) -> models.Entry:
        """Say something: a text of the user, or of the assistant with `role="assistant"`. The first
        message creates the conversation. A list is stored as it is, by the rules of its channel."""
        said = {"content": entry_content(content, role)} | HISTORY
        entry = await self.operations.append_entry(self.id, **_merge(said, options))
        self._begin()
        return entry

    async def delete_entry(self, entry: models.Entry | str) -> None:
        """Take back what was said: its place stays, its words are gone."""
        await self.operations.delete_entry(self.id, entry_id(entry))

    async def history(
        self, **options: Unpack[table.ListEntriesArguments]
    ) -> AsyncIterator[models.Entry]:
        """What was said, the oldest first, with what a fork inherits."""
        listed = _merge({"channel": "history"}, options)
        try:
            async for entry in self.operations.iterate_list_entries(self.id, **listed):
                yield entry
        except NotFound:
            if not self._is_new:
                raise

    async def tail(self, count: int) -> list[models.Entry]:
        """The last messages, at most 1000, the oldest of them first."""
        if not isinstance(count, int) or isinstance(count, bool):
            raise TypeError(f"count: must be a whole number, not {type(count).__name__}")
        if not 1 <= count <= TAIL_MAX:
            raise ValueError(f"count: must be from 1 to {TAIL_MAX}, not {count}")
        return [entry async for entry in self.history(tail=count)]

    async def sync(
        self, content: Sequence[Any], **options: Unpack[table.SyncEntriesOptions]
    ) -> models.SyncOutcome:
        """Make the memory of this client equal to the list. Needs an API key."""
        synced = {"content": list(check_list(content))}
        outcome = await self.operations.sync_entries(self.id, **_merge(synced, options))
        self._begin()
        return outcome

    async def fork(
        self, entry: models.Entry | str, *, title: str | None = None
    ) -> "AsyncConversation":
        """A new branch that has all before this entry, and not the entry."""
        named = {} if title is None else {"title": title}
        made = await self.operations.fork_conversation(self.id, entry_id(entry), **named)
        return AsyncConversation(self._caller, made.id)

    def forks(self) -> AsyncIterator[models.Fork]:
        """All branches of the tree, its root first."""
        return self.operations.iterate_list_forks(self.id)

    async def details(self) -> models.Conversation:
        """Title, owner and times."""
        return await self.operations.get_conversation(self.id)

    async def rename(self, title: str | None) -> models.Conversation:
        """Set the title; None clears it."""
        return await self.operations.update_conversation(self.id, title=title)

    async def share(
        self, user_id: str, access_level: models.AccessLevel | str = "reader"
    ) -> models.Membership:
        """Let somebody take part: `reader`, `writer` or `manager`. All branches are shared."""
        return await self.operations.share_conversation(
            self.id, user_id=check_text(user_id, "user_id"), access_level=access_level
        )

    async def unshare(self, user_id: str) -> None:
        """End a membership."""
        await self.operations.delete_membership(self.id, check_text(user_id, "user_id"))

    def members(self) -> AsyncIterator[models.Membership]:
        """Who takes part."""
        return self.operations.iterate_list_memberships(self.id)

    async def delete(self) -> None:
        """Delete the conversation with all its branches."""
        await self.operations.delete_conversation(self.id)

    def _begin(self) -> None:
        if self._is_new:
            self._is_new = False
            self._searched = {"chat_id": self.id}

    async def respond(self, pieces: AsyncIterable[str]) -> models.RecordOutcome:
        """Record a response while it is made. Others can follow it meanwhile."""
        return await respond(self._caller, self.id, pieces)

    async def stop_response(self) -> None:
        """End the recording of a response; it counts as interrupted. Nothing happens if there is
        none."""
        await stop_recording(self._caller, self.id)

    def follow(self) -> AsyncIterator[str]:
        """The response that is being made, from its beginning and then live. It goes on after a
        lost connection where it was."""
        return replay(self._caller, self.id)


def entry_id(entry: models.Entry | str) -> str:
    """The id of a message."""
    return entry.id if isinstance(entry, models.Entry) else check_segment(entry, "entry")


def listed_filters(searched: Mapping[str, Any]) -> dict[str, Any]:
    """The filters of a search as those of a list, which names spaces as words."""
    filters = dict(searched)
    if "spaces" in filters:
        filters["spaces"] = [one["kind"] for one in filters["spaces"]]
    return filters


def _merge(defaults: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    """The options, and the defaults that they leave open."""
    return {**defaults, **options}
