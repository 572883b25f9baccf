-- Of sealed words only the hashes can be searched; an encrypted column is not in the word index.
DROP TRIGGER entry_index_changed;
CREATE TRIGGER entry_index_changed AFTER UPDATE OF terms, stems ON entry_index BEGIN
  DELETE FROM entry_words WHERE rowid = old.doc;
  INSERT INTO entry_words (rowid, words) VALUES (new.doc,
    CASE WHEN substr(new.terms, 1, 1) = char(1) THEN '' ELSE new.terms END || ' ' || new.stems);
END;
DROP TRIGGER memory_index_changed;
CREATE TRIGGER memory_index_changed AFTER UPDATE OF terms, stems ON memory_index BEGIN
  DELETE FROM memory_words WHERE rowid = old.doc;
  INSERT INTO memory_words (rowid, words) SELECT new.doc,
      CASE WHEN substr(new.terms, 1, 1) = char(1) THEN '' ELSE new.terms END || ' ' || new.stems
    WHERE substr(new.stems, 1, 1) <> char(1);
END;
