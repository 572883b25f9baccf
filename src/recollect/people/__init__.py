"""People, their names and claims about them, chats and who takes part in them."""
