CREATE TABLE api_keys (
  id uuid NOT NULL PRIMARY KEY,
  digest text NOT NULL UNIQUE,
  client_id text COLLATE "C" NOT NULL,
  name text,
  created_at timestamptz NOT NULL,
  created_by text,
  expires_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX api_keys_by_age ON api_keys (created_at, id);
