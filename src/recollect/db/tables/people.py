"""Tables of agents, people, chats and runs, and the two views of who was in which chat."""

from sqlalchemy import Table

from recollect.db.columns import flag, metadata, number, text, timestamp, views

agents = Table(
    "agents",
    metadata,
    text("id"),
    text("name"),
    text("description"),
    text("owner_kind"),
    text("owner_id"),
    text("org_id"),
    text("space_mode"),
    text("created_by_kind"),
    text("created_by_id"),
    timestamp("created_at"),
    timestamp("updated_at"),
    text("metadata"),
    timestamp("removed_at"),
)

user_orgs = Table(
    "user_orgs",
    metadata,
    text("user_id"),
    text("org_id"),
)

# Every column elsewhere that names a person holds the id of an unmerged one: a merge updates them.
people = Table(
    "people",
    metadata,
    text("id"),
    text("name"),
    text("normal_name"),
    text("time_zone"),
    text("created_by_kind"),
    text("created_by_id"),
    timestamp("created_at"),
    timestamp("updated_at"),
    text("merged_into"),
    text("metadata"),
    text("erasure_id"),
    text("awaited_handle"),
    text("awaited_provider"),
)

# The versions before changes of a person, each with the instant at which it ended.
person_versions = Table(
    "person_versions",
    metadata,
    text("id"),
    text("person_id"),
    text("name"),
    text("normal_name"),
    text("time_zone"),
    text("metadata"),
    timestamp("updated_at"),
    timestamp("until"),
)

person_orgs = Table(
    "person_orgs",
    metadata,
    text("person_id"),
    text("org_id"),
)

person_users = Table(
    "person_users",
    metadata,
    text("user_id"),
    text("person_id"),
)

person_aliases = Table(
    "person_aliases",
    metadata,
    text("id"),
    text("person_id"),
    text("value"),
    text("normal_value"),
    text("kind"),
    text("provider"),
    text("added_by_kind"),
    text("added_by_id"),
    text("stated_by"),
    text("chat_id"),
    timestamp("created_at"),
    flag("verified"),
)

person_relationships = Table(
    "person_relationships",
    metadata,
    text("id"),
    text("person_id"),
    text("relationship"),
    text("normal_relationship"),
    text("to_person_id"),
    text("added_by_kind"),
    text("added_by_id"),
    text("stated_by"),
    text("chat_id"),
    timestamp("created_at"),
)

# `moved` is what a merge changed, so that it can be undone.
person_merges = Table(
    "person_merges",
    metadata,
    text("id"),
    text("primary_id"),
    text("secondary_id"),
    timestamp("at"),
    text("by_kind"),
    text("by_id"),
    text("moved"),
    timestamp("undone_at"),
)

# Chats that an outside system names. A conversation tree is a chat too: see the view `chats`.
named_chats = Table(
    "named_chats",
    metadata,
    text("id"),
    text("kind"),
    text("title"),
    text("provider"),
    text("created_by_kind"),
    text("created_by_id"),
    timestamp("created_at"),
)

chat_participations = Table(
    "chat_participations",
    metadata,
    text("chat_id"),
    text("kind"),
    text("member_id"),
    timestamp("joined_at"),
    timestamp("left_at"),
    timestamp("confirmed_at"),
)

runs = Table(
    "runs",
    metadata,
    text("id"),
    text("agent_id"),
    text("parent_run_id"),
    text("root_run_id"),
    text("status"),
    text("error"),
    timestamp("started_at"),
    timestamp("completed_at"),
    text("metadata"),
)

# Every ancestor of every run, so that lineage is one lookup in either direction.
run_ancestors = Table(
    "run_ancestors",
    metadata,
    text("run_id"),
    text("ancestor_id"),
    number("depth"),
)

# A view: who was in which chat when. Members of conversation trees and of named chats.
presences = Table(
    "presences",
    views,
    text("chat_id"),
    text("kind"),
    text("member_id"),
    timestamp("joined_at"),
    timestamp("left_at"),
    timestamp("confirmed_at"),
)

# A view: named chats, and every live tree under its root's id with a computed kind and title.
chats = Table(
    "chats",
    views,
    text("id"),
    text("kind"),
    text("title"),
    text("provider"),
    flag("tree"),
    text("created_by_kind"),
    text("created_by_id"),
    timestamp("created_at"),
)
