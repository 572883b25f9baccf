"""Search as a use case: what is found in which scope, whatever way leads there."""
