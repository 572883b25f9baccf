-- When an entry was deleted: its row stays as a marker at its position. How often an entry left the
-- index of its tree: caches of the index can't see a row that is gone.
ALTER TABLE entries ADD COLUMN removed_at timestamptz;
ALTER TABLE conversation_groups ADD COLUMN index_removals bigint NOT NULL DEFAULT 0;
