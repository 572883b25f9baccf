"""The checks, one module a group: how each finds what is wrong and repairs it."""
