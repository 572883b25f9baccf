"""The doctor's checks: each finds inconsistencies and can repair them. One module per group."""
