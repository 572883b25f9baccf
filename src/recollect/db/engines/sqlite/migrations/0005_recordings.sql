-- Where responses are being recorded, while they are.
CREATE TABLE recording_locations (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL,
  expires_at TEXT NOT NULL
) STRICT;
CREATE INDEX recording_locations_age ON recording_locations (expires_at);
