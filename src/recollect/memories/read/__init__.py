"""Reading memories: one, lists, histories, and the audit of reads."""
