"""Erasing a person: every row and every text that names them, with a proof."""
