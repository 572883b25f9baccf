"""Tables of conversations, jobs, the search index, the audit log and API keys.

The migrations own the real definitions; a test compares the two on every engine. Table names are
public: operators' SQL relies on them.
"""

from sqlalchemy import Column, Table

from recollect.db.columns import flag, metadata, number, text, timestamp, uuid
from recollect.db.engines.expressions import VectorType

# A tree: a root conversation and all its forks. Locking its row serializes appends to the tree.
# `last_seq` is the highest position of an entry in the tree, whatever the branch. `index_revision`
# grows with every change of the tree's rows in `entry_index`; `index_entries` counts them, and
# `index_removals` those that left it.
trees = Table(
    "conversation_groups",
    metadata,
    uuid("id"),
    timestamp("created_at"),
    timestamp("deleted_at"),
    number("last_seq"),
    timestamp("last_at"),
    number("index_revision"),
    number("index_entries"),
    number("index_removals"),
)

# A branch of a tree; the root has the tree's id. `title_pending`: the first history entry will set
# the title. `forked_at_seq` is the position up to which a fork shares its parent's entries.
conversations = Table(
    "conversations",
    metadata,
    uuid("id"),
    uuid("conversation_group_id"),
    text("owner_user_id"),
    text("title"),
    flag("title_pending"),
    text("last_message_preview"),
    number("last_text_seq"),
    text("metadata"),
    uuid("forked_at_conversation_id"),
    uuid("forked_at_entry_id"),
    number("forked_at_seq"),
    timestamp("created_at"),
    timestamp("updated_at"),
    timestamp("vectorized_at"),
    timestamp("deleted_at"),
)

memberships = Table(
    "conversation_memberships",
    metadata,
    uuid("conversation_group_id"),
    text("user_id"),
    text("access_level"),
    timestamp("created_at"),
)

# Unlike memberships, ended ones stay: the visibility rules ask who was in a chat at some time.
participations = Table(
    "participations",
    metadata,
    uuid("conversation_group_id"),
    text("user_id"),
    timestamp("joined_at"),
    timestamp("left_at"),
    timestamp("confirmed_at"),
)

# `seq` is the position in the tree, unique there across branches. `text_seq` is the position of the
# last history entry with text up to this one, for previews. `epoch` is for the memory channel only.
# An entry that was deleted has `removed_at` and no content.
entries = Table(
    "entries",
    metadata,
    uuid("id"),
    uuid("conversation_id"),
    uuid("conversation_group_id"),
    number("seq"),
    text("user_id"),
    text("client_id"),
    text("channel"),
    number("epoch"),
    text("content_type"),
    text("content"),
    text("indexed_content"),
    timestamp("indexed_at"),
    number("text_seq"),
    timestamp("created_at"),
    timestamp("removed_at"),
)

transfers = Table(
    "conversation_ownership_transfers",
    metadata,
    uuid("id"),
    uuid("conversation_group_id"),
    text("from_user_id"),
    text("to_user_id"),
    timestamp("created_at"),
)

# The job queue, see `jobs/store.py`. `retry_at` is the time a job is due, and the end of its lease.
tasks = Table(
    "tasks",
    metadata,
    uuid("id"),
    text("task_name"),
    text("task_type"),
    text("task_body"),
    timestamp("created_at"),
    timestamp("retry_at"),
    text("last_error"),
    number("retry_count"),
    uuid("claim_id"),
    timestamp("stuck_at"),
)

embeddings = Table(
    "entry_embeddings",
    metadata,
    uuid("entry_id"),
    uuid("conversation_id"),
    uuid("conversation_group_id"),
    Column("embedding", VectorType()),
    Column("window_embedding", VectorType()),
    text("model"),
    number("dimensions"),
    number("revision"),
)

# The words of entries. The server makes the words, so that both engines split a text alike; the
# engine's full-text index only finds rows. `doc` is that index's row id. `head` is the number of
# words in the first part of the text. `pending`: the vector is still missing.
index = Table(
    "entry_index",
    metadata,
    number("doc"),
    uuid("entry_id"),
    uuid("conversation_group_id"),
    uuid("conversation_id"),
    number("seq"),
    number("revision"),
    text("speaker"),
    number("traits"),
    number("head"),
    text("terms"),
    text("stems"),
    flag("pending"),
)

# The audit log. The column `position` (decision 0007) is not listed: the engines fill it, and only
# the expressions of `db/engines/expressions.py` read it.
events = Table(
    "audit_events",
    metadata,
    uuid("id"),
    timestamp("at"),
    text("kind"),
    text("action"),
    text("outcome"),
    text("actor_user_id"),
    text("actor_client_id"),
    text("role"),
    uuid("conversation_id"),
    text("target_user_id"),
    text("from_level"),
    text("to_level"),
    uuid("transfer_id"),
    text("params"),
    number("count"),
    text("justification"),
    text("memory_id"),
    text("agent_id"),
    text("run_id"),
    text("space_kind"),
    text("space_id"),
)

state = Table("server_state", metadata, text("name"), text("value"))

# Keys that the server issued. `digest` is the hash of a key, which is stored nowhere itself.
api_keys = Table(
    "api_keys",
    metadata,
    uuid("id"),
    text("digest"),
    text("client_id"),
    text("name"),
    timestamp("created_at"),
    text("created_by"),
    timestamp("expires_at"),
    timestamp("revoked_at"),
)
