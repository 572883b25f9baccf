"""Forks: where a branch begins and which entries it shows."""
