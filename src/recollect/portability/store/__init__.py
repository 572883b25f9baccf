"""What an export reads and an import writes, as SQL."""
