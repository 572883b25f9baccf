"""The tables of people and chats, as SQL."""
