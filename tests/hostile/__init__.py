"""Bad input of every kind against a running server: it is refused as agreed, and leaves nothing."""
