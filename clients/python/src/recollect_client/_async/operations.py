"""Every operation of the server as a method. Generated from the OpenAPI
document: do not edit."""

from collections.abc import AsyncIterator
from typing import Unpack

from recollect_client import models, table
from recollect_client._async.call import AsyncCaller


class AsyncOperations:
    """The operations, called as one requester; none means who the credential names."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def accept_ownership_transfer(self, transfer_id: str) -> None:
        """Accept a transfer."""
        await self._caller.call(
            table.OPERATIONS["acceptOwnershipTransfer"], {"transferId": transfer_id}, {}
        )

    async def add_alias(
        self, person_id: str, **arguments: Unpack[table.AddAliasArguments]
    ) -> models.Alias:
        """Say what a person is also called."""
        answer: models.Alias = await self._caller.call(
            table.OPERATIONS["addAlias"], {"person_id": person_id}, arguments
        )
        return answer

    async def add_relationship(
        self, person_id: str, **arguments: Unpack[table.AddRelationshipArguments]
    ) -> models.Relationship:
        """Say what a person is to the caller, or to somebody else."""
        answer: models.Relationship = await self._caller.call(
            table.OPERATIONS["addRelationship"], {"person_id": person_id}, arguments
        )
        return answer

    async def admin_create_api_key(
        self, **arguments: Unpack[table.AdminCreateApiKeyArguments]
    ) -> models.NewApiKey:
        """Make an API key for a client."""
        answer: models.NewApiKey = await self._caller.call(
            table.OPERATIONS["adminCreateApiKey"], {}, arguments
        )
        return answer

    async def admin_delete_conversation(
        self, id: str, **arguments: Unpack[table.AdminDeleteConversationArguments]
    ) -> None:
        """Soft-delete the whole tree of a conversation."""
        await self._caller.call(table.OPERATIONS["adminDeleteConversation"], {"id": id}, arguments)

    async def admin_evict(self, **arguments: Unpack[table.AdminEvictArguments]) -> None:
        """Remove for good what was soft-deleted longer ago than a period."""
        await self._caller.call(table.OPERATIONS["adminEvict"], {}, arguments)

    async def admin_get_conversation(
        self, id: str, **arguments: Unpack[table.AdminGetConversationArguments]
    ) -> models.AdminConversation:
        """Get anybody's conversation, a soft-deleted one too."""
        answer: models.AdminConversation = await self._caller.call(
            table.OPERATIONS["adminGetConversation"], {"id": id}, arguments
        )
        return answer

    async def admin_get_health(
        self, **arguments: Unpack[table.AdminGetHealthArguments]
    ) -> models.HealthReport:
        """Get the state of the server in detail."""
        answer: models.HealthReport = await self._caller.call(
            table.OPERATIONS["adminGetHealth"], {}, arguments
        )
        return answer

    async def admin_list_api_keys(
        self, **arguments: Unpack[table.AdminListApiKeysArguments]
    ) -> models.ApiKeyPage:
        """List the API keys that were made, the newest first, without the keys themselves."""
        answer: models.ApiKeyPage = await self._caller.call(
            table.OPERATIONS["adminListApiKeys"], {}, arguments
        )
        return answer

    async def admin_list_conversations(
        self, **arguments: Unpack[table.AdminListConversationsArguments]
    ) -> models.AdminConversationSummaryList:
        """List anybody's conversations, soft-deleted ones on request."""
        answer: models.AdminConversationSummaryList = await self._caller.call(
            table.OPERATIONS["adminListConversations"], {}, arguments
        )
        return answer

    async def admin_list_entries(
        self, id: str, **arguments: Unpack[table.AdminListEntriesArguments]
    ) -> models.AdminEntryPage:
        """List the entries of a conversation, every client's memory included."""
        answer: models.AdminEntryPage = await self._caller.call(
            table.OPERATIONS["adminListEntries"], {"id": id}, arguments
        )
        return answer

    async def admin_list_events(
        self, **arguments: Unpack[table.AdminListEventsArguments]
    ) -> models.EventPage:
        """List the audit log, the newest event first."""
        answer: models.EventPage = await self._caller.call(
            table.OPERATIONS["adminListEvents"], {}, arguments
        )
        return answer

    async def admin_list_forks(
        self, id: str, **arguments: Unpack[table.AdminListForksArguments]
    ) -> models.ForkList:
        """List every conversation of a tree, soft-deleted ones too."""
        answer: models.ForkList = await self._caller.call(
            table.OPERATIONS["adminListForks"], {"id": id}, arguments
        )
        return answer

    async def admin_list_memberships(
        self, id: str, **arguments: Unpack[table.AdminListMembershipsArguments]
    ) -> models.MembershipList:
        """List who belongs to the tree of a conversation."""
        answer: models.MembershipList = await self._caller.call(
            table.OPERATIONS["adminListMemberships"], {"id": id}, arguments
        )
        return answer

    async def admin_restore_conversation(
        self, id: str, **arguments: Unpack[table.AdminRestoreConversationArguments]
    ) -> models.AdminConversation:
        """Restore a soft-deleted tree."""
        answer: models.AdminConversation = await self._caller.call(
            table.OPERATIONS["adminRestoreConversation"], {"id": id}, arguments
        )
        return answer

    async def admin_revoke_api_key(
        self, key_id: str, **arguments: Unpack[table.AdminRevokeApiKeyArguments]
    ) -> None:
        """Revoke an API key."""
        await self._caller.call(table.OPERATIONS["adminRevokeApiKey"], {"keyId": key_id}, arguments)

    async def admin_search_conversations(
        self, **arguments: Unpack[table.AdminSearchConversationsArguments]
    ) -> models.AdminSearchResultPage:
        """Search anybody's conversations, soft-deleted ones on request."""
        answer: models.AdminSearchResultPage = await self._caller.call(
            table.OPERATIONS["adminSearchConversations"], {}, arguments
        )
        return answer

    async def append_entry(
        self, id: str, **arguments: Unpack[table.AppendEntryArguments]
    ) -> models.Entry:
        """Append an entry."""
        answer: models.Entry = await self._caller.call(
            table.OPERATIONS["appendEntry"], {"id": id}, arguments
        )
        return answer

    async def approve(
        self, approval_id: str, **arguments: Unpack[table.ApproveArguments]
    ) -> models.Approval:
        """Grant a request: the memory's expiry is set as asked."""
        answer: models.Approval = await self._caller.call(
            table.OPERATIONS["approve"], {"approval_id": approval_id}, arguments
        )
        return answer

    async def batch_memories(
        self, **arguments: Unpack[table.BatchMemoriesArguments]
    ) -> models.BatchResults:
        """Write, change and delete many memories."""
        answer: models.BatchResults = await self._caller.call(
            table.OPERATIONS["batchMemories"], {}, arguments
        )
        return answer

    async def collect_memories(
        self, **arguments: Unpack[table.CollectMemoriesArguments]
    ) -> models.TidyReport:
        """Tidy up: purge what expired longer ago than the grace period, archive where a space has more than `memory.max_entries`, compact."""
        answer: models.TidyReport = await self._caller.call(
            table.OPERATIONS["collectMemories"], {}, arguments
        )
        return answer

    async def compact_memories(
        self, **arguments: Unpack[table.CompactMemoriesArguments]
    ) -> models.TidyReport:
        """Take the text out of memories that were superseded or archived long enough ago; ids, times and links stay."""
        answer: models.TidyReport = await self._caller.call(
            table.OPERATIONS["compactMemories"], {}, arguments
        )
        return answer

    async def complete_run(
        self, run_id: str, **arguments: Unpack[table.CompleteRunArguments]
    ) -> models.RunCompletion:
        """End a run."""
        answer: models.RunCompletion = await self._caller.call(
            table.OPERATIONS["completeRun"], {"run_id": run_id}, arguments
        )
        return answer

    async def create_conversation(
        self, **arguments: Unpack[table.CreateConversationArguments]
    ) -> models.Conversation:
        """Create a conversation owned by the caller."""
        answer: models.Conversation = await self._caller.call(
            table.OPERATIONS["createConversation"], {}, arguments
        )
        return answer

    async def create_memory(
        self, **arguments: Unpack[table.CreateMemoryArguments]
    ) -> models.WriteResult:
        """Write a memory."""
        answer: models.WriteResult = await self._caller.call(
            table.OPERATIONS["createMemory"], {}, arguments
        )
        return answer

    async def create_ownership_transfer(
        self, **arguments: Unpack[table.CreateOwnershipTransferArguments]
    ) -> models.OwnershipTransfer:
        """Offer the ownership of a tree to one of its members."""
        answer: models.OwnershipTransfer = await self._caller.call(
            table.OPERATIONS["createOwnershipTransfer"], {}, arguments
        )
        return answer

    async def create_person(
        self, **arguments: Unpack[table.CreatePersonArguments]
    ) -> models.Person:
        """Make somebody known in the caller's orgs, with what the caller claims of them."""
        answer: models.Person = await self._caller.call(
            table.OPERATIONS["createPerson"], {}, arguments
        )
        return answer

    async def delete_agent(
        self, agent_id: str, **arguments: Unpack[table.DeleteAgentArguments]
    ) -> None:
        """Remove an agent; what becomes of its memories must be said if it has any."""
        await self._caller.call(table.OPERATIONS["deleteAgent"], {"agent_id": agent_id}, arguments)

    async def delete_alias(self, person_id: str, value: str) -> None:
        """Take back the caller's own alias."""
        await self._caller.call(
            table.OPERATIONS["deleteAlias"], {"person_id": person_id, "value": value}, {}
        )

    async def delete_conversation(self, id: str) -> None:
        """Soft-delete the whole tree of a conversation."""
        await self._caller.call(table.OPERATIONS["deleteConversation"], {"id": id}, {})

    async def delete_entry(self, id: str, entry_id: str) -> None:
        """Delete an entry of the history in all branches that show it."""
        await self._caller.call(
            table.OPERATIONS["deleteEntry"], {"id": id, "entryId": entry_id}, {}
        )

    async def delete_membership(self, id: str, user_id: str) -> None:
        """Remove a member, or leave."""
        await self._caller.call(
            table.OPERATIONS["deleteMembership"], {"id": id, "userId": user_id}, {}
        )

    async def delete_memory(
        self, memory_id: str, **arguments: Unpack[table.DeleteMemoryArguments]
    ) -> None:
        """Delete a memory with its versions."""
        await self._caller.call(
            table.OPERATIONS["deleteMemory"], {"memory_id": memory_id}, arguments
        )

    async def delete_ownership_transfer(self, transfer_id: str) -> None:
        """Cancel or reject a transfer."""
        await self._caller.call(
            table.OPERATIONS["deleteOwnershipTransfer"], {"transferId": transfer_id}, {}
        )

    async def delete_participant(
        self, chat_id: str, member_id: str, **arguments: Unpack[table.DeleteParticipantArguments]
    ) -> None:
        """End a stay: one's own, or as the creator or an admin anybody's."""
        await self._caller.call(
            table.OPERATIONS["deleteParticipant"],
            {"chat_id": chat_id, "member_id": member_id},
            arguments,
        )

    async def delete_person(self, person_id: str) -> None:
        """Remove a person who is no user and whom no memory of others refers to."""
        await self._caller.call(table.OPERATIONS["deletePerson"], {"person_id": person_id}, {})

    async def delete_relationship(self, person_id: str, claim_id: str) -> None:
        """Take back the caller's own claim."""
        await self._caller.call(
            table.OPERATIONS["deleteRelationship"],
            {"person_id": person_id, "claim_id": claim_id},
            {},
        )

    async def deny(
        self, approval_id: str, **arguments: Unpack[table.DenyArguments]
    ) -> models.Approval:
        """Refuse a request: the memory stays as it is."""
        answer: models.Approval = await self._caller.call(
            table.OPERATIONS["deny"], {"approval_id": approval_id}, arguments
        )
        return answer

    async def erase(self, **arguments: Unpack[table.EraseArguments]) -> models.EraseReport:
        """Erase a person or a user everywhere."""
        answer: models.EraseReport = await self._caller.call(
            table.OPERATIONS["erase"], {}, arguments
        )
        return answer

    async def examine_memories(
        self, **arguments: Unpack[table.ExamineMemoriesArguments]
    ) -> models.DoctorReport:
        """Look for what is wrong in what is stored: ids of the rows, by check."""
        answer: models.DoctorReport = await self._caller.call(
            table.OPERATIONS["examineMemories"], {}, arguments
        )
        return answer

    async def expire_memories(
        self, **arguments: Unpack[table.ExpireMemoriesArguments]
    ) -> models.ExpireReport:
        """Remove every memory that is past its expiry now, without grace."""
        answer: models.ExpireReport = await self._caller.call(
            table.OPERATIONS["expireMemories"], {}, arguments
        )
        return answer

    async def explain_memory(
        self, memory_id: str, **arguments: Unpack[table.ExplainMemoryArguments]
    ) -> models.Explanation:
        """Explain why a memory is shown."""
        answer: models.Explanation = await self._caller.call(
            table.OPERATIONS["explainMemory"], {"memory_id": memory_id}, arguments
        )
        return answer

    async def find_path(self, **arguments: Unpack[table.FindPathArguments]) -> models.GraphPath:
        """Find a shortest way between two entities, over relations that the caller may see."""
        answer: models.GraphPath = await self._caller.call(
            table.OPERATIONS["findPath"], {}, arguments
        )
        return answer

    async def fork_conversation(
        self, id: str, entry_id: str, **arguments: Unpack[table.ForkConversationArguments]
    ) -> models.Conversation:
        """Fork a conversation at an entry."""
        answer: models.Conversation = await self._caller.call(
            table.OPERATIONS["forkConversation"], {"id": id, "entryId": entry_id}, arguments
        )
        return answer

    async def get_admin_openapi(self) -> models.Document:
        """Get the description of the admin operations."""
        answer: models.Document = await self._caller.call(
            table.OPERATIONS["getAdminOpenapi"], {}, {}
        )
        return answer

    async def get_agent(self, agent_id: str) -> models.Agent:
        """Get an agent."""
        answer: models.Agent = await self._caller.call(
            table.OPERATIONS["getAgent"], {"agent_id": agent_id}, {}
        )
        return answer

    async def get_approval(self, approval_id: str) -> models.Approval:
        """Get a request."""
        answer: models.Approval = await self._caller.call(
            table.OPERATIONS["getApproval"], {"approval_id": approval_id}, {}
        )
        return answer

    async def get_chat(self, chat_id: str) -> models.Chat:
        """Get a chat where the caller takes part."""
        answer: models.Chat = await self._caller.call(
            table.OPERATIONS["getChat"], {"chat_id": chat_id}, {}
        )
        return answer

    async def get_conversation(self, id: str) -> models.Conversation:
        """Get a conversation."""
        answer: models.Conversation = await self._caller.call(
            table.OPERATIONS["getConversation"], {"id": id}, {}
        )
        return answer

    async def get_entity(
        self, entity_id: str, **arguments: Unpack[table.GetEntityArguments]
    ) -> models.Neighbourhood:
        """Get an entity and what lies around it, nearest first."""
        answer: models.Neighbourhood = await self._caller.call(
            table.OPERATIONS["getEntity"], {"entity_id": entity_id}, arguments
        )
        return answer

    async def get_erasure(self, erasure_id: str) -> models.EraseReport:
        """Get the report of an erasure."""
        answer: models.EraseReport = await self._caller.call(
            table.OPERATIONS["getErasure"], {"erasure_id": erasure_id}, {}
        )
        return answer

    async def get_health(self) -> models.Health:
        """Say whether the server and its database answer."""
        answer: models.Health = await self._caller.call(table.OPERATIONS["getHealth"], {}, {})
        return answer

    async def get_history(
        self, memory_id: str, **arguments: Unpack[table.GetHistoryArguments]
    ) -> models.HistoryItemPage:
        """Get all versions of a memory and of what it replaced, breadth first."""
        answer: models.HistoryItemPage = await self._caller.call(
            table.OPERATIONS["getHistory"], {"memory_id": memory_id}, arguments
        )
        return answer

    async def get_memories_openapi(self) -> models.Document:
        """Get the description of the memory operations."""
        answer: models.Document = await self._caller.call(
            table.OPERATIONS["getMemoriesOpenapi"], {}, {}
        )
        return answer

    async def get_memory(
        self, memory_id: str, **arguments: Unpack[table.GetMemoryArguments]
    ) -> models.Memory:
        """Get a memory, or with `as_of` the version of that instant."""
        answer: models.Memory = await self._caller.call(
            table.OPERATIONS["getMemory"], {"memory_id": memory_id}, arguments
        )
        return answer

    async def get_merged_openapi(self) -> models.Document:
        """Get the description of all operations in one document, with a name for each enum."""
        answer: models.Document = await self._caller.call(
            table.OPERATIONS["getMergedOpenapi"], {}, {}
        )
        return answer

    async def get_openapi(self) -> models.Document:
        """Get the description of the user operations."""
        answer: models.Document = await self._caller.call(table.OPERATIONS["getOpenapi"], {}, {})
        return answer

    async def get_ownership_transfer(self, transfer_id: str) -> models.OwnershipTransfer:
        """Get a pending transfer."""
        answer: models.OwnershipTransfer = await self._caller.call(
            table.OPERATIONS["getOwnershipTransfer"], {"transferId": transfer_id}, {}
        )
        return answer

    async def get_person(
        self, person_id: str, **arguments: Unpack[table.GetPersonArguments]
    ) -> models.Person:
        """Get a person; an id that was merged away answers with the person it leads to."""
        answer: models.Person = await self._caller.call(
            table.OPERATIONS["getPerson"], {"person_id": person_id}, arguments
        )
        return answer

    async def get_retention_policies(self) -> models.RetentionRules:
        """The policies and rules that this server has loaded."""
        answer: models.RetentionRules = await self._caller.call(
            table.OPERATIONS["getRetentionPolicies"], {}, {}
        )
        return answer

    async def get_run(self, run_id: str) -> models.Run:
        """Get a run."""
        answer: models.Run = await self._caller.call(
            table.OPERATIONS["getRun"], {"run_id": run_id}, {}
        )
        return answer

    async def get_run_lineage(self, run_id: str) -> models.RunLineage:
        """The runs above and below a run, as far as the caller may see them; siblings are neither."""
        answer: models.RunLineage = await self._caller.call(
            table.OPERATIONS["getRunLineage"], {"run_id": run_id}, {}
        )
        return answer

    async def get_start(self) -> models.Start:
        """Say what this is, whether it is well, and where its documents are."""
        answer: models.Start = await self._caller.call(table.OPERATIONS["getStart"], {}, {})
        return answer

    async def index_entries(
        self, **arguments: Unpack[table.IndexEntriesArguments]
    ) -> models.IndexOutcome:
        """Give history entries the texts that search shall find them by."""
        answer: models.IndexOutcome = await self._caller.call(
            table.OPERATIONS["indexEntries"], {}, arguments
        )
        return answer

    async def list_agents(self, **arguments: Unpack[table.ListAgentsArguments]) -> models.AgentPage:
        """List the agents of the caller's orgs and those that the caller owns: the newest first, or by match with `query`."""
        answer: models.AgentPage = await self._caller.call(
            table.OPERATIONS["listAgents"], {}, arguments
        )
        return answer

    async def list_approvals(
        self, **arguments: Unpack[table.ListApprovalsArguments]
    ) -> models.ApprovalPage:
        """List the caller's own requests, the newest first; an admin sees all."""
        answer: models.ApprovalPage = await self._caller.call(
            table.OPERATIONS["listApprovals"], {}, arguments
        )
        return answer

    async def list_chats(self, **arguments: Unpack[table.ListChatsArguments]) -> models.ChatPage:
        """List the chats where the caller takes part, conversations among them, the newest first."""
        answer: models.ChatPage = await self._caller.call(
            table.OPERATIONS["listChats"], {}, arguments
        )
        return answer

    async def list_conversations(
        self, **arguments: Unpack[table.ListConversationsArguments]
    ) -> models.ConversationSummaryPage:
        """List the caller's conversations, the most recently updated first."""
        answer: models.ConversationSummaryPage = await self._caller.call(
            table.OPERATIONS["listConversations"], {}, arguments
        )
        return answer

    async def list_duplicate_people(
        self, **arguments: Unpack[table.ListDuplicatePeopleArguments]
    ) -> models.DuplicatesPage:
        """List pairs of people who may be one, among those whom the caller may change."""
        answer: models.DuplicatesPage = await self._caller.call(
            table.OPERATIONS["listDuplicatePeople"], {}, arguments
        )
        return answer

    async def list_entities(
        self, **arguments: Unpack[table.ListEntitiesArguments]
    ) -> models.EntityPage:
        """List the entities that memories name which the caller may read, the latest to appear first."""
        answer: models.EntityPage = await self._caller.call(
            table.OPERATIONS["listEntities"], {}, arguments
        )
        return answer

    async def list_entries(
        self, id: str, **arguments: Unpack[table.ListEntriesArguments]
    ) -> models.EntryPage:
        """List the entries of a conversation by position, inherited ones included."""
        answer: models.EntryPage = await self._caller.call(
            table.OPERATIONS["listEntries"], {"id": id}, arguments
        )
        return answer

    async def list_events(
        self, **arguments: Unpack[table.ListEventsArguments]
    ) -> models.MemoryEventPage:
        """List what happened in the caller's own spaces, the newest first; an auditor sees all."""
        answer: models.MemoryEventPage = await self._caller.call(
            table.OPERATIONS["listEvents"], {}, arguments
        )
        return answer

    async def list_forks(
        self, id: str, **arguments: Unpack[table.ListForksArguments]
    ) -> models.ForkList:
        """List every conversation of the tree, the root first."""
        answer: models.ForkList = await self._caller.call(
            table.OPERATIONS["listForks"], {"id": id}, arguments
        )
        return answer

    async def list_memberships(
        self, id: str, **arguments: Unpack[table.ListMembershipsArguments]
    ) -> models.MembershipList:
        """List who belongs to the tree of a conversation."""
        answer: models.MembershipList = await self._caller.call(
            table.OPERATIONS["listMemberships"], {"id": id}, arguments
        )
        return answer

    async def list_memories(
        self, **arguments: Unpack[table.ListMemoriesArguments]
    ) -> models.MemoryPage:
        """List memories, the newest first."""
        answer: models.MemoryPage = await self._caller.call(
            table.OPERATIONS["listMemories"], {}, arguments
        )
        return answer

    async def list_ownership_transfers(
        self, **arguments: Unpack[table.ListOwnershipTransfersArguments]
    ) -> models.OwnershipTransferList:
        """List the pending transfers that the caller takes part in, the newest first."""
        answer: models.OwnershipTransferList = await self._caller.call(
            table.OPERATIONS["listOwnershipTransfers"], {}, arguments
        )
        return answer

    async def list_participants(
        self, chat_id: str, **arguments: Unpack[table.ListParticipantsArguments]
    ) -> models.ParticipantPage:
        """List who takes part, by when they joined."""
        answer: models.ParticipantPage = await self._caller.call(
            table.OPERATIONS["listParticipants"], {"chat_id": chat_id}, arguments
        )
        return answer

    async def list_people(
        self, **arguments: Unpack[table.ListPeopleArguments]
    ) -> models.PersonPage:
        """List the people whose names the caller may see: the newest first, or with `query` those with it in their name or in an alias that the caller may see, the closest first."""
        answer: models.PersonPage = await self._caller.call(
            table.OPERATIONS["listPeople"], {}, arguments
        )
        return answer

    async def list_person_memories(
        self, person_id: str, **arguments: Unpack[table.ListPersonMemoriesArguments]
    ) -> models.MemoryPage:
        """List what spaces of users and chats hold about a person, as far as it may be told to the caller here, the newest first."""
        answer: models.MemoryPage = await self._caller.call(
            table.OPERATIONS["listPersonMemories"], {"person_id": person_id}, arguments
        )
        return answer

    async def list_quarantine(
        self, **arguments: Unpack[table.ListQuarantineArguments]
    ) -> models.QuarantinedMemoryPage:
        """List memories that were set aside because their text looks like orders to the assistant, the newest first."""
        answer: models.QuarantinedMemoryPage = await self._caller.call(
            table.OPERATIONS["listQuarantine"], {}, arguments
        )
        return answer

    async def list_runs(self, **arguments: Unpack[table.ListRunsArguments]) -> models.RunPage:
        """List the runs that the caller may see, the latest start first."""
        answer: models.RunPage = await self._caller.call(
            table.OPERATIONS["listRuns"], {}, arguments
        )
        return answer

    async def list_unindexed(
        self, **arguments: Unpack[table.ListUnindexedArguments]
    ) -> models.UnindexedEntryPage:
        """List history entries that have no text to be found by, the oldest first."""
        answer: models.UnindexedEntryPage = await self._caller.call(
            table.OPERATIONS["listUnindexed"], {}, arguments
        )
        return answer

    async def merge_people(
        self, **arguments: Unpack[table.MergePeopleArguments]
    ) -> models.MergedPeople:
        """Make one person of two."""
        answer: models.MergedPeople = await self._caller.call(
            table.OPERATIONS["mergePeople"], {}, arguments
        )
        return answer

    async def move_memory(
        self, memory_id: str, **arguments: Unpack[table.MoveMemoryArguments]
    ) -> models.WriteResult:
        """Move a memory to another space, under a new id."""
        answer: models.WriteResult = await self._caller.call(
            table.OPERATIONS["moveMemory"], {"memory_id": memory_id}, arguments
        )
        return answer

    async def preview_retention(
        self, **arguments: Unpack[table.PreviewRetentionArguments]
    ) -> models.ExpiryPreview:
        """When such a memory would expire, by which rule, and whether a longer wish was cut."""
        answer: models.ExpiryPreview = await self._caller.call(
            table.OPERATIONS["previewRetention"], {}, arguments
        )
        return answer

    async def put_chat(
        self, chat_id: str, **arguments: Unpack[table.PutChatArguments]
    ) -> models.Chat:
        """Make a chat (201) or change it (200)."""
        answer: models.Chat = await self._caller.call(
            table.OPERATIONS["putChat"], {"chat_id": chat_id}, arguments
        )
        return answer

    async def put_participant(
        self, chat_id: str, member_id: str, **arguments: Unpack[table.PutParticipantArguments]
    ) -> models.Participant:
        """Bring a user, person or agent in; who takes part already stays as is."""
        answer: models.Participant = await self._caller.call(
            table.OPERATIONS["putParticipant"],
            {"chat_id": chat_id, "member_id": member_id},
            arguments,
        )
        return answer

    async def recall_memories(
        self, **arguments: Unpack[table.RecallMemoriesArguments]
    ) -> models.Recall:
        """Recall what an agent should be told now, as a block for its prompt of at most `token_budget` tokens."""
        answer: models.Recall = await self._caller.call(
            table.OPERATIONS["recallMemories"], {}, arguments
        )
        return answer

    async def register_agent(
        self, **arguments: Unpack[table.RegisterAgentArguments]
    ) -> models.Agent:
        """Register an agent."""
        answer: models.Agent = await self._caller.call(
            table.OPERATIONS["registerAgent"], {}, arguments
        )
        return answer

    async def reject_memory(
        self, memory_id: str, **arguments: Unpack[table.RejectMemoryArguments]
    ) -> None:
        """Remove a quarantined memory for good."""
        await self._caller.call(
            table.OPERATIONS["rejectMemory"], {"memory_id": memory_id}, arguments
        )

    async def release_memory(
        self, memory_id: str, **arguments: Unpack[table.ReleaseMemoryArguments]
    ) -> models.Memory:
        """Let a quarantined memory in."""
        answer: models.Memory = await self._caller.call(
            table.OPERATIONS["releaseMemory"], {"memory_id": memory_id}, arguments
        )
        return answer

    async def resolve_person(
        self, **arguments: Unpack[table.ResolvePersonArguments]
    ) -> models.ResolvedName:
        """Whom a name means when the caller says it, in a chat or outside."""
        answer: models.ResolvedName = await self._caller.call(
            table.OPERATIONS["resolvePerson"], {}, arguments
        )
        return answer

    async def roll_back(
        self, **arguments: Unpack[table.RollBackArguments]
    ) -> models.RollbackReport:
        """Archive every memory that came from a source, straight or through other memories, and make active again what they had replaced."""
        answer: models.RollbackReport = await self._caller.call(
            table.OPERATIONS["rollBack"], {}, arguments
        )
        return answer

    async def search_conversations(
        self, **arguments: Unpack[table.SearchConversationsArguments]
    ) -> models.SearchResultPage:
        """Search the history of the caller's conversations, by words, by meaning or by both."""
        answer: models.SearchResultPage = await self._caller.call(
            table.OPERATIONS["searchConversations"], {}, arguments
        )
        return answer

    async def search_memories(
        self, **arguments: Unpack[table.SearchMemoriesArguments]
    ) -> models.MemoryHits:
        """Search memories by words, by meaning, by the people and the times that a query names."""
        answer: models.MemoryHits = await self._caller.call(
            table.OPERATIONS["searchMemories"], {}, arguments
        )
        return answer

    async def set_agent_owner(
        self, agent_id: str, **arguments: Unpack[table.SetAgentOwnerArguments]
    ) -> models.Agent:
        """Hand an agent to another owner, and with it the agent's private memories."""
        answer: models.Agent = await self._caller.call(
            table.OPERATIONS["setAgentOwner"], {"agent_id": agent_id}, arguments
        )
        return answer

    async def share_conversation(
        self, id: str, **arguments: Unpack[table.ShareConversationArguments]
    ) -> models.Membership:
        """Share the tree of a conversation."""
        answer: models.Membership = await self._caller.call(
            table.OPERATIONS["shareConversation"], {"id": id}, arguments
        )
        return answer

    async def start_run(self, **arguments: Unpack[table.StartRunArguments]) -> models.Run:
        """Start a run."""
        answer: models.Run = await self._caller.call(table.OPERATIONS["startRun"], {}, arguments)
        return answer

    async def sync_entries(
        self, id: str, **arguments: Unpack[table.SyncEntriesArguments]
    ) -> models.SyncOutcome:
        """Make a client's memory equal to a list."""
        answer: models.SyncOutcome = await self._caller.call(
            table.OPERATIONS["syncEntries"], {"id": id}, arguments
        )
        return answer

    async def undo_rollback(
        self, rollback_id: str, **arguments: Unpack[table.UndoRollbackArguments]
    ) -> models.RollbackReport:
        """Give rows back what a rollback took from them."""
        answer: models.RollbackReport = await self._caller.call(
            table.OPERATIONS["undoRollback"], {"rollback_id": rollback_id}, arguments
        )
        return answer

    async def unmerge_people(
        self, person_id: str, **arguments: Unpack[table.UnmergePeopleArguments]
    ) -> models.MergedPeople:
        """Undo a merge: what it moved goes back, as far as it is still there."""
        answer: models.MergedPeople = await self._caller.call(
            table.OPERATIONS["unmergePeople"], {"person_id": person_id}, arguments
        )
        return answer

    async def update_agent(
        self, agent_id: str, **arguments: Unpack[table.UpdateAgentArguments]
    ) -> models.Agent:
        """Change an agent."""
        answer: models.Agent = await self._caller.call(
            table.OPERATIONS["updateAgent"], {"agent_id": agent_id}, arguments
        )
        return answer

    async def update_conversation(
        self, id: str, **arguments: Unpack[table.UpdateConversationArguments]
    ) -> models.Conversation:
        """Change title and metadata of a conversation."""
        answer: models.Conversation = await self._caller.call(
            table.OPERATIONS["updateConversation"], {"id": id}, arguments
        )
        return answer

    async def update_membership(
        self, id: str, user_id: str, **arguments: Unpack[table.UpdateMembershipArguments]
    ) -> models.Membership:
        """Change a member's level."""
        answer: models.Membership = await self._caller.call(
            table.OPERATIONS["updateMembership"], {"id": id, "userId": user_id}, arguments
        )
        return answer

    async def update_memory(
        self, memory_id: str, **arguments: Unpack[table.UpdateMemoryArguments]
    ) -> models.Memory:
        """Change a memory; earlier versions stay in its history."""
        answer: models.Memory = await self._caller.call(
            table.OPERATIONS["updateMemory"], {"memory_id": memory_id}, arguments
        )
        return answer

    async def update_person(
        self, person_id: str, **arguments: Unpack[table.UpdatePersonArguments]
    ) -> models.Person:
        """Change a person."""
        answer: models.Person = await self._caller.call(
            table.OPERATIONS["updatePerson"], {"person_id": person_id}, arguments
        )
        return answer

    async def vacuum_memories(
        self, **arguments: Unpack[table.VacuumMemoriesArguments]
    ) -> models.VacuumReport:
        """Remove memories that expired longer ago than the grace period, and records older than `older_than_days` that neither a live policy nor an expiry of their own keeps."""
        answer: models.VacuumReport = await self._caller.call(
            table.OPERATIONS["vacuumMemories"], {}, arguments
        )
        return answer

    async def verify_erasure(
        self, erasure_id: str, **arguments: Unpack[table.VerifyErasureArguments]
    ) -> models.EraseReport:
        """Search everything once more for the given names, within 30 days."""
        answer: models.EraseReport = await self._caller.call(
            table.OPERATIONS["verifyErasure"], {"erasure_id": erasure_id}, arguments
        )
        return answer

    def iterate_admin_list_api_keys(
        self, **arguments: Unpack[table.AdminListApiKeysArguments]
    ) -> AsyncIterator[models.ApiKey]:
        """List the API keys that were made, the newest first, without the keys themselves: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminListApiKeys"], {}, arguments)

    def iterate_admin_list_conversations(
        self, **arguments: Unpack[table.AdminListConversationsArguments]
    ) -> AsyncIterator[models.AdminConversationSummary]:
        """List anybody's conversations, soft-deleted ones on request: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminListConversations"], {}, arguments)

    def iterate_admin_list_entries(
        self, id: str, **arguments: Unpack[table.AdminListEntriesArguments]
    ) -> AsyncIterator[models.AdminEntry]:
        """List the entries of a conversation, every client's memory included: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminListEntries"], {"id": id}, arguments)

    def iterate_admin_list_events(
        self, **arguments: Unpack[table.AdminListEventsArguments]
    ) -> AsyncIterator[models.Event]:
        """List the audit log, the newest event first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminListEvents"], {}, arguments)

    def iterate_admin_list_forks(
        self, id: str, **arguments: Unpack[table.AdminListForksArguments]
    ) -> AsyncIterator[models.Fork]:
        """List every conversation of a tree, soft-deleted ones too: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminListForks"], {"id": id}, arguments)

    def iterate_admin_list_memberships(
        self, id: str, **arguments: Unpack[table.AdminListMembershipsArguments]
    ) -> AsyncIterator[models.Membership]:
        """List who belongs to the tree of a conversation: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminListMemberships"], {"id": id}, arguments)

    def iterate_admin_search_conversations(
        self, **arguments: Unpack[table.AdminSearchConversationsArguments]
    ) -> AsyncIterator[models.AdminSearchResult]:
        """Search anybody's conversations, soft-deleted ones on request: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminSearchConversations"], {}, arguments)

    def iterate_get_history(
        self, memory_id: str, **arguments: Unpack[table.GetHistoryArguments]
    ) -> AsyncIterator[models.HistoryItem]:
        """Get all versions of a memory and of what it replaced, breadth first: page by page, all of them."""
        return self._caller.iterate(
            table.OPERATIONS["getHistory"], {"memory_id": memory_id}, arguments
        )

    def iterate_list_agents(
        self, **arguments: Unpack[table.ListAgentsArguments]
    ) -> AsyncIterator[models.Agent]:
        """List the agents of the caller's orgs and those that the caller owns: the newest first, or by match with `query`: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listAgents"], {}, arguments)

    def iterate_list_approvals(
        self, **arguments: Unpack[table.ListApprovalsArguments]
    ) -> AsyncIterator[models.Approval]:
        """List the caller's own requests, the newest first; an admin sees all: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listApprovals"], {}, arguments)

    def iterate_list_chats(
        self, **arguments: Unpack[table.ListChatsArguments]
    ) -> AsyncIterator[models.Chat]:
        """List the chats where the caller takes part, conversations among them, the newest first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listChats"], {}, arguments)

    def iterate_list_conversations(
        self, **arguments: Unpack[table.ListConversationsArguments]
    ) -> AsyncIterator[models.ConversationSummary]:
        """List the caller's conversations, the most recently updated first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listConversations"], {}, arguments)

    def iterate_list_duplicate_people(
        self, **arguments: Unpack[table.ListDuplicatePeopleArguments]
    ) -> AsyncIterator[models.Duplicates]:
        """List pairs of people who may be one, among those whom the caller may change: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listDuplicatePeople"], {}, arguments)

    def iterate_list_entities(
        self, **arguments: Unpack[table.ListEntitiesArguments]
    ) -> AsyncIterator[models.Entity]:
        """List the entities that memories name which the caller may read, the latest to appear first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listEntities"], {}, arguments)

    def iterate_list_entries(
        self, id: str, **arguments: Unpack[table.ListEntriesArguments]
    ) -> AsyncIterator[models.Entry]:
        """List the entries of a conversation by position, inherited ones included: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listEntries"], {"id": id}, arguments)

    def iterate_list_events(
        self, **arguments: Unpack[table.ListEventsArguments]
    ) -> AsyncIterator[models.MemoryEvent]:
        """List what happened in the caller's own spaces, the newest first; an auditor sees all: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listEvents"], {}, arguments)

    def iterate_list_forks(
        self, id: str, **arguments: Unpack[table.ListForksArguments]
    ) -> AsyncIterator[models.Fork]:
        """List every conversation of the tree, the root first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listForks"], {"id": id}, arguments)

    def iterate_list_memberships(
        self, id: str, **arguments: Unpack[table.ListMembershipsArguments]
    ) -> AsyncIterator[models.Membership]:
        """List who belongs to the tree of a conversation: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listMemberships"], {"id": id}, arguments)

    def iterate_list_memories(
        self, **arguments: Unpack[table.ListMemoriesArguments]
    ) -> AsyncIterator[models.Memory]:
        """List memories, the newest first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listMemories"], {}, arguments)

    def iterate_list_ownership_transfers(
        self, **arguments: Unpack[table.ListOwnershipTransfersArguments]
    ) -> AsyncIterator[models.OwnershipTransfer]:
        """List the pending transfers that the caller takes part in, the newest first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listOwnershipTransfers"], {}, arguments)

    def iterate_list_participants(
        self, chat_id: str, **arguments: Unpack[table.ListParticipantsArguments]
    ) -> AsyncIterator[models.Participant]:
        """List who takes part, by when they joined: page by page, all of them."""
        return self._caller.iterate(
            table.OPERATIONS["listParticipants"], {"chat_id": chat_id}, arguments
        )

    def iterate_list_people(
        self, **arguments: Unpack[table.ListPeopleArguments]
    ) -> AsyncIterator[models.Person]:
        """List the people whose names the caller may see: the newest first, or with `query` those with it in their name or in an alias that the caller may see, the closest first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listPeople"], {}, arguments)

    def iterate_list_person_memories(
        self, person_id: str, **arguments: Unpack[table.ListPersonMemoriesArguments]
    ) -> AsyncIterator[models.Memory]:
        """List what spaces of users and chats hold about a person, as far as it may be told to the caller here, the newest first: page by page, all of them."""
        return self._caller.iterate(
            table.OPERATIONS["listPersonMemories"], {"person_id": person_id}, arguments
        )

    def iterate_list_quarantine(
        self, **arguments: Unpack[table.ListQuarantineArguments]
    ) -> AsyncIterator[models.QuarantinedMemory]:
        """List memories that were set aside because their text looks like orders to the assistant, the newest first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listQuarantine"], {}, arguments)

    def iterate_list_runs(
        self, **arguments: Unpack[table.ListRunsArguments]
    ) -> AsyncIterator[models.Run]:
        """List the runs that the caller may see, the latest start first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listRuns"], {}, arguments)

    def iterate_list_unindexed(
        self, **arguments: Unpack[table.ListUnindexedArguments]
    ) -> AsyncIterator[models.UnindexedEntry]:
        """List history entries that have no text to be found by, the oldest first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listUnindexed"], {}, arguments)

    def iterate_search_conversations(
        self, **arguments: Unpack[table.SearchConversationsArguments]
    ) -> AsyncIterator[models.SearchResult]:
        """Search the history of the caller's conversations, by words, by meaning or by both: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["searchConversations"], {}, arguments)

    def iterate_search_memories(
        self, **arguments: Unpack[table.SearchMemoriesArguments]
    ) -> AsyncIterator[models.MemoryHit]:
        """Search memories by words, by meaning, by the people and the times that a query names: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["searchMemories"], {}, arguments)
