"""The rows of a person to erase, as SQL."""
