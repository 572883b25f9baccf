-- What was imported without an origin is told to many: a search that names no space looks for it.
CREATE INDEX memories_unknown_origin ON memories (doc) WHERE origin = 'unknown';

-- Orgs of people who have users are those of the users now; some kept one that their users left.
DELETE FROM person_orgs
WHERE person_id IN (
    SELECT l.person_id FROM person_users l JOIN user_orgs o ON o.user_id = l.user_id
  )
  AND NOT EXISTS (
    SELECT 1 FROM person_users l JOIN user_orgs o ON o.user_id = l.user_id
    WHERE l.person_id = person_orgs.person_id AND o.org_id = person_orgs.org_id
  );
