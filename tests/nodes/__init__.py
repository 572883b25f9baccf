"""Two nodes behave as one."""
