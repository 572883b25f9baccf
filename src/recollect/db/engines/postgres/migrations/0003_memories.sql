-- Who may own and ask: registered agents, and what is known of users.
CREATE TABLE agents (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  name text,
  description text,
  owner_kind text COLLATE "C" NOT NULL CHECK (owner_kind IN ('user', 'agent')),
  owner_id text COLLATE "C" NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  space_mode text COLLATE "C" CHECK (space_mode IN ('dual', 'single')),
  created_by_kind text COLLATE "C" NOT NULL,
  created_by_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  metadata text NOT NULL DEFAULT '{}',
  -- The id of a removed agent stays taken while archived memories of it exist.
  removed_at timestamptz
);
CREATE INDEX agents_owner ON agents (owner_kind, owner_id, id);
CREATE INDEX agents_created ON agents (created_at, id);

CREATE TABLE user_orgs (
  user_id text COLLATE "C" NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (user_id, org_id)
);

-- People. Every column that names a person holds a canonical id: a merge moves them.
CREATE TABLE people (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  normal_name text COLLATE "C" NOT NULL,
  time_zone text,
  created_by_kind text COLLATE "C" NOT NULL,
  created_by_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  merged_into text COLLATE "C",
  metadata text NOT NULL DEFAULT '{}',
  erasure_id text COLLATE "C"
);
CREATE INDEX people_name ON people (normal_name, id);
CREATE INDEX people_created ON people (created_at, id);
CREATE INDEX people_creator ON people (created_by_kind, created_by_id);
CREATE INDEX people_merged ON people (merged_into) WHERE merged_into IS NOT NULL;

CREATE TABLE person_orgs (
  person_id text COLLATE "C" NOT NULL,
  org_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (person_id, org_id)
);
CREATE INDEX person_orgs_org ON person_orgs (org_id, person_id);

CREATE TABLE person_users (
  user_id text COLLATE "C" NOT NULL PRIMARY KEY,
  person_id text COLLATE "C" NOT NULL
);
CREATE INDEX person_users_person ON person_users (person_id);

CREATE TABLE person_aliases (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  person_id text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  normal_value text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('alias', 'handle')),
  provider text COLLATE "C",
  added_by_kind text COLLATE "C" NOT NULL,
  added_by_id text COLLATE "C" NOT NULL,
  stated_by text COLLATE "C",
  chat_id text COLLATE "C",
  created_at timestamptz NOT NULL
);
CREATE INDEX person_aliases_person ON person_aliases (person_id, created_at, id);
CREATE INDEX person_aliases_value ON person_aliases (normal_value, kind);
CREATE INDEX person_aliases_stater ON person_aliases (stated_by);

CREATE TABLE person_relationships (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  person_id text COLLATE "C" NOT NULL,
  relationship text COLLATE "C" NOT NULL,
  normal_relationship text COLLATE "C" NOT NULL,
  to_person_id text COLLATE "C",
  added_by_kind text COLLATE "C" NOT NULL,
  added_by_id text COLLATE "C" NOT NULL,
  stated_by text COLLATE "C",
  chat_id text COLLATE "C",
  created_at timestamptz NOT NULL
);
CREATE INDEX person_relationships_person ON person_relationships (person_id, created_at, id);
CREATE INDEX person_relationships_to ON person_relationships (to_person_id);
CREATE INDEX person_relationships_stater ON person_relationships (stated_by, normal_relationship);

-- What a merge moved, so that it can be undone.
CREATE TABLE person_merges (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  primary_id text COLLATE "C" NOT NULL,
  secondary_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  by_kind text COLLATE "C" NOT NULL,
  by_id text COLLATE "C" NOT NULL,
  moved text NOT NULL,
  undone_at timestamptz
);
CREATE INDEX person_merges_primary ON person_merges (primary_id, at);
CREATE INDEX person_merges_secondary ON person_merges (secondary_id, at);

-- Chats that an outside system names. A tree of conversations is a chat too: see the views.
CREATE TABLE named_chats (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('private', 'group')),
  title text,
  provider text,
  created_by_kind text COLLATE "C" NOT NULL,
  created_by_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX named_chats_creator ON named_chats (created_by_kind, created_by_id);

