"""The command `recollect`: parses, calls the application, prints."""
