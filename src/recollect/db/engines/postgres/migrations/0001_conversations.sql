CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE conversation_groups (
  id uuid NOT NULL PRIMARY KEY,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  last_seq bigint NOT NULL DEFAULT 0,
  last_at timestamptz NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX conversation_groups_deleted ON conversation_groups (deleted_at, id)
  WHERE deleted_at IS NOT NULL;

CREATE TABLE conversations (
  id uuid NOT NULL PRIMARY KEY,
  conversation_group_id uuid NOT NULL REFERENCES conversation_groups (id),
  owner_user_id text COLLATE "C" NOT NULL,
  title text,
  title_pending boolean NOT NULL DEFAULT false,
  last_message_preview text,
  last_text_seq bigint,
  metadata text NOT NULL DEFAULT '{}',
  forked_at_conversation_id uuid,
  forked_at_entry_id uuid,
  forked_at_seq bigint,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  vectorized_at timestamptz,
  deleted_at timestamptz
);
CREATE INDEX conversations_tree ON conversations (conversation_group_id, updated_at, id);
CREATE INDEX conversations_updated ON conversations (updated_at, id);
CREATE INDEX conversations_owner ON conversations (owner_user_id);

CREATE TABLE conversation_memberships (
  conversation_group_id uuid NOT NULL REFERENCES conversation_groups (id),
  user_id text COLLATE "C" NOT NULL,
  access_level text NOT NULL CHECK (access_level IN ('reader', 'writer', 'manager', 'owner')),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (conversation_group_id, user_id)
);
CREATE INDEX conversation_memberships_user
  ON conversation_memberships (user_id, conversation_group_id, access_level);
CREATE UNIQUE INDEX conversation_memberships_owner
  ON conversation_memberships (conversation_group_id) WHERE access_level = 'owner';

CREATE TABLE participations (
  conversation_group_id uuid NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  joined_at timestamptz NOT NULL,
  left_at timestamptz
);
CREATE INDEX participations_tree ON participations (conversation_group_id, user_id, joined_at);
CREATE INDEX participations_user ON participations (user_id, joined_at);
CREATE UNIQUE INDEX participations_open
  ON participations (conversation_group_id, user_id) WHERE left_at IS NULL;

CREATE TABLE entries (
  id uuid NOT NULL PRIMARY KEY,
  conversation_id uuid NOT NULL REFERENCES conversations (id),
  conversation_group_id uuid NOT NULL,
  seq bigint NOT NULL,
  user_id text COLLATE "C",
  client_id text COLLATE "C",
  channel text NOT NULL CHECK (channel IN ('history', 'memory')),
  epoch bigint,
  content_type text NOT NULL,
  content text NOT NULL,
  indexed_content text,
  indexed_content_tsv tsvector
    GENERATED ALWAYS AS (to_tsvector('simple', indexed_content)) STORED,
  indexed_at timestamptz,
  text_seq bigint,
  created_at timestamptz NOT NULL,
  CHECK ((channel = 'memory') = (epoch IS NOT NULL)),
  CHECK (channel = 'history' OR client_id IS NOT NULL)
);
CREATE UNIQUE INDEX entries_tree ON entries (conversation_group_id, seq);
CREATE INDEX entries_branch ON entries (conversation_id, seq);
CREATE INDEX entries_history ON entries (conversation_id, seq) WHERE channel = 'history';
CREATE INDEX entries_memory ON entries (conversation_id, client_id, seq) WHERE channel = 'memory';
CREATE INDEX entries_epoch ON entries (conversation_id, client_id, epoch, seq)
  WHERE channel = 'memory';

CREATE TABLE conversation_ownership_transfers (
  id uuid NOT NULL PRIMARY KEY,
  conversation_group_id uuid NOT NULL UNIQUE REFERENCES conversation_groups (id),
  from_user_id text COLLATE "C" NOT NULL,
  to_user_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  CHECK (from_user_id <> to_user_id)
);
CREATE INDEX conversation_ownership_transfers_from ON conversation_ownership_transfers (from_user_id);
CREATE INDEX conversation_ownership_transfers_to ON conversation_ownership_transfers (to_user_id);

CREATE TABLE tasks (
  id uuid NOT NULL PRIMARY KEY,
  task_name text UNIQUE,
  task_type text NOT NULL,
  task_body text NOT NULL,
  created_at timestamptz NOT NULL,
  retry_at timestamptz NOT NULL,
  last_error text,
  retry_count bigint NOT NULL DEFAULT 0,
  claim_id uuid,
  stuck_at timestamptz
);
CREATE INDEX tasks_due ON tasks (retry_at, id) WHERE stuck_at IS NULL;

CREATE TABLE entry_embeddings (
  entry_id uuid NOT NULL PRIMARY KEY,
  conversation_id uuid NOT NULL,
  conversation_group_id uuid NOT NULL,
  embedding vector NOT NULL
);
CREATE INDEX entry_embeddings_tree ON entry_embeddings (conversation_group_id);

CREATE TABLE audit_events (
  position xid8 NOT NULL DEFAULT pg_current_xact_id(),
  id uuid NOT NULL PRIMARY KEY,
  at timestamptz NOT NULL,
  kind text NOT NULL,
  action text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('allowed', 'denied')),
  actor_user_id text COLLATE "C",
  actor_client_id text COLLATE "C",
  role text,
  conversation_id uuid,
  target_user_id text COLLATE "C",
  from_level text,
  to_level text,
  transfer_id uuid,
  params text NOT NULL DEFAULT '{}',
  count bigint,
  justification text
);
CREATE INDEX audit_events_position ON audit_events (position, id);
CREATE INDEX audit_events_at ON audit_events (at, id);
CREATE INDEX audit_events_actor ON audit_events (actor_user_id, at);
CREATE INDEX audit_events_target ON audit_events (target_user_id, at);
CREATE INDEX audit_events_conversation ON audit_events (conversation_id, at);

CREATE TABLE server_state (
  name text NOT NULL PRIMARY KEY,
  value text NOT NULL
);