CREATE TABLE chat_participations (
  chat_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('user', 'person', 'agent')),
  member_id text COLLATE "C" NOT NULL,
  joined_at timestamptz NOT NULL,
  left_at timestamptz
);
CREATE INDEX chat_participations_chat ON chat_participations (chat_id, kind, member_id, joined_at);
CREATE INDEX chat_participations_member ON chat_participations (kind, member_id, chat_id);
CREATE UNIQUE INDEX chat_participations_open
  ON chat_participations (chat_id, kind, member_id) WHERE left_at IS NULL;
CREATE INDEX participations_chat
  ON participations (((conversation_group_id)::text COLLATE "C"), user_id);

CREATE VIEW presences AS
  SELECT (conversation_group_id)::text COLLATE "C" AS chat_id, 'user'::text COLLATE "C" AS kind,
    user_id AS member_id, joined_at, left_at
  FROM participations
  UNION ALL
  SELECT chat_id, kind, member_id, joined_at, left_at FROM chat_participations;

CREATE INDEX conversations_chat ON conversations (((id)::text COLLATE "C"))
  WHERE id = conversation_group_id;
CREATE VIEW chats AS
  SELECT id, kind, title, provider, false AS tree, created_by_kind, created_by_id, created_at
  FROM named_chats
  UNION ALL
  SELECT (id)::text COLLATE "C", NULL, NULL, NULL, true, 'user'::text COLLATE "C", owner_user_id,
    created_at
  FROM conversations WHERE id = conversation_group_id AND deleted_at IS NULL;

CREATE TABLE runs (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  agent_id text COLLATE "C" NOT NULL,
  parent_run_id text COLLATE "C",
  root_run_id text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL
    CHECK (status IN ('running', 'succeeded', 'failed', 'cancelled')),
  error text,
  started_at timestamptz NOT NULL,
  completed_at timestamptz,
  metadata text NOT NULL DEFAULT '{}'
);
CREATE INDEX runs_agent ON runs (agent_id, started_at, id);
CREATE INDEX runs_root ON runs (root_run_id);
CREATE INDEX runs_parent ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;

-- Every ancestor of every run, so that lineage is one look-up in either direction.
CREATE TABLE run_ancestors (
  run_id text COLLATE "C" NOT NULL,
  ancestor_id text COLLATE "C" NOT NULL,
  depth bigint NOT NULL,
  PRIMARY KEY (run_id, ancestor_id)
);
CREATE INDEX run_ancestors_up ON run_ancestors (ancestor_id, run_id);

