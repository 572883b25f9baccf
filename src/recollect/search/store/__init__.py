"""What search reads and writes, as SQL."""
