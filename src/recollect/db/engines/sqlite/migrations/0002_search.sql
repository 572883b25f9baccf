ALTER TABLE conversation_groups ADD COLUMN index_revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation_groups ADD COLUMN index_entries INTEGER NOT NULL DEFAULT 0;

CREATE TABLE entry_index (
  doc INTEGER PRIMARY KEY,
  entry_id TEXT NOT NULL UNIQUE,
  conversation_group_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  speaker TEXT NOT NULL,
  traits INTEGER NOT NULL,
  head INTEGER NOT NULL,
  terms TEXT NOT NULL,
  stems TEXT NOT NULL,
  pending INTEGER NOT NULL
) STRICT;
CREATE INDEX entry_index_tree ON entry_index (conversation_group_id, revision);
CREATE INDEX entry_index_branch ON entry_index (conversation_id, seq);
CREATE INDEX entry_index_pending ON entry_index (conversation_group_id, seq) WHERE pending = 1;

-- The words are made by the server, so that both engines part a text alike; this only finds rows.
CREATE VIRTUAL TABLE entry_words USING fts5 (
  words, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '='"
);
CREATE TRIGGER entry_index_changed AFTER UPDATE OF terms, stems ON entry_index BEGIN
  DELETE FROM entry_words WHERE rowid = old.doc;
  INSERT INTO entry_words (rowid, words) VALUES (new.doc, new.terms || ' ' || new.stems);
END;
CREATE TRIGGER entry_index_deleted AFTER DELETE ON entry_index BEGIN
  DELETE FROM entry_words WHERE rowid = old.doc;
END;

ALTER TABLE entry_embeddings ADD COLUMN window_embedding BLOB;
ALTER TABLE entry_embeddings ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE entry_embeddings ADD COLUMN dimensions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entry_embeddings ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
DROP INDEX entry_embeddings_tree;
CREATE INDEX entry_embeddings_tree ON entry_embeddings (conversation_group_id, revision);

CREATE INDEX entries_unindexed ON entries (created_at, id)
  WHERE channel = 'history' AND indexed_content IS NULL;

-- What was appended before is indexed by the first worker that comes up.
INSERT INTO tasks (id, task_name, task_type, task_body, created_at, retry_at)
  SELECT '00000000-0000-7000-8000-000000000002', 'search_backfill', 'search_backfill', '{}',
    '1970-01-01T00:00:00.000000Z', '1970-01-01T00:00:00.000000Z'
  WHERE EXISTS (SELECT 1 FROM entries WHERE indexed_content IS NOT NULL);
