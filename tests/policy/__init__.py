"""Who may do what, tried in full: every action, level, role and kind of caller."""
