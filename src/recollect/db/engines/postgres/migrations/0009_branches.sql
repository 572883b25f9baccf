-- The conversation of a tree in which a memory was learned; the chat is that of the tree.
ALTER TABLE memories ADD COLUMN learned_in_conversation text COLLATE "C";
