"""Registered agents, their owners and their runs."""
