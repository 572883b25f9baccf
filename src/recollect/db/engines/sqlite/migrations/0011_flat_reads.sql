-- What everybody may read is read in its order, and no further than a page goes.
CREATE INDEX memories_open ON memories (space_kind, created_at, id)
  WHERE space_kind = 'agent_public' OR space_kind = 'agent';
-- Of what was imported without an origin only this is told to those who have nothing to do with it.
DROP INDEX memories_unknown_origin;
CREATE INDEX memories_open_imports
  ON memories (created_at, id, origin, sensitivity, has_subjects)
  WHERE origin = 'unknown' AND sensitivity = 'public' AND has_subjects = 1;
