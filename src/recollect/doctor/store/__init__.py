"""What the checks read and repair, as SQL."""
