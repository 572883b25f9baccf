-- What a person was called before a change; the present version is the row of people.
CREATE TABLE person_versions (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  person_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  normal_name text COLLATE "C" NOT NULL,
  time_zone text COLLATE "C",
  metadata text COLLATE "C" NOT NULL,
  updated_at timestamptz NOT NULL,
  until timestamptz NOT NULL
);
CREATE INDEX person_versions_by_person ON person_versions (person_id, until);
