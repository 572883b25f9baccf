CREATE TABLE api_keys (
  id TEXT NOT NULL PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  client_id TEXT NOT NULL,
  name TEXT,
  created_at TEXT NOT NULL,
  created_by TEXT,
  expires_at TEXT,
  revoked_at TEXT
) STRICT;
CREATE INDEX api_keys_by_age ON api_keys (created_at, id);
