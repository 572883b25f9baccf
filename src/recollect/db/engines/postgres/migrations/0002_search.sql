ALTER TABLE conversation_groups ADD COLUMN index_revision bigint NOT NULL DEFAULT 0;
ALTER TABLE conversation_groups ADD COLUMN index_entries bigint NOT NULL DEFAULT 0;

CREATE TABLE entry_index (
  doc bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  entry_id uuid NOT NULL UNIQUE,
  conversation_group_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  seq bigint NOT NULL,
  revision bigint NOT NULL,
  speaker text COLLATE "C" NOT NULL,
  traits bigint NOT NULL,
  head bigint NOT NULL,
  terms text NOT NULL,
  stems text NOT NULL,
  pending boolean NOT NULL,
  -- The words are made by the server, so that both engines part a text alike; this only finds rows.
  words tsvector GENERATED ALWAYS AS (
    array_to_tsvector(array_remove(string_to_array(terms || ' ' || stems, ' '), ''))
  ) STORED
);
CREATE INDEX entry_index_tree ON entry_index (conversation_group_id, revision);
CREATE INDEX entry_index_branch ON entry_index (conversation_id, seq);
CREATE INDEX entry_index_pending ON entry_index (conversation_group_id, seq) WHERE pending;
CREATE INDEX entry_index_words ON entry_index USING gin (words);

ALTER TABLE entry_embeddings ADD COLUMN window_embedding vector;
ALTER TABLE entry_embeddings ADD COLUMN model text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE entry_embeddings ADD COLUMN dimensions bigint NOT NULL DEFAULT 0;
ALTER TABLE entry_embeddings ADD COLUMN revision bigint NOT NULL DEFAULT 0;
DROP INDEX entry_embeddings_tree;
CREATE INDEX entry_embeddings_tree ON entry_embeddings (conversation_group_id, revision);
-- A scan reads it of every row: of the two vectors this one stays in the row.
ALTER TABLE entry_embeddings ALTER COLUMN embedding SET STORAGE MAIN;

CREATE INDEX entries_unindexed ON entries (created_at, id)
  WHERE channel = 'history' AND indexed_content IS NULL;

-- What was appended before is indexed by the first worker that comes up.
INSERT INTO tasks (id, task_name, task_type, task_body, created_at, retry_at)
  SELECT '00000000-0000-7000-8000-000000000002', 'search_backfill', 'search_backfill', '{}',
    '1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'
  WHERE EXISTS (SELECT 1 FROM entries WHERE indexed_content IS NOT NULL);
