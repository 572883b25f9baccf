-- Who may own and ask: registered agents, and what is known of users.
CREATE TABLE agents (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT,
  description TEXT,
  owner_kind TEXT NOT NULL CHECK (owner_kind IN ('user', 'agent')),
  owner_id TEXT NOT NULL,
  org_id TEXT NOT NULL,
  space_mode TEXT CHECK (space_mode IN ('dual', 'single')),
  created_by_kind TEXT NOT NULL,
  created_by_id TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  metadata TEXT NOT NULL DEFAULT '{}',
  -- The id of a removed agent stays taken while archived memories of it exist.
  removed_at TEXT
) STRICT;
CREATE INDEX agents_owner ON agents (owner_kind, owner_id, id);
CREATE INDEX agents_created ON agents (created_at, id);

CREATE TABLE user_orgs (
  user_id TEXT NOT NULL,
  org_id TEXT NOT NULL,
  PRIMARY KEY (user_id, org_id)
) STRICT, WITHOUT ROWID;

-- People. Every column that names a person holds a canonical id: a merge moves them.
CREATE TABLE people (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  normal_name TEXT NOT NULL,
  time_zone TEXT,
  created_by_kind TEXT NOT NULL,
  created_by_id TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  merged_into TEXT,
  metadata TEXT NOT NULL DEFAULT '{}',
  erasure_id TEXT
) STRICT;
CREATE INDEX people_name ON people (normal_name, id);
CREATE INDEX people_created ON people (created_at, id);
CREATE INDEX people_creator ON people (created_by_kind, created_by_id);
CREATE INDEX people_merged ON people (merged_into) WHERE merged_into IS NOT NULL;

