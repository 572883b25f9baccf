-- Of sealed words only the hashes can be searched; an encrypted column is not in the word index.
DROP INDEX entry_index_words;
ALTER TABLE entry_index DROP COLUMN words;
ALTER TABLE entry_index ADD COLUMN words tsvector GENERATED ALWAYS AS (
  array_to_tsvector(array_remove(string_to_array(
    CASE WHEN left(terms, 1) = chr(1) THEN '' ELSE terms END || ' ' || stems, ' '), ''))
) STORED;
CREATE INDEX entry_index_words ON entry_index USING gin (words);

DROP INDEX memory_index_words;
ALTER TABLE memory_index DROP COLUMN words;
ALTER TABLE memory_index ADD COLUMN words tsvector GENERATED ALWAYS AS (
  CASE WHEN left(stems, 1) = chr(1) THEN NULL
  ELSE array_to_tsvector(array_remove(string_to_array(
    CASE WHEN left(terms, 1) = chr(1) THEN '' ELSE terms END || ' ' || stems, ' '), '')) END
) STORED;
CREATE INDEX memory_index_words ON memory_index USING gin (words);
