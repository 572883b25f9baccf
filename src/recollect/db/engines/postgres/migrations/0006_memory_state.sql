-- A search asks for these of all that its caller may see; the rows themselves hold all words, and
-- those of one user lie far apart.
CREATE INDEX memory_index_state ON memory_index (doc) INCLUDE (revision, vector_model);
