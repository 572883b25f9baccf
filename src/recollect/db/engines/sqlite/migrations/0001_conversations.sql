CREATE TABLE conversation_groups (
  id TEXT NOT NULL PRIMARY KEY,
  created_at TEXT NOT NULL,
  deleted_at TEXT,
  last_seq INTEGER NOT NULL DEFAULT 0,
  last_at TEXT NOT NULL
) STRICT;
CREATE INDEX conversation_groups_deleted ON conversation_groups (deleted_at, id)
  WHERE deleted_at IS NOT NULL;

CREATE TABLE conversations (
  id TEXT NOT NULL PRIMARY KEY,
  conversation_group_id TEXT NOT NULL REFERENCES conversation_groups (id),
  owner_user_id TEXT NOT NULL,
  title TEXT,
  title_pending INTEGER NOT NULL DEFAULT 0,
  last_message_preview TEXT,
  last_text_seq INTEGER,
  metadata TEXT NOT NULL DEFAULT '{}',
  forked_at_conversation_id TEXT,
  forked_at_entry_id TEXT,
  forked_at_seq INTEGER,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  vectorized_at TEXT,
  deleted_at TEXT
) STRICT;
CREATE INDEX conversations_tree ON conversations (conversation_group_id, updated_at, id);
CREATE INDEX conversations_updated ON conversations (updated_at, id);
CREATE INDEX conversations_owner ON conversations (owner_user_id);

CREATE TABLE conversation_memberships (
  conversation_group_id TEXT NOT NULL REFERENCES conversation_groups (id),
  user_id TEXT NOT NULL,
  access_level TEXT NOT NULL CHECK (access_level IN ('reader', 'writer', 'manager', 'owner')),
  created_at TEXT NOT NULL,
  PRIMARY KEY (conversation_group_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX conversation_memberships_user
  ON conversation_memberships (user_id, conversation_group_id, access_level);
CREATE UNIQUE INDEX conversation_memberships_owner
  ON conversation_memberships (conversation_group_id) WHERE access_level = 'owner';

CREATE TABLE participations (
  conversation_group_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  joined_at TEXT NOT NULL,
  left_at TEXT
) STRICT;
CREATE INDEX participations_tree ON participations (conversation_group_id, user_id, joined_at);
CREATE INDEX participations_user ON participations (user_id, joined_at);
CREATE UNIQUE INDEX participations_open
  ON participations (conversation_group_id, user_id) WHERE left_at IS NULL;

CREATE TABLE entries (
  id TEXT NOT NULL PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversations (id),
  conversation_group_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  user_id TEXT,
  client_id TEXT,
  channel TEXT NOT NULL CHECK (channel IN ('history', 'memory')),
  epoch INTEGER,
  content_type TEXT NOT NULL,
  content TEXT NOT NULL,
  indexed_content TEXT,
  indexed_at TEXT,
  text_seq INTEGER,
  created_at TEXT NOT NULL,
  CHECK ((channel = 'memory') = (epoch IS NOT NULL)),
  CHECK (channel = 'history' OR client_id IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX entries_tree ON entries (conversation_group_id, seq);
CREATE INDEX entries_branch ON entries (conversation_id, seq);
CREATE INDEX entries_history ON entries (conversation_id, seq) WHERE channel = 'history';
CREATE INDEX entries_memory ON entries (conversation_id, client_id, seq) WHERE channel = 'memory';
CREATE INDEX entries_epoch ON entries (conversation_id, client_id, epoch, seq)
  WHERE channel = 'memory';

CREATE TABLE conversation_ownership_transfers (
  id TEXT NOT NULL PRIMARY KEY,
  conversation_group_id TEXT NOT NULL UNIQUE REFERENCES conversation_groups (id),
  from_user_id TEXT NOT NULL,
  to_user_id TEXT NOT NULL,
  created_at TEXT NOT NULL,
  CHECK (from_user_id <> to_user_id)
) STRICT;
CREATE INDEX conversation_ownership_transfers_from ON conversation_ownership_transfers (from_user_id);
CREATE INDEX conversation_ownership_transfers_to ON conversation_ownership_transfers (to_user_id);

CREATE TABLE tasks (
  id TEXT NOT NULL PRIMARY KEY,
  task_name TEXT UNIQUE,
  task_type TEXT NOT NULL,
  task_body TEXT NOT NULL,
  created_at TEXT NOT NULL,
  retry_at TEXT NOT NULL,
  last_error TEXT,
  retry_count INTEGER NOT NULL DEFAULT 0,
  claim_id TEXT,
  stuck_at TEXT
) STRICT;
CREATE INDEX tasks_due ON tasks (retry_at, id) WHERE stuck_at IS NULL;

CREATE TABLE entry_embeddings (
  entry_id TEXT NOT NULL PRIMARY KEY,
  conversation_id TEXT NOT NULL,
  conversation_group_id TEXT NOT NULL,
  embedding BLOB NOT NULL
) STRICT;
CREATE INDEX entry_embeddings_tree ON entry_embeddings (conversation_group_id);

CREATE TABLE audit_events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  action TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('allowed', 'denied')),
  actor_user_id TEXT,
  actor_client_id TEXT,
  role TEXT,
  conversation_id TEXT,
  target_user_id TEXT,
  from_level TEXT,
  to_level TEXT,
  transfer_id TEXT,
  params TEXT NOT NULL DEFAULT '{}',
  count INTEGER,
  justification TEXT
) STRICT;
CREATE INDEX audit_events_at ON audit_events (at, id);
CREATE INDEX audit_events_actor ON audit_events (actor_user_id, at);
CREATE INDEX audit_events_target ON audit_events (target_user_id, at);
CREATE INDEX audit_events_conversation ON audit_events (conversation_id, at);

CREATE TABLE server_state (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
