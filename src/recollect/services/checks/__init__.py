"""The doctor's checks: how each finds what is wrong and mends it, one module a group."""
