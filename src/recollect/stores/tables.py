"""The tables, for building statements. The migrations own the real definitions; a test holds the
two equal on every engine. Names are the contract's, so operators' SQL keeps working."""

from sqlalchemy import BigInteger, Boolean, Column, DateTime, MetaData, Table, Text, Uuid

from recollect.stores.engines.expressions import VectorType

metadata = MetaData()


def _id(name: str) -> Column[str]:
    return Column(name, Uuid(as_uuid=False))


def _text(name: str) -> Column[str]:
    return Column(name, Text)


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger)


def _at(name: str) -> Column[object]:
    return Column(name, DateTime(timezone=True))


trees = Table(
    "conversation_groups",
    metadata,
    _id("id"),
    _at("created_at"),
    _at("deleted_at"),
    _number("last_seq"),
    _at("last_at"),
    _number("index_revision"),
    _number("index_entries"),
)

conversations = Table(
    "conversations",
    metadata,
    _id("id"),
    _id("conversation_group_id"),
    _text("owner_user_id"),
    _text("title"),
    Column("title_pending", Boolean),
    _text("last_message_preview"),
    _number("last_text_seq"),
    _text("metadata"),
    _id("forked_at_conversation_id"),
    _id("forked_at_entry_id"),
    _number("forked_at_seq"),
    _at("created_at"),
    _at("updated_at"),
    _at("vectorized_at"),
    _at("deleted_at"),
)

memberships = Table(
    "conversation_memberships",
    metadata,
    _id("conversation_group_id"),
    _text("user_id"),
    _text("access_level"),
    _at("created_at"),
)

participations = Table(
    "participations",
    metadata,
    _id("conversation_group_id"),
    _text("user_id"),
    _at("joined_at"),
    _at("left_at"),
)

entries = Table(
    "entries",
    metadata,
    _id("id"),
    _id("conversation_id"),
    _id("conversation_group_id"),
    _number("seq"),
    _text("user_id"),
    _text("client_id"),
    _text("channel"),
    _number("epoch"),
    _text("content_type"),
    _text("content"),
    _text("indexed_content"),
    _at("indexed_at"),
    _number("text_seq"),
    _at("created_at"),
)

transfers = Table(
    "conversation_ownership_transfers",
    metadata,
    _id("id"),
    _id("conversation_group_id"),
    _text("from_user_id"),
    _text("to_user_id"),
    _at("created_at"),
)

tasks = Table(
    "tasks",
    metadata,
    _id("id"),
    _text("task_name"),
    _text("task_type"),
    _text("task_body"),
    _at("created_at"),
    _at("retry_at"),
    _text("last_error"),
    _number("retry_count"),
    _id("claim_id"),
    _at("stuck_at"),
)

embeddings = Table(
    "entry_embeddings",
    metadata,
    _id("entry_id"),
    _id("conversation_id"),
    _id("conversation_group_id"),
    Column("embedding", VectorType()),
    Column("window_embedding", VectorType()),
    _text("model"),
    _number("dimensions"),
    _number("revision"),
)

index = Table(
    "entry_index",
    metadata,
    _number("doc"),
    _id("entry_id"),
    _id("conversation_group_id"),
    _id("conversation_id"),
    _number("seq"),
    _number("revision"),
    _text("speaker"),
    _number("traits"),
    _number("head"),
    _text("terms"),
    _text("stems"),
    Column("pending", Boolean),
)

events = Table(
    "audit_events",
    metadata,
    _id("id"),
    _at("at"),
    _text("kind"),
    _text("action"),
    _text("outcome"),
    _text("actor_user_id"),
    _text("actor_client_id"),
    _text("role"),
    _id("conversation_id"),
    _text("target_user_id"),
    _text("from_level"),
    _text("to_level"),
    _id("transfer_id"),
    _text("params"),
    _number("count"),
    _text("justification"),
)

state = Table("server_state", metadata, _text("name"), _text("value"))
