"""Background work: claim, run, back off."""