CREATE TABLE person_orgs (
  person_id TEXT NOT NULL,
  org_id TEXT NOT NULL,
  PRIMARY KEY (person_id, org_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX person_orgs_org ON person_orgs (org_id, person_id);

CREATE TABLE person_users (
  user_id TEXT NOT NULL PRIMARY KEY,
  person_id TEXT NOT NULL
) STRICT;
CREATE INDEX person_users_person ON person_users (person_id);

CREATE TABLE person_aliases (
  id TEXT NOT NULL PRIMARY KEY,
  person_id TEXT NOT NULL,
  value TEXT NOT NULL,
  normal_value TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('alias', 'handle')),
  provider TEXT,
  added_by_kind TEXT NOT NULL,
  added_by_id TEXT NOT NULL,
  stated_by TEXT,
  chat_id TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX person_aliases_person ON person_aliases (person_id, created_at, id);
CREATE INDEX person_aliases_value ON person_aliases (normal_value, kind);
CREATE INDEX person_aliases_stater ON person_aliases (stated_by);

CREATE TABLE person_relationships (
  id TEXT NOT NULL PRIMARY KEY,
  person_id TEXT NOT NULL,
  relationship TEXT NOT NULL,
  normal_relationship TEXT NOT NULL,
  to_person_id TEXT,
  added_by_kind TEXT NOT NULL,
  added_by_id TEXT NOT NULL,
  stated_by TEXT,
  chat_id TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX person_relationships_person ON person_relationships (person_id, created_at, id);
CREATE INDEX person_relationships_to ON person_relationships (to_person_id);
CREATE INDEX person_relationships_stater ON person_relationships (stated_by, normal_relationship);

-- What a merge moved, so that it can be undone.
CREATE TABLE person_merges (
  id TEXT NOT NULL PRIMARY KEY,
  primary_id TEXT NOT NULL,
  secondary_id TEXT NOT NULL,
  at TEXT NOT NULL,
  by_kind TEXT NOT NULL,
  by_id TEXT NOT NULL,
  moved TEXT NOT NULL,
  undone_at TEXT
) STRICT;
CREATE INDEX person_merges_primary ON person_merges (primary_id, at);
CREATE INDEX person_merges_secondary ON person_merges (secondary_id, at);

-- Chats that an outside system names. A tree of conversations is a chat too: see the views.
CREATE TABLE named_chats (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('private', 'group')),
  title TEXT,
  provider TEXT,
  created_by_kind TEXT NOT NULL,
  created_by_id TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX named_chats_creator ON named_chats (created_by_kind, created_by_id);

CREATE TABLE chat_participations (
  chat_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('user', 'person', 'agent')),
  member_id TEXT NOT NULL,
  joined_at TEXT NOT NULL,
  left_at TEXT
) STRICT;
CREATE INDEX chat_participations_chat ON chat_participations (chat_id, kind, member_id, joined_at);
CREATE INDEX chat_participations_member ON chat_participations (kind, member_id, chat_id);
CREATE UNIQUE INDEX chat_participations_open
  ON chat_participations (chat_id, kind, member_id) WHERE left_at IS NULL;

-- Without the casts the two halves differ in type, and the engine reads all of both each time.
CREATE VIEW presences AS
  SELECT conversation_group_id AS chat_id, CAST('user' AS TEXT) AS kind,
    user_id AS member_id, joined_at, left_at
  FROM participations
  UNION ALL
  SELECT chat_id, kind, member_id, joined_at, left_at FROM chat_participations;

CREATE VIEW chats AS
  SELECT id, kind, title, provider, 0 AS tree, created_by_kind, created_by_id, created_at
  FROM named_chats
  UNION ALL
  SELECT id, CAST(NULL AS TEXT), CAST(NULL AS TEXT), CAST(NULL AS TEXT), 1, CAST('user' AS TEXT),
    owner_user_id, created_at
  FROM conversations WHERE id = conversation_group_id AND deleted_at IS NULL;

CREATE TABLE runs (
  id TEXT NOT NULL PRIMARY KEY,
  agent_id TEXT NOT NULL,
  parent_run_id TEXT,
  root_run_id TEXT NOT NULL,
  status TEXT NOT NULL
    CHECK (status IN ('running', 'succeeded', 'failed', 'cancelled')),
  error TEXT,
  started_at TEXT NOT NULL,
  completed_at TEXT,
  metadata TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX runs_agent ON runs (agent_id, started_at, id);
CREATE INDEX runs_root ON runs (root_run_id);
CREATE INDEX runs_parent ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;

-- Every ancestor of every run, so that lineage is one look-up in either direction.
CREATE TABLE run_ancestors (
  run_id TEXT NOT NULL,
  ancestor_id TEXT NOT NULL,
  depth INTEGER NOT NULL,
  PRIMARY KEY (run_id, ancestor_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_ancestors_up ON run_ancestors (ancestor_id, run_id);

CREATE TABLE memories (
  doc INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('statement', 'record')),
  content TEXT NOT NULL,
  key TEXT,
  value TEXT,
  messages TEXT,
  space_kind TEXT NOT NULL,
  space_id TEXT NOT NULL,
  agent_id TEXT,
  org_id TEXT,
  type TEXT NOT NULL,
  sensitivity TEXT NOT NULL
    CHECK (sensitivity IN ('public', 'personal', 'sensitive')),
  portable INTEGER NOT NULL,
  has_subjects INTEGER NOT NULL,
  bare_names TEXT,
  stated_by TEXT,
  learned_in TEXT,
  origin TEXT NOT NULL CHECK (origin IN ('chat', 'direct', 'unknown')),
  observed_at TEXT NOT NULL,
  confidence REAL,
  verified INTEGER NOT NULL,
  trust TEXT NOT NULL CHECK (trust IN ('fact', 'unknown', 'hearsay')),
  tags TEXT NOT NULL DEFAULT '[]',
  metadata TEXT NOT NULL DEFAULT '{}',
  pii_tags TEXT NOT NULL DEFAULT '[]',
  pii_risk INTEGER NOT NULL DEFAULT 0,
  retention_policy TEXT,
  expires_at TEXT,
  expiry_rule TEXT NOT NULL,
  requested_expires_at TEXT,
  explicit_expires_at TEXT,
  approved_expires_at TEXT,
  valid_from TEXT,
  valid_until TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  retracted_at TEXT,
  superseded_by TEXT,
  repeats INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL DEFAULT 1,
  source TEXT NOT NULL,
  source_agent TEXT,
  run_id TEXT,
  parent_run_id TEXT,
  status TEXT NOT NULL
    CHECK (status IN ('active', 'superseded', 'archived', 'quarantined')),
  archive_reason TEXT,
  status_at TEXT NOT NULL,
  written_by_kind TEXT NOT NULL,
  written_by_id TEXT NOT NULL,
  import_id TEXT,
  fold TEXT NOT NULL,
  privacy_said INTEGER NOT NULL DEFAULT 0,
  suspicion REAL NOT NULL DEFAULT 0,
  suspicion_reasons TEXT NOT NULL DEFAULT '[]',
  used_at TEXT,
  compacted_at TEXT,
  erasure_id TEXT
) STRICT;
CREATE INDEX memories_space ON memories (space_kind, space_id, created_at, id);
CREATE INDEX memories_created ON memories (created_at, id);
CREATE INDEX memories_by_key ON memories (space_kind, space_id, key) WHERE key IS NOT NULL;
-- The hash comes first: else the rows of a space would be read in its order, from all over the file.
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
  memory_id TEXT NOT NULL,
  person_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (memory_id, person_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_subjects_person ON memory_subjects (person_id, memory_id);

CREATE TABLE memory_tags (
  memory_id TEXT NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (memory_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_tags_tag ON memory_tags (tag, memory_id);

-- Where a memory came from: entries, or other memories.
CREATE TABLE memory_sources (
  memory_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('entry', 'memory')),
  source_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (memory_id, kind, source_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_sources_source ON memory_sources (kind, source_id);

-- `supersedes`: from the successor to what it replaced; it outlives both. `conflict`: both ways.
CREATE TABLE memory_links (
  from_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('supersedes', 'conflict')),
  to_id TEXT NOT NULL,
  at TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (from_id, kind, to_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_links_to ON memory_links (to_id, kind);

-- Every version, the present one without a snapshot. Half open: current from `at` until `until`.
CREATE TABLE memory_versions (
  id TEXT NOT NULL UNIQUE,
  memory_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  change TEXT NOT NULL,
  at TEXT NOT NULL,
  until TEXT,
  by_kind TEXT NOT NULL,
  by_id TEXT NOT NULL,
  status TEXT NOT NULL,
  valid_from TEXT,
  valid_until TEXT,
  snapshot TEXT,
  PRIMARY KEY (memory_id, version)
) STRICT, WITHOUT ROWID;

-- Of a removed memory that histories of others name.
CREATE TABLE memory_removals (
  memory_id TEXT NOT NULL PRIMARY KEY,
  removed_at TEXT NOT NULL
) STRICT;

CREATE TABLE memory_index (
  doc INTEGER PRIMARY KEY,
  memory_id TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL DEFAULT 0,
  head INTEGER NOT NULL DEFAULT 0,
  -- Of the vector that the row has: a search asks for many rows, and vectors lie far apart.
  vector_model TEXT,
  terms TEXT NOT NULL,
  stems TEXT NOT NULL,
  pending INTEGER NOT NULL
) STRICT;
CREATE INDEX memory_index_pending ON memory_index (doc) WHERE pending = 1;
-- As for entries: the server makes the words, this only finds rows. Sealed words are not in it.
CREATE VIRTUAL TABLE memory_words USING fts5 (
  words, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '='"
);
CREATE TRIGGER memory_index_changed AFTER UPDATE OF terms, stems ON memory_index BEGIN
  DELETE FROM memory_words WHERE rowid = old.doc;
  INSERT INTO memory_words (rowid, words)
    SELECT new.doc, new.terms || ' ' || new.stems WHERE substr(new.terms, 1, 1) <> char(1);
END;
CREATE TRIGGER memory_index_deleted AFTER DELETE ON memory_index BEGIN
  DELETE FROM memory_words WHERE rowid = old.doc;
END;

CREATE TABLE memory_embeddings (
  doc INTEGER PRIMARY KEY,
  memory_id TEXT NOT NULL UNIQUE,
  embedding BLOB NOT NULL,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL
) STRICT;

CREATE TABLE entities (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('organisation', 'place', 'project', 'thing')),
  name TEXT NOT NULL,
  fold TEXT NOT NULL,
  space_kind TEXT NOT NULL,
  space_id TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX entities_name ON entities (space_kind, space_id, kind, fold);

CREATE TABLE relations (
  id TEXT NOT NULL PRIMARY KEY,
  from_id TEXT NOT NULL,
  to_id TEXT NOT NULL,
  relation TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  recorded_at TEXT NOT NULL,
  -- Set when a later version of the memory states it no more.
  retracted_at TEXT
) STRICT;
CREATE INDEX relations_from ON relations (from_id, id);
CREATE INDEX relations_to ON relations (to_id, id);
CREATE INDEX relations_memory ON relations (memory_id);

CREATE TABLE approvals (
  id TEXT NOT NULL PRIMARY KEY,
  memory_id TEXT NOT NULL,
  requested_by_kind TEXT NOT NULL,
  requested_by_id TEXT NOT NULL,
  requested_expires_at TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied')),
  decided_by TEXT,
  decided_at TEXT,
  justification TEXT,
  valid_until TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX approvals_memory ON approvals (memory_id);
CREATE INDEX approvals_created ON approvals (created_at, id);
CREATE INDEX approvals_requester ON approvals (requested_by_kind, requested_by_id, created_at);

CREATE TABLE idempotency_answers (
  requester_kind TEXT NOT NULL,
  requester_id TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status INTEGER,
  answer TEXT,
  claimed_at TEXT NOT NULL,
  PRIMARY KEY (requester_kind, requester_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_answers_age ON idempotency_answers (claimed_at);

-- Which ids an answer tells of: it goes when one of them does.
CREATE TABLE idempotency_mentions (
  mentioned_id TEXT NOT NULL,
  requester_kind TEXT NOT NULL,
  requester_id TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (mentioned_id, requester_kind, requester_id, key)
) STRICT;
CREATE INDEX idempotency_mentions_answer
  ON idempotency_mentions (requester_kind, requester_id, key);

CREATE TABLE rollbacks (
  id TEXT NOT NULL PRIMARY KEY,
  at TEXT NOT NULL,
  by_kind TEXT NOT NULL,
  by_id TEXT NOT NULL,
  source TEXT NOT NULL,
  changes TEXT NOT NULL,
  undone_at TEXT
) STRICT;

CREATE TABLE erasures (
  id TEXT NOT NULL PRIMARY KEY,
  status TEXT NOT NULL,
  created_at TEXT NOT NULL,
  finished_at TEXT,
  -- Whom it is about; removed with the rest when the job ends.
  target TEXT,
  report TEXT NOT NULL
) STRICT;

CREATE TABLE blocked_handles (
  hash TEXT NOT NULL PRIMARY KEY,
  erasure_id TEXT NOT NULL
) STRICT;

ALTER TABLE audit_events ADD COLUMN memory_id TEXT;
ALTER TABLE audit_events ADD COLUMN agent_id TEXT;
ALTER TABLE audit_events ADD COLUMN run_id TEXT;
ALTER TABLE audit_events ADD COLUMN space_kind TEXT;
ALTER TABLE audit_events ADD COLUMN space_id TEXT;
CREATE INDEX audit_events_type ON audit_events (kind, action, at, id);
CREATE INDEX audit_events_memory ON audit_events (memory_id, at) WHERE memory_id IS NOT NULL;
CREATE INDEX audit_events_agent ON audit_events (agent_id, at) WHERE agent_id IS NOT NULL;
CREATE INDEX audit_events_run ON audit_events (run_id, at) WHERE run_id IS NOT NULL;
CREATE INDEX audit_events_space ON audit_events (space_kind, space_id, at)
  WHERE space_kind IS NOT NULL;