CREATE TABLE memories (
  doc bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('statement', 'record')),
  content text NOT NULL,
  key text COLLATE "C",
  value text,
  messages text,
  space_kind text COLLATE "C" NOT NULL,
  space_id text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C",
  org_id text COLLATE "C",
  type text COLLATE "C" NOT NULL,
  sensitivity text COLLATE "C" NOT NULL
    CHECK (sensitivity IN ('public', 'personal', 'sensitive')),
  portable boolean NOT NULL,
  has_subjects boolean NOT NULL,
  bare_names text,
  stated_by text COLLATE "C",
  learned_in text COLLATE "C",
  origin text COLLATE "C" NOT NULL CHECK (origin IN ('chat', 'direct', 'unknown')),
  observed_at timestamptz NOT NULL,
  confidence double precision,
  verified boolean NOT NULL,
  trust text COLLATE "C" NOT NULL CHECK (trust IN ('fact', 'unknown', 'hearsay')),
  tags text NOT NULL DEFAULT '[]',
  metadata text NOT NULL DEFAULT '{}',
  pii_tags text NOT NULL DEFAULT '[]',
  pii_risk bigint NOT NULL DEFAULT 0,
  retention_policy text COLLATE "C",
  expires_at timestamptz,
  expiry_rule text COLLATE "C" NOT NULL,
  requested_expires_at timestamptz,
  explicit_expires_at timestamptz,
  approved_expires_at timestamptz,
  valid_from timestamptz,
  valid_until timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  retracted_at timestamptz,
  superseded_by text COLLATE "C",
  repeats bigint NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 1,
  source text COLLATE "C" NOT NULL,
  source_agent text COLLATE "C",
  run_id text COLLATE "C",
  parent_run_id text COLLATE "C",
  status text COLLATE "C" NOT NULL
    CHECK (status IN ('active', 'superseded', 'archived', 'quarantined')),
  archive_reason text COLLATE "C",
  status_at timestamptz NOT NULL,
  written_by_kind text COLLATE "C" NOT NULL,
  written_by_id text COLLATE "C" NOT NULL,
  import_id text COLLATE "C",
  fold text COLLATE "C" NOT NULL,
  privacy_said boolean NOT NULL DEFAULT false,
  suspicion double precision NOT NULL DEFAULT 0,
  suspicion_reasons text NOT NULL DEFAULT '[]',
  used_at timestamptz,
  compacted_at timestamptz,
  erasure_id text COLLATE "C"
);
CREATE INDEX memories_space ON memories (space_kind, space_id, created_at, id);
CREATE INDEX memories_created ON memories (created_at, id);
CREATE INDEX memories_by_key ON memories (space_kind, space_id, key) WHERE key IS NOT NULL;
-- The hash comes first: else the rows of a space would be read in its order, from all over the table.
CREATE INDEX memories_fold ON memories (fold, space_kind, space_id);
CREATE INDEX memories_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memories_stater ON memories (stated_by) WHERE stated_by IS NOT NULL;
CREATE INDEX memories_learned ON memories (learned_in) WHERE learned_in IS NOT NULL;
CREATE INDEX memories_agent ON memories (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX memories_run ON memories (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX memories_import ON memories (import_id) WHERE import_id IS NOT NULL;
CREATE INDEX memories_successor ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memories_inactive ON memories (status, status_at) WHERE status <> 'active';

CREATE TABLE memory_subjects (
  memory_id text COLLATE "C" NOT NULL,
  person_id text COLLATE "C" NOT NULL,
  place bigint NOT NULL,
  PRIMARY KEY (memory_id, person_id)
);
CREATE INDEX memory_subjects_person ON memory_subjects (person_id, memory_id);

CREATE TABLE memory_tags (
  memory_id text COLLATE "C" NOT NULL,
  tag text COLLATE "C" NOT NULL,
  PRIMARY KEY (memory_id, tag)
);
CREATE INDEX memory_tags_tag ON memory_tags (tag, memory_id);

-- Where a memory came from: entries, or other memories.
CREATE TABLE memory_sources (
  memory_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('entry', 'memory')),
  source_id text COLLATE "C" NOT NULL,
  place bigint NOT NULL,
  PRIMARY KEY (memory_id, kind, source_id)
);
CREATE INDEX memory_sources_source ON memory_sources (kind, source_id);

-- `supersedes`: from the successor to what it replaced; it outlives both. `conflict`: both ways.
CREATE TABLE memory_links (
  from_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('supersedes', 'conflict')),
  to_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  reason text COLLATE "C" NOT NULL DEFAULT '',
  PRIMARY KEY (from_id, kind, to_id)
);
CREATE INDEX memory_links_to ON memory_links (to_id, kind);

-- Every version, the present one without a snapshot. Half open: current from `at` until `until`.
CREATE TABLE memory_versions (
  id text COLLATE "C" NOT NULL UNIQUE,
  memory_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  change text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  until timestamptz,
  by_kind text COLLATE "C" NOT NULL,
  by_id text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  valid_from timestamptz,
  valid_until timestamptz,
  snapshot text,
  PRIMARY KEY (memory_id, version)
);

-- Of a removed memory that histories of others name.
CREATE TABLE memory_removals (
  memory_id text COLLATE "C" NOT NULL PRIMARY KEY,
  removed_at timestamptz NOT NULL
);

CREATE TABLE memory_index (
  doc bigint NOT NULL PRIMARY KEY,
  memory_id text COLLATE "C" NOT NULL UNIQUE,
  revision bigint NOT NULL DEFAULT 0,
  head bigint NOT NULL DEFAULT 0,
  -- Of the vector that the row has: a search asks for many rows, and vectors lie far apart.
  vector_model text COLLATE "C",
  terms text NOT NULL,
  stems text NOT NULL,
  pending boolean NOT NULL,
  words tsvector GENERATED ALWAYS AS (
    CASE WHEN left(terms, 1) = chr(1) THEN NULL
    ELSE array_to_tsvector(array_remove(string_to_array(terms || ' ' || stems, ' '), '')) END
  ) STORED
);
CREATE INDEX memory_index_pending ON memory_index (doc) WHERE pending;
CREATE INDEX memory_index_words ON memory_index USING gin (words);

