-- What a person was called before a change; the present version is the row of people.
CREATE TABLE person_versions (
  id TEXT NOT NULL PRIMARY KEY,
  person_id TEXT NOT NULL,
  name TEXT NOT NULL,
  normal_name TEXT NOT NULL,
  time_zone TEXT,
  metadata TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  until TEXT NOT NULL
) STRICT;
CREATE INDEX person_versions_by_person ON person_versions (person_id, until);
