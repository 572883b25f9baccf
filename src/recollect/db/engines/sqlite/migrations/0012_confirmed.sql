-- Since when a participant has consented to take part; null for who was only invited.
ALTER TABLE participations ADD COLUMN confirmed_at TEXT;
ALTER TABLE chat_participations ADD COLUMN confirmed_at TEXT;

-- Until now everybody counted. Who made the chat, owns the tree, wrote an entry or stated a memory
-- there while they took part has consented by that.
UPDATE participations AS p SET confirmed_at = p.joined_at
  WHERE (p.left_at IS NULL AND EXISTS (
      SELECT 1 FROM conversation_memberships AS m
      WHERE m.conversation_group_id = p.conversation_group_id AND m.user_id = p.user_id
        AND m.access_level = 'owner'))
    OR EXISTS (
      SELECT 1 FROM entries AS e
      WHERE e.conversation_group_id = p.conversation_group_id AND e.user_id = p.user_id
        AND e.created_at >= p.joined_at AND (p.left_at IS NULL OR e.created_at < p.left_at))
    OR EXISTS (
      SELECT 1 FROM person_users AS l JOIN memories AS m ON m.stated_by = l.person_id
      WHERE l.user_id = p.user_id
        AND (m.learned_in = p.conversation_group_id OR (m.space_kind = 'chat' AND m.space_id = p.conversation_group_id))
        AND m.created_at >= p.joined_at AND (p.left_at IS NULL OR m.created_at < p.left_at));
UPDATE chat_participations AS p SET confirmed_at = p.joined_at
  WHERE EXISTS (
      SELECT 1 FROM named_chats AS c
      WHERE c.id = p.chat_id AND c.created_by_kind = p.kind AND c.created_by_id = p.member_id)
    OR EXISTS (
      SELECT 1 FROM memories AS m
      WHERE (m.stated_by = p.member_id AND p.kind = 'person'
          OR p.kind = 'user' AND m.stated_by IN (
            SELECT l.person_id FROM person_users AS l WHERE l.user_id = p.member_id))
        AND (m.learned_in = p.chat_id OR (m.space_kind = 'chat' AND m.space_id = p.chat_id))
        AND m.created_at >= p.joined_at AND (p.left_at IS NULL OR m.created_at < p.left_at));

DROP VIEW presences;
-- Without the casts the two halves differ in type, and the engine reads all of both each time.
CREATE VIEW presences AS
  SELECT conversation_group_id AS chat_id, CAST('user' AS TEXT) AS kind,
    user_id AS member_id, joined_at, left_at, confirmed_at
  FROM participations
  UNION ALL
  SELECT chat_id, kind, member_id, joined_at, left_at, confirmed_at FROM chat_participations;
