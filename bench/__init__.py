"""Benchmarks. Each prints a ratio of two things measured side by side in one run, because a
machine's absolute speed tells little; `python -m bench` runs them all."""
