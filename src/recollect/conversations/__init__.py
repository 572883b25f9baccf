"""What was said: trees of conversations, their entries, forks and members."""
