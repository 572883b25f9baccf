# Written by the code generator from `_async/operations.py`: change that file instead.
"""Every operation of the server as a method. Generated from the OpenAPI
document: do not edit."""

from collections.abc import Iterator
from typing import Unpack

from recollect_client import models, table
from recollect_client._sync.call import Caller


class Operations:
    """The operations, called as one requester; none means who the credential names."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def accept_ownership_transfer(self, transfer_id: str) -> None:
        """Accept a transfer."""
        self._caller.call(
            table.OPERATIONS["acceptOwnershipTransfer"], {"transferId": transfer_id}, {}
        )

    def add_alias(
        self, person_id: str, **arguments: Unpack[table.AddAliasArguments]
    ) -> models.Alias:
        """Say what a person is also called."""
        answer: models.Alias = self._caller.call(
            table.OPERATIONS["addAlias"], {"person_id": person_id}, arguments
        )
        return answer

    def add_relationship(
        self, person_id: str, **arguments: Unpack[table.AddRelationshipArguments]
    ) -> models.Relationship:
        """Say what a person is to the caller, or to somebody else."""
        answer: models.Relationship = self._caller.call(
            table.OPERATIONS["addRelationship"], {"person_id": person_id}, arguments
        )
        return answer

    def admin_create_api_key(
        self, **arguments: Unpack[table.AdminCreateApiKeyArguments]
    ) -> models.NewApiKey:
        """Make an API key for a client."""
        answer: models.NewApiKey = self._caller.call(
            table.OPERATIONS["adminCreateApiKey"], {}, arguments
        )
        return answer

    def admin_delete_conversation(
        self, id: str, **arguments: Unpack[table.AdminDeleteConversationArguments]
    ) -> None:
        """Soft-delete the whole tree of a conversation."""
        self._caller.call(table.OPERATIONS["adminDeleteConversation"], {"id": id}, arguments)

    def admin_evict(self, **arguments: Unpack[table.AdminEvictArguments]) -> None:
        """Remove for good what was soft-deleted longer ago than a period."""
        self._caller.call(table.OPERATIONS["adminEvict"], {}, arguments)

    def admin_get_conversation(
        self, id: str, **arguments: Unpack[table.AdminGetConversationArguments]
    ) -> models.AdminConversation:
        """Get anybody's conversation, a soft-deleted one too."""
        answer: models.AdminConversation = self._caller.call(
            table.OPERATIONS["adminGetConversation"], {"id": id}, arguments
        )
        return answer

    def admin_get_health(
        self, **arguments: Unpack[table.AdminGetHealthArguments]
    ) -> models.HealthReport:
        """Get the state of the server in detail."""
        answer: models.HealthReport = self._caller.call(
            table.OPERATIONS["adminGetHealth"], {}, arguments
        )
        return answer

    def admin_list_api_keys(
        self, **arguments: Unpack[table.AdminListApiKeysArguments]
    ) -> models.ApiKeyPage:
        """List the API keys that were made, the newest first, without the keys themselves."""
        answer: models.ApiKeyPage = self._caller.call(
            table.OPERATIONS["adminListApiKeys"], {}, arguments
        )
        return answer

    def admin_list_conversations(
        self, **arguments: Unpack[table.AdminListConversationsArguments]
    ) -> models.AdminConversationSummaryList:
        """List anybody's conversations, soft-deleted ones on request."""
        answer: models.AdminConversationSummaryList = self._caller.call(
            table.OPERATIONS["adminListConversations"], {}, arguments
        )
        return answer

    def admin_list_entries(
        self, id: str, **arguments: Unpack[table.AdminListEntriesArguments]
    ) -> models.AdminEntryPage:
        """List the entries of a conversation, every client's memory included."""
        answer: models.AdminEntryPage = self._caller.call(
            table.OPERATIONS["adminListEntries"], {"id": id}, arguments
        )
        return answer

    def admin_list_events(
        self, **arguments: Unpack[table.AdminListEventsArguments]
    ) -> models.EventPage:
        """List the audit log, the newest event first."""
        answer: models.EventPage = self._caller.call(
            table.OPERATIONS["adminListEvents"], {}, arguments
        )
        return answer

    def admin_list_forks(
        self, id: str, **arguments: Unpack[table.AdminListForksArguments]
    ) -> models.ForkList:
        """List every conversation of a tree, soft-deleted ones too."""
        answer: models.ForkList = self._caller.call(
            table.OPERATIONS["adminListForks"], {"id": id}, arguments
        )
        return answer

    def admin_list_memberships(
        self, id: str, **arguments: Unpack[table.AdminListMembershipsArguments]
    ) -> models.MembershipList:
        """List who belongs to the tree of a conversation."""
        answer: models.MembershipList = self._caller.call(
            table.OPERATIONS["adminListMemberships"], {"id": id}, arguments
        )
        return answer

    def admin_restore_conversation(
        self, id: str, **arguments: Unpack[table.AdminRestoreConversationArguments]
    ) -> models.AdminConversation:
        """Restore a soft-deleted tree."""
        answer: models.AdminConversation = self._caller.call(
            table.OPERATIONS["adminRestoreConversation"], {"id": id}, arguments
        )
        return answer

    def admin_revoke_api_key(
        self, key_id: str, **arguments: Unpack[table.AdminRevokeApiKeyArguments]
    ) -> None:
        """Revoke an API key."""
        self._caller.call(table.OPERATIONS["adminRevokeApiKey"], {"keyId": key_id}, arguments)

    def admin_search_conversations(
        self, **arguments: Unpack[table.AdminSearchConversationsArguments]
    ) -> models.AdminSearchResultPage:
        """Search anybody's conversations, soft-deleted ones on request."""
        answer: models.AdminSearchResultPage = self._caller.call(
            table.OPERATIONS["adminSearchConversations"], {}, arguments
        )
        return answer

    def append_entry(
        self, id: str, **arguments: Unpack[table.AppendEntryArguments]
    ) -> models.Entry:
        """Append an entry."""
        answer: models.Entry = self._caller.call(
            table.OPERATIONS["appendEntry"], {"id": id}, arguments
        )
        return answer

    def approve(
        self, approval_id: str, **arguments: Unpack[table.ApproveArguments]
    ) -> models.Approval:
        """Grant a request: the memory's expiry is set as asked."""
        answer: models.Approval = self._caller.call(
            table.OPERATIONS["approve"], {"approval_id": approval_id}, arguments
        )
        return answer

    def batch_memories(
        self, **arguments: Unpack[table.BatchMemoriesArguments]
    ) -> models.BatchResults:
        """Write, change and delete many memories."""
        answer: models.BatchResults = self._caller.call(
            table.OPERATIONS["batchMemories"], {}, arguments
        )
        return answer

    def collect_memories(
        self, **arguments: Unpack[table.CollectMemoriesArguments]
    ) -> models.TidyReport:
        """Tidy up: purge what expired longer ago than the grace period, archive where a space has more than `memory.max_entries`, compact."""
        answer: models.TidyReport = self._caller.call(
            table.OPERATIONS["collectMemories"], {}, arguments
        )
        return answer

    def compact_memories(
        self, **arguments: Unpack[table.CompactMemoriesArguments]
    ) -> models.TidyReport:
        """Take the text out of memories that were superseded or archived long enough ago; ids, times and links stay."""
        answer: models.TidyReport = self._caller.call(
            table.OPERATIONS["compactMemories"], {}, arguments
        )
        return answer

    def complete_run(
        self, run_id: str, **arguments: Unpack[table.CompleteRunArguments]
    ) -> models.RunCompletion:
        """End a run."""
        answer: models.RunCompletion = self._caller.call(
            table.OPERATIONS["completeRun"], {"run_id": run_id}, arguments
        )
        return answer

    def create_conversation(
        self, **arguments: Unpack[table.CreateConversationArguments]
    ) -> models.Conversation:
        """Create a conversation owned by the caller."""
        answer: models.Conversation = self._caller.call(
            table.OPERATIONS["createConversation"], {}, arguments
        )
        return answer

    def create_memory(self, **arguments: Unpack[table.CreateMemoryArguments]) -> models.WriteResult:
        """Write a memory."""
        answer: models.WriteResult = self._caller.call(
            table.OPERATIONS["createMemory"], {}, arguments
        )
        return answer

    def create_ownership_transfer(
        self, **arguments: Unpack[table.CreateOwnershipTransferArguments]
    ) -> models.OwnershipTransfer:
        """Offer the ownership of a tree to one of its members."""
        answer: models.OwnershipTransfer = self._caller.call(
            table.OPERATIONS["createOwnershipTransfer"], {}, arguments
        )
        return answer

    def create_person(self, **arguments: Unpack[table.CreatePersonArguments]) -> models.Person:
        """Make somebody known in the caller's orgs, with what the caller claims of them."""
        answer: models.Person = self._caller.call(table.OPERATIONS["createPerson"], {}, arguments)
        return answer

    def delete_agent(self, agent_id: str, **arguments: Unpack[table.DeleteAgentArguments]) -> None:
        """Remove an agent; what becomes of its memories must be said if it has any."""
        self._caller.call(table.OPERATIONS["deleteAgent"], {"agent_id": agent_id}, arguments)

    def delete_alias(self, person_id: str, value: str) -> None:
        """Take back the caller's own alias."""
        self._caller.call(
            table.OPERATIONS["deleteAlias"], {"person_id": person_id, "value": value}, {}
        )

    def delete_conversation(self, id: str) -> None:
        """Soft-delete the whole tree of a conversation."""
        self._caller.call(table.OPERATIONS["deleteConversation"], {"id": id}, {})

    def delete_entry(self, id: str, entry_id: str) -> None:
        """Delete an entry of the history in all branches that show it."""
        self._caller.call(table.OPERATIONS["deleteEntry"], {"id": id, "entryId": entry_id}, {})

    def delete_membership(self, id: str, user_id: str) -> None:
        """Remove a member, or leave."""
        self._caller.call(table.OPERATIONS["deleteMembership"], {"id": id, "userId": user_id}, {})

    def delete_memory(
        self, memory_id: str, **arguments: Unpack[table.DeleteMemoryArguments]
    ) -> None:
        """Delete a memory with its versions."""
        self._caller.call(table.OPERATIONS["deleteMemory"], {"memory_id": memory_id}, arguments)

    def delete_ownership_transfer(self, transfer_id: str) -> None:
        """Cancel or reject a transfer."""
        self._caller.call(
            table.OPERATIONS["deleteOwnershipTransfer"], {"transferId": transfer_id}, {}
        )

    def delete_participant(
        self, chat_id: str, member_id: str, **arguments: Unpack[table.DeleteParticipantArguments]
    ) -> None:
        """End a stay: one's own, or as the creator or an admin anybody's."""
        self._caller.call(
            table.OPERATIONS["deleteParticipant"],
            {"chat_id": chat_id, "member_id": member_id},
            arguments,
        )

    def delete_person(self, person_id: str) -> None:
        """Remove a person who is no user and whom no memory of others refers to."""
        self._caller.call(table.OPERATIONS["deletePerson"], {"person_id": person_id}, {})

    def delete_relationship(self, person_id: str, claim_id: str) -> None:
        """Take back the caller's own claim."""
        self._caller.call(
            table.OPERATIONS["deleteRelationship"],
            {"person_id": person_id, "claim_id": claim_id},
            {},
        )

    def deny(self, approval_id: str, **arguments: Unpack[table.DenyArguments]) -> models.Approval:
        """Refuse a request: the memory stays as it is."""
        answer: models.Approval = self._caller.call(
            table.OPERATIONS["deny"], {"approval_id": approval_id}, arguments
        )
        return answer

    def erase(self, **arguments: Unpack[table.EraseArguments]) -> models.EraseReport:
        """Erase a person or a user everywhere."""
        answer: models.EraseReport = self._caller.call(table.OPERATIONS["erase"], {}, arguments)
        return answer

    def examine_memories(
        self, **arguments: Unpack[table.ExamineMemoriesArguments]
    ) -> models.DoctorReport:
        """Look for what is wrong in what is stored: ids of the rows, by check."""
        answer: models.DoctorReport = self._caller.call(
            table.OPERATIONS["examineMemories"], {}, arguments
        )
        return answer

    def expire_memories(
        self, **arguments: Unpack[table.ExpireMemoriesArguments]
    ) -> models.ExpireReport:
        """Remove every memory that is past its expiry now, without grace."""
        answer: models.ExpireReport = self._caller.call(
            table.OPERATIONS["expireMemories"], {}, arguments
        )
        return answer

    def explain_memory(
        self, memory_id: str, **arguments: Unpack[table.ExplainMemoryArguments]
    ) -> models.Explanation:
        """Explain why a memory is shown."""
        answer: models.Explanation = self._caller.call(
            table.OPERATIONS["explainMemory"], {"memory_id": memory_id}, arguments
        )
        return answer

    def find_path(self, **arguments: Unpack[table.FindPathArguments]) -> models.GraphPath:
        """Find a shortest way between two entities, over relations that the caller may see."""
        answer: models.GraphPath = self._caller.call(table.OPERATIONS["findPath"], {}, arguments)
        return answer

    def fork_conversation(
        self, id: str, entry_id: str, **arguments: Unpack[table.ForkConversationArguments]
    ) -> models.Conversation:
        """Fork a conversation at an entry."""
        answer: models.Conversation = self._caller.call(
            table.OPERATIONS["forkConversation"], {"id": id, "entryId": entry_id}, arguments
        )
        return answer

    def get_admin_openapi(self) -> models.Document:
        """Get the description of the admin operations."""
        answer: models.Document = self._caller.call(table.OPERATIONS["getAdminOpenapi"], {}, {})
        return answer

    def get_agent(self, agent_id: str) -> models.Agent:
        """Get an agent."""
        answer: models.Agent = self._caller.call(
            table.OPERATIONS["getAgent"], {"agent_id": agent_id}, {}
        )
        return answer

    def get_approval(self, approval_id: str) -> models.Approval:
        """Get a request."""
        answer: models.Approval = self._caller.call(
            table.OPERATIONS["getApproval"], {"approval_id": approval_id}, {}
        )
        return answer

    def get_chat(self, chat_id: str) -> models.Chat:
        """Get a chat where the caller takes part."""
        answer: models.Chat = self._caller.call(
            table.OPERATIONS["getChat"], {"chat_id": chat_id}, {}
        )
        return answer

    def get_conversation(self, id: str) -> models.Conversation:
        """Get a conversation."""
        answer: models.Conversation = self._caller.call(
            table.OPERATIONS["getConversation"], {"id": id}, {}
        )
        return answer

    def get_entity(
        self, entity_id: str, **arguments: Unpack[table.GetEntityArguments]
    ) -> models.Neighbourhood:
        """Get an entity and what lies around it, nearest first."""
        answer: models.Neighbourhood = self._caller.call(
            table.OPERATIONS["getEntity"], {"entity_id": entity_id}, arguments
        )
        return answer

    def get_erasure(self, erasure_id: str) -> models.EraseReport:
        """Get the report of an erasure."""
        answer: models.EraseReport = self._caller.call(
            table.OPERATIONS["getErasure"], {"erasure_id": erasure_id}, {}
        )
        return answer

    def get_health(self) -> models.Health:
        """Say whether the server and its database answer."""
        answer: models.Health = self._caller.call(table.OPERATIONS["getHealth"], {}, {})
        return answer

    def get_history(
        self, memory_id: str, **arguments: Unpack[table.GetHistoryArguments]
    ) -> models.HistoryItemPage:
        """Get all versions of a memory and of what it replaced, breadth first."""
        answer: models.HistoryItemPage = self._caller.call(
            table.OPERATIONS["getHistory"], {"memory_id": memory_id}, arguments
        )
        return answer

    def get_memories_openapi(self) -> models.Document:
        """Get the description of the memory operations."""
        answer: models.Document = self._caller.call(table.OPERATIONS["getMemoriesOpenapi"], {}, {})
        return answer

    def get_memory(
        self, memory_id: str, **arguments: Unpack[table.GetMemoryArguments]
    ) -> models.Memory:
        """Get a memory, or with `as_of` the version of that instant."""
        answer: models.Memory = self._caller.call(
            table.OPERATIONS["getMemory"], {"memory_id": memory_id}, arguments
        )
        return answer

    def get_merged_openapi(self) -> models.Document:
        """Get the description of all operations in one document, with a name for each enum."""
        answer: models.Document = self._caller.call(table.OPERATIONS["getMergedOpenapi"], {}, {})
        return answer

    def get_openapi(self) -> models.Document:
        """Get the description of the user operations."""
        answer: models.Document = self._caller.call(table.OPERATIONS["getOpenapi"], {}, {})
        return answer

    def get_ownership_transfer(self, transfer_id: str) -> models.OwnershipTransfer:
        """Get a pending transfer."""
        answer: models.OwnershipTransfer = self._caller.call(
            table.OPERATIONS["getOwnershipTransfer"], {"transferId": transfer_id}, {}
        )
        return answer

    def get_person(
        self, person_id: str, **arguments: Unpack[table.GetPersonArguments]
    ) -> models.Person:
        """Get a person; an id that was merged away answers with the person it leads to."""
        answer: models.Person = self._caller.call(
            table.OPERATIONS["getPerson"], {"person_id": person_id}, arguments
        )
        return answer

    def get_retention_policies(self) -> models.RetentionRules:
        """The policies and rules that this server has loaded."""
        answer: models.RetentionRules = self._caller.call(
            table.OPERATIONS["getRetentionPolicies"], {}, {}
        )
        return answer

    def get_run(self, run_id: str) -> models.Run:
        """Get a run."""
        answer: models.Run = self._caller.call(table.OPERATIONS["getRun"], {"run_id": run_id}, {})
        return answer

    def get_run_lineage(self, run_id: str) -> models.RunLineage:
        """The runs above and below a run, as far as the caller may see them; siblings are neither."""
        answer: models.RunLineage = self._caller.call(
            table.OPERATIONS["getRunLineage"], {"run_id": run_id}, {}
        )
        return answer

    def get_start(self) -> models.Start:
        """Say what this is, whether it is well, and where its documents are."""
        answer: models.Start = self._caller.call(table.OPERATIONS["getStart"], {}, {})
        return answer

    def index_entries(
        self, **arguments: Unpack[table.IndexEntriesArguments]
    ) -> models.IndexOutcome:
        """Give history entries the texts that search shall find them by."""
        answer: models.IndexOutcome = self._caller.call(
            table.OPERATIONS["indexEntries"], {}, arguments
        )
        return answer

    def list_agents(self, **arguments: Unpack[table.ListAgentsArguments]) -> models.AgentPage:
        """List the agents of the caller's orgs and those that the caller owns: the newest first, or by match with `query`."""
        answer: models.AgentPage = self._caller.call(table.OPERATIONS["listAgents"], {}, arguments)
        return answer

    def list_approvals(
        self, **arguments: Unpack[table.ListApprovalsArguments]
    ) -> models.ApprovalPage:
        """List the caller's own requests, the newest first; an admin sees all."""
        answer: models.ApprovalPage = self._caller.call(
            table.OPERATIONS["listApprovals"], {}, arguments
        )
        return answer

    def list_chats(self, **arguments: Unpack[table.ListChatsArguments]) -> models.ChatPage:
        """List the chats where the caller takes part, conversations among them, the newest first."""
        answer: models.ChatPage = self._caller.call(table.OPERATIONS["listChats"], {}, arguments)
        return answer

    def list_conversations(
        self, **arguments: Unpack[table.ListConversationsArguments]
    ) -> models.ConversationSummaryPage:
        """List the caller's conversations, the most recently updated first."""
        answer: models.ConversationSummaryPage = self._caller.call(
            table.OPERATIONS["listConversations"], {}, arguments
        )
        return answer

    def list_duplicate_people(
        self, **arguments: Unpack[table.ListDuplicatePeopleArguments]
    ) -> models.DuplicatesPage:
        """List pairs of people who may be one, among those whom the caller may change."""
        answer: models.DuplicatesPage = self._caller.call(
            table.OPERATIONS["listDuplicatePeople"], {}, arguments
        )
        return answer

    def list_entities(self, **arguments: Unpack[table.ListEntitiesArguments]) -> models.EntityPage:
        """List the entities that memories name which the caller may read, the latest to appear first."""
        answer: models.EntityPage = self._caller.call(
            table.OPERATIONS["listEntities"], {}, arguments
        )
        return answer

    def list_entries(
        self, id: str, **arguments: Unpack[table.ListEntriesArguments]
    ) -> models.EntryPage:
        """List the entries of a conversation by position, inherited ones included."""
        answer: models.EntryPage = self._caller.call(
            table.OPERATIONS["listEntries"], {"id": id}, arguments
        )
        return answer

    def list_events(self, **arguments: Unpack[table.ListEventsArguments]) -> models.MemoryEventPage:
        """List what happened in the caller's own spaces, the newest first; an auditor sees all."""
        answer: models.MemoryEventPage = self._caller.call(
            table.OPERATIONS["listEvents"], {}, arguments
        )
        return answer

    def list_forks(self, id: str, **arguments: Unpack[table.ListForksArguments]) -> models.ForkList:
        """List every conversation of the tree, the root first."""
        answer: models.ForkList = self._caller.call(
            table.OPERATIONS["listForks"], {"id": id}, arguments
        )
        return answer

    def list_memberships(
        self, id: str, **arguments: Unpack[table.ListMembershipsArguments]
    ) -> models.MembershipList:
        """List who belongs to the tree of a conversation."""
        answer: models.MembershipList = self._caller.call(
            table.OPERATIONS["listMemberships"], {"id": id}, arguments
        )
        return answer

    def list_memories(self, **arguments: Unpack[table.ListMemoriesArguments]) -> models.MemoryPage:
        """List memories, the newest first."""
        answer: models.MemoryPage = self._caller.call(
            table.OPERATIONS["listMemories"], {}, arguments
        )
        return answer

    def list_ownership_transfers(
        self, **arguments: Unpack[table.ListOwnershipTransfersArguments]
    ) -> models.OwnershipTransferList:
        """List the pending transfers that the caller takes part in, the newest first."""
        answer: models.OwnershipTransferList = self._caller.call(
            table.OPERATIONS["listOwnershipTransfers"], {}, arguments
        )
        return answer

    def list_participants(
        self, chat_id: str, **arguments: Unpack[table.ListParticipantsArguments]
    ) -> models.ParticipantPage:
        """List who takes part, by when they joined."""
        answer: models.ParticipantPage = self._caller.call(
            table.OPERATIONS["listParticipants"], {"chat_id": chat_id}, arguments
        )
        return answer

    def list_people(self, **arguments: Unpack[table.ListPeopleArguments]) -> models.PersonPage:
        """List the people whose names the caller may see: the newest first, or with `query` those with it in their name or in an alias that the caller may see, the closest first."""
        answer: models.PersonPage = self._caller.call(table.OPERATIONS["listPeople"], {}, arguments)
        return answer

    def list_person_memories(
        self, person_id: str, **arguments: Unpack[table.ListPersonMemoriesArguments]
    ) -> models.MemoryPage:
        """List what spaces of users and chats hold about a person, as far as it may be told to the caller here, the newest first."""
        answer: models.MemoryPage = self._caller.call(
            table.OPERATIONS["listPersonMemories"], {"person_id": person_id}, arguments
        )
        return answer

    def list_quarantine(
        self, **arguments: Unpack[table.ListQuarantineArguments]
    ) -> models.QuarantinedMemoryPage:
        """List memories that were set aside because their text looks like orders to the assistant, the newest first."""
        answer: models.QuarantinedMemoryPage = self._caller.call(
            table.OPERATIONS["listQuarantine"], {}, arguments
        )
        return answer

    def list_runs(self, **arguments: Unpack[table.ListRunsArguments]) -> models.RunPage:
        """List the runs that the caller may see, the latest start first."""
        answer: models.RunPage = self._caller.call(table.OPERATIONS["listRuns"], {}, arguments)
        return answer

    def list_unindexed(
        self, **arguments: Unpack[table.ListUnindexedArguments]
    ) -> models.UnindexedEntryPage:
        """List history entries that have no text to be found by, the oldest first."""
        answer: models.UnindexedEntryPage = self._caller.call(
            table.OPERATIONS["listUnindexed"], {}, arguments
        )
        return answer

    def merge_people(self, **arguments: Unpack[table.MergePeopleArguments]) -> models.MergedPeople:
        """Make one person of two."""
        answer: models.MergedPeople = self._caller.call(
            table.OPERATIONS["mergePeople"], {}, arguments
        )
        return answer

    def move_memory(
        self, memory_id: str, **arguments: Unpack[table.MoveMemoryArguments]
    ) -> models.WriteResult:
        """Move a memory to another space, under a new id."""
        answer: models.WriteResult = self._caller.call(
            table.OPERATIONS["moveMemory"], {"memory_id": memory_id}, arguments
        )
        return answer

    def preview_retention(
        self, **arguments: Unpack[table.PreviewRetentionArguments]
    ) -> models.ExpiryPreview:
        """When such a memory would expire, by which rule, and whether a longer wish was cut."""
        answer: models.ExpiryPreview = self._caller.call(
            table.OPERATIONS["previewRetention"], {}, arguments
        )
        return answer

    def put_chat(self, chat_id: str, **arguments: Unpack[table.PutChatArguments]) -> models.Chat:
        """Make a chat (201) or change it (200)."""
        answer: models.Chat = self._caller.call(
            table.OPERATIONS["putChat"], {"chat_id": chat_id}, arguments
        )
        return answer

    def put_participant(
        self, chat_id: str, member_id: str, **arguments: Unpack[table.PutParticipantArguments]
    ) -> models.Participant:
        """Bring a user, person or agent in; who takes part already stays as is."""
        answer: models.Participant = self._caller.call(
            table.OPERATIONS["putParticipant"],
            {"chat_id": chat_id, "member_id": member_id},
            arguments,
        )
        return answer

    def recall_memories(self, **arguments: Unpack[table.RecallMemoriesArguments]) -> models.Recall:
        """Recall what an agent should be told now, as a block for its prompt of at most `token_budget` tokens."""
        answer: models.Recall = self._caller.call(table.OPERATIONS["recallMemories"], {}, arguments)
        return answer

    def register_agent(self, **arguments: Unpack[table.RegisterAgentArguments]) -> models.Agent:
        """Register an agent."""
        answer: models.Agent = self._caller.call(table.OPERATIONS["registerAgent"], {}, arguments)
        return answer

    def reject_memory(
        self, memory_id: str, **arguments: Unpack[table.RejectMemoryArguments]
    ) -> None:
        """Remove a quarantined memory for good."""
        self._caller.call(table.OPERATIONS["rejectMemory"], {"memory_id": memory_id}, arguments)

    def release_memory(
        self, memory_id: str, **arguments: Unpack[table.ReleaseMemoryArguments]
    ) -> models.Memory:
        """Let a quarantined memory in."""
        answer: models.Memory = self._caller.call(
            table.OPERATIONS["releaseMemory"], {"memory_id": memory_id}, arguments
        )
        return answer

    def resolve_person(
        self, **arguments: Unpack[table.ResolvePersonArguments]
    ) -> models.ResolvedName:
        """Whom a name means when the caller says it, in a chat or outside."""
        answer: models.ResolvedName = self._caller.call(
            table.OPERATIONS["resolvePerson"], {}, arguments
        )
        return answer

    def roll_back(self, **arguments: Unpack[table.RollBackArguments]) -> models.RollbackReport:
        """Archive every memory that came from a source, straight or through other memories, and make active again what they had replaced."""
        answer: models.RollbackReport = self._caller.call(
            table.OPERATIONS["rollBack"], {}, arguments
        )
        return answer

    def search_conversations(
        self, **arguments: Unpack[table.SearchConversationsArguments]
    ) -> models.SearchResultPage:
        """Search the history of the caller's conversations, by words, by meaning or by both."""
        answer: models.SearchResultPage = self._caller.call(
            table.OPERATIONS["searchConversations"], {}, arguments
        )
        return answer

    def search_memories(
        self, **arguments: Unpack[table.SearchMemoriesArguments]
    ) -> models.MemoryHits:
        """Search memories by words, by meaning, by the people and the times that a query names."""
        answer: models.MemoryHits = self._caller.call(
            table.OPERATIONS["searchMemories"], {}, arguments
        )
        return answer

    def set_agent_owner(
        self, agent_id: str, **arguments: Unpack[table.SetAgentOwnerArguments]
    ) -> models.Agent:
        """Hand an agent to another owner, and with it the agent's private memories."""
        answer: models.Agent = self._caller.call(
            table.OPERATIONS["setAgentOwner"], {"agent_id": agent_id}, arguments
        )
        return answer

    def share_conversation(
        self, id: str, **arguments: Unpack[table.ShareConversationArguments]
    ) -> models.Membership:
        """Share the tree of a conversation."""
        answer: models.Membership = self._caller.call(
            table.OPERATIONS["shareConversation"], {"id": id}, arguments
        )
        return answer

    def start_run(self, **arguments: Unpack[table.StartRunArguments]) -> models.Run:
        """Start a run."""
        answer: models.Run = self._caller.call(table.OPERATIONS["startRun"], {}, arguments)
        return answer

    def sync_entries(
        self, id: str, **arguments: Unpack[table.SyncEntriesArguments]
    ) -> models.SyncOutcome:
        """Make a client's memory equal to a list."""
        answer: models.SyncOutcome = self._caller.call(
            table.OPERATIONS["syncEntries"], {"id": id}, arguments
        )
        return answer

    def undo_rollback(
        self, rollback_id: str, **arguments: Unpack[table.UndoRollbackArguments]
    ) -> models.RollbackReport:
        """Give rows back what a rollback took from them."""
        answer: models.RollbackReport = self._caller.call(
            table.OPERATIONS["undoRollback"], {"rollback_id": rollback_id}, arguments
        )
        return answer

    def unmerge_people(
        self, person_id: str, **arguments: Unpack[table.UnmergePeopleArguments]
    ) -> models.MergedPeople:
        """Undo a merge: what it moved goes back, as far as it is still there."""
        answer: models.MergedPeople = self._caller.call(
            table.OPERATIONS["unmergePeople"], {"person_id": person_id}, arguments
        )
        return answer

    def update_agent(
        self, agent_id: str, **arguments: Unpack[table.UpdateAgentArguments]
    ) -> models.Agent:
        """Change an agent."""
        answer: models.Agent = self._caller.call(
            table.OPERATIONS["updateAgent"], {"agent_id": agent_id}, arguments
        )
        return answer

    def update_conversation(
        self, id: str, **arguments: Unpack[table.UpdateConversationArguments]
    ) -> models.Conversation:
        """Change title and metadata of a conversation."""
        answer: models.Conversation = self._caller.call(
            table.OPERATIONS["updateConversation"], {"id": id}, arguments
        )
        return answer

    def update_membership(
        self, id: str, user_id: str, **arguments: Unpack[table.UpdateMembershipArguments]
    ) -> models.Membership:
        """Change a member's level."""
        answer: models.Membership = self._caller.call(
            table.OPERATIONS["updateMembership"], {"id": id, "userId": user_id}, arguments
        )
        return answer

    def update_memory(
        self, memory_id: str, **arguments: Unpack[table.UpdateMemoryArguments]
    ) -> models.Memory:
        """Change a memory; earlier versions stay in its history."""
        answer: models.Memory = self._caller.call(
            table.OPERATIONS["updateMemory"], {"memory_id": memory_id}, arguments
        )
        return answer

    def update_person(
        self, person_id: str, **arguments: Unpack[table.UpdatePersonArguments]
    ) -> models.Person:
        """Change a person."""
        answer: models.Person = self._caller.call(
            table.OPERATIONS["updatePerson"], {"person_id": person_id}, arguments
        )
        return answer

    def vacuum_memories(
        self, **arguments: Unpack[table.VacuumMemoriesArguments]
    ) -> models.VacuumReport:
        """Remove memories that expired longer ago than the grace period, and records older than `older_than_days` that neither a live policy nor an expiry of their own keeps."""
        answer: models.VacuumReport = self._caller.call(
            table.OPERATIONS["vacuumMemories"], {}, arguments
        )
        return answer

    def verify_erasure(
        self, erasure_id: str, **arguments: Unpack[table.VerifyErasureArguments]
    ) -> models.EraseReport:
        """Search everything once more for the given names, within 30 days."""
        answer: models.EraseReport = self._caller.call(
            table.OPERATIONS["verifyErasure"], {"erasure_id": erasure_id}, arguments
        )
        return answer

    def iterate_admin_list_api_keys(
        self, **arguments: Unpack[table.AdminListApiKeysArguments]
    ) -> Iterator[models.ApiKey]:
        """List the API keys that were made, the newest first, without the keys themselves: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminListApiKeys"], {}, arguments)

    def iterate_admin_list_conversations(
        self, **arguments: Unpack[table.AdminListConversationsArguments]
    ) -> Iterator[models.AdminConversationSummary]:
        """List anybody's conversations, soft-deleted ones on request: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminListConversations"], {}, arguments)

    def iterate_admin_list_entries(
        self, id: str, **arguments: Unpack[table.AdminListEntriesArguments]
    ) -> Iterator[models.AdminEntry]:
        """List the entries of a conversation, every client's memory included: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminListEntries"], {"id": id}, arguments)

    def iterate_admin_list_events(
        self, **arguments: Unpack[table.AdminListEventsArguments]
    ) -> Iterator[models.Event]:
        """List the audit log, the newest event first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminListEvents"], {}, arguments)

    def iterate_admin_list_forks(
        self, id: str, **arguments: Unpack[table.AdminListForksArguments]
    ) -> Iterator[models.Fork]:
        """List every conversation of a tree, soft-deleted ones too: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminListForks"], {"id": id}, arguments)

    def iterate_admin_list_memberships(
        self, id: str, **arguments: Unpack[table.AdminListMembershipsArguments]
    ) -> Iterator[models.Membership]:
        """List who belongs to the tree of a conversation: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminListMemberships"], {"id": id}, arguments)

    def iterate_admin_search_conversations(
        self, **arguments: Unpack[table.AdminSearchConversationsArguments]
    ) -> Iterator[models.AdminSearchResult]:
        """Search anybody's conversations, soft-deleted ones on request: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["adminSearchConversations"], {}, arguments)

    def iterate_get_history(
        self, memory_id: str, **arguments: Unpack[table.GetHistoryArguments]
    ) -> Iterator[models.HistoryItem]:
        """Get all versions of a memory and of what it replaced, breadth first: page by page, all of them."""
        return self._caller.iterate(
            table.OPERATIONS["getHistory"], {"memory_id": memory_id}, arguments
        )

    def iterate_list_agents(
        self, **arguments: Unpack[table.ListAgentsArguments]
    ) -> Iterator[models.Agent]:
        """List the agents of the caller's orgs and those that the caller owns: the newest first, or by match with `query`: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listAgents"], {}, arguments)

    def iterate_list_approvals(
        self, **arguments: Unpack[table.ListApprovalsArguments]
    ) -> Iterator[models.Approval]:
        """List the caller's own requests, the newest first; an admin sees all: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listApprovals"], {}, arguments)

    def iterate_list_chats(
        self, **arguments: Unpack[table.ListChatsArguments]
    ) -> Iterator[models.Chat]:
        """List the chats where the caller takes part, conversations among them, the newest first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listChats"], {}, arguments)

    def iterate_list_conversations(
        self, **arguments: Unpack[table.ListConversationsArguments]
    ) -> Iterator[models.ConversationSummary]:
        """List the caller's conversations, the most recently updated first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listConversations"], {}, arguments)

    def iterate_list_duplicate_people(
        self, **arguments: Unpack[table.ListDuplicatePeopleArguments]
    ) -> Iterator[models.Duplicates]:
        """List pairs of people who may be one, among those whom the caller may change: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listDuplicatePeople"], {}, arguments)

    def iterate_list_entities(
        self, **arguments: Unpack[table.ListEntitiesArguments]
    ) -> Iterator[models.Entity]:
        """List the entities that memories name which the caller may read, the latest to appear first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listEntities"], {}, arguments)

    def iterate_list_entries(
        self, id: str, **arguments: Unpack[table.ListEntriesArguments]
    ) -> Iterator[models.Entry]:
        """List the entries of a conversation by position, inherited ones included: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listEntries"], {"id": id}, arguments)

    def iterate_list_events(
        self, **arguments: Unpack[table.ListEventsArguments]
    ) -> Iterator[models.MemoryEvent]:
        """List what happened in the caller's own spaces, the newest first; an auditor sees all: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listEvents"], {}, arguments)

    def iterate_list_forks(
        self, id: str, **arguments: Unpack[table.ListForksArguments]
    ) -> Iterator[models.Fork]:
        """List every conversation of the tree, the root first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listForks"], {"id": id}, arguments)

    def iterate_list_memberships(
        self, id: str, **arguments: Unpack[table.ListMembershipsArguments]
    ) -> Iterator[models.Membership]:
        """List who belongs to the tree of a conversation: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listMemberships"], {"id": id}, arguments)

    def iterate_list_memories(
        self, **arguments: Unpack[table.ListMemoriesArguments]
    ) -> Iterator[models.Memory]:
        """List memories, the newest first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listMemories"], {}, arguments)

    def iterate_list_ownership_transfers(
        self, **arguments: Unpack[table.ListOwnershipTransfersArguments]
    ) -> Iterator[models.OwnershipTransfer]:
        """List the pending transfers that the caller takes part in, the newest first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listOwnershipTransfers"], {}, arguments)

    def iterate_list_participants(
        self, chat_id: str, **arguments: Unpack[table.ListParticipantsArguments]
    ) -> Iterator[models.Participant]:
        """List who takes part, by when they joined: page by page, all of them."""
        return self._caller.iterate(
            table.OPERATIONS["listParticipants"], {"chat_id": chat_id}, arguments
        )

    def iterate_list_people(
        self, **arguments: Unpack[table.ListPeopleArguments]
    ) -> Iterator[models.Person]:
        """List the people whose names the caller may see: the newest first, or with `query` those with it in their name or in an alias that the caller may see, the closest first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listPeople"], {}, arguments)

    def iterate_list_person_memories(
        self, person_id: str, **arguments: Unpack[table.ListPersonMemoriesArguments]
    ) -> Iterator[models.Memory]:
        """List what spaces of users and chats hold about a person, as far as it may be told to the caller here, the newest first: page by page, all of them."""
        return self._caller.iterate(
            table.OPERATIONS["listPersonMemories"], {"person_id": person_id}, arguments
        )

    def iterate_list_quarantine(
        self, **arguments: Unpack[table.ListQuarantineArguments]
    ) -> Iterator[models.QuarantinedMemory]:
        """List memories that were set aside because their text looks like orders to the assistant, the newest first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listQuarantine"], {}, arguments)

    def iterate_list_runs(
        self, **arguments: Unpack[table.ListRunsArguments]
    ) -> Iterator[models.Run]:
        """List the runs that the caller may see, the latest start first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listRuns"], {}, arguments)

    def iterate_list_unindexed(
        self, **arguments: Unpack[table.ListUnindexedArguments]
    ) -> Iterator[models.UnindexedEntry]:
        """List history entries that have no text to be found by, the oldest first: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["listUnindexed"], {}, arguments)

    def iterate_search_conversations(
        self, **arguments: Unpack[table.SearchConversationsArguments]
    ) -> Iterator[models.SearchResult]:
        """Search the history of the caller's conversations, by words, by meaning or by both: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["searchConversations"], {}, arguments)

    def iterate_search_memories(
        self, **arguments: Unpack[table.SearchMemoriesArguments]
    ) -> Iterator[models.MemoryHit]:
        """Search memories by words, by meaning, by the people and the times that a query names: page by page, all of them."""
        return self._caller.iterate(table.OPERATIONS["searchMemories"], {}, arguments)