CREATE TABLE memory_embeddings (
  doc bigint NOT NULL PRIMARY KEY,
  memory_id text COLLATE "C" NOT NULL UNIQUE,
  embedding vector NOT NULL,
  model text COLLATE "C" NOT NULL,
  dimensions bigint NOT NULL
);
ALTER TABLE memory_embeddings ALTER COLUMN embedding SET STORAGE MAIN;

CREATE TABLE entities (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('organisation', 'place', 'project', 'thing')),
  name text COLLATE "C" NOT NULL,
  fold text COLLATE "C" NOT NULL,
  space_kind text COLLATE "C" NOT NULL,
  space_id text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX entities_name ON entities (space_kind, space_id, kind, fold);

CREATE TABLE relations (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  from_id text COLLATE "C" NOT NULL,
  to_id text COLLATE "C" NOT NULL,
  relation text COLLATE "C" NOT NULL,
  memory_id text COLLATE "C" NOT NULL,
  recorded_at timestamptz NOT NULL,
  -- Set when a later version of the memory states it no more.
  retracted_at timestamptz
);
CREATE INDEX relations_from ON relations (from_id, id);
CREATE INDEX relations_to ON relations (to_id, id);
CREATE INDEX relations_memory ON relations (memory_id);

CREATE TABLE approvals (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  memory_id text COLLATE "C" NOT NULL,
  requested_by_kind text COLLATE "C" NOT NULL,
  requested_by_id text COLLATE "C" NOT NULL,
  requested_expires_at timestamptz,
  status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'approved', 'denied')),
  decided_by text COLLATE "C",
  decided_at timestamptz,
  justification text,
  valid_until timestamptz NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX approvals_memory ON approvals (memory_id);
CREATE INDEX approvals_created ON approvals (created_at, id);
CREATE INDEX approvals_requester ON approvals (requested_by_kind, requested_by_id, created_at);

CREATE TABLE idempotency_answers (
  requester_kind text COLLATE "C" NOT NULL,
  requester_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  status bigint,
  answer text,
  claimed_at timestamptz NOT NULL,
  PRIMARY KEY (requester_kind, requester_id, key)
);
CREATE INDEX idempotency_answers_age ON idempotency_answers (claimed_at);

-- Which ids an answer tells of: it goes when one of them does.
CREATE TABLE idempotency_mentions (
  mentioned_id text COLLATE "C" NOT NULL,
  requester_kind text COLLATE "C" NOT NULL,
  requester_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  PRIMARY KEY (mentioned_id, requester_kind, requester_id, key)
);
CREATE INDEX idempotency_mentions_answer
  ON idempotency_mentions (requester_kind, requester_id, key);

CREATE TABLE rollbacks (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  at timestamptz NOT NULL,
  by_kind text COLLATE "C" NOT NULL,
  by_id text COLLATE "C" NOT NULL,
  source text NOT NULL,
  changes text NOT NULL,
  undone_at timestamptz
);

CREATE TABLE erasures (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  status text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  -- Whom it is about; removed with the rest when the job ends.
  target text,
  report text NOT NULL
);

CREATE TABLE blocked_handles (
  hash text COLLATE "C" NOT NULL PRIMARY KEY,
  erasure_id text COLLATE "C" NOT NULL
);

ALTER TABLE audit_events ADD COLUMN memory_id text COLLATE "C";
ALTER TABLE audit_events ADD COLUMN agent_id text COLLATE "C";
ALTER TABLE audit_events ADD COLUMN run_id text COLLATE "C";
ALTER TABLE audit_events ADD COLUMN space_kind text COLLATE "C";
ALTER TABLE audit_events ADD COLUMN space_id text COLLATE "C";
CREATE INDEX audit_events_type ON audit_events (kind, action, at, id);
CREATE INDEX audit_events_memory ON audit_events (memory_id, at) WHERE memory_id IS NOT NULL;
CREATE INDEX audit_events_agent ON audit_events (agent_id, at) WHERE agent_id IS NOT NULL;
CREATE INDEX audit_events_run ON audit_events (run_id, at) WHERE run_id IS NOT NULL;
CREATE INDEX audit_events_space ON audit_events (space_kind, space_id, at)
  WHERE space_kind IS NOT NULL;
