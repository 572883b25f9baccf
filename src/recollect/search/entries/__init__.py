"""Search over the entries of conversations."""
