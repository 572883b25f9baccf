-- Where responses are being recorded, while they are.
CREATE TABLE recording_locations (
  key text COLLATE "C" NOT NULL PRIMARY KEY,
  value text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX recording_locations_age ON recording_locations (expires_at);
