-- Who stands for the bearer of a handle that nobody bears yet, and handles that an admin stated.
ALTER TABLE people ADD COLUMN awaited_handle TEXT;
ALTER TABLE people ADD COLUMN awaited_provider TEXT;
ALTER TABLE person_aliases ADD COLUMN verified INTEGER NOT NULL DEFAULT 0;
CREATE INDEX people_awaited ON people (awaited_handle) WHERE awaited_handle IS NOT NULL;
