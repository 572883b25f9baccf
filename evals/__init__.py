"""Measures how well the detectors of `screening/` do, on texts whose right answer is known."""
