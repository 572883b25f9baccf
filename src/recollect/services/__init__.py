"""Use cases: policy and ports, one module a noun."""
