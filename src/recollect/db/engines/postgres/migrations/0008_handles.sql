-- Who stands for the bearer of a handle that nobody bears yet, and handles that an admin stated.
ALTER TABLE people ADD COLUMN awaited_handle text COLLATE "C";
ALTER TABLE people ADD COLUMN awaited_provider text COLLATE "C";
ALTER TABLE person_aliases ADD COLUMN verified boolean NOT NULL DEFAULT false;
CREATE INDEX people_awaited ON people (awaited_handle) WHERE awaited_handle IS NOT NULL;
