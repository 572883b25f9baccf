"""Who may do what in a tree: memberships and ownership transfers."""
