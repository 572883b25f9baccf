"""Export and import of memories, people and chats as lines of JSON."""
