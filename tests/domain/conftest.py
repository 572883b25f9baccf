"""Hypothesis without a deadline: a slow machine is not a broken rule."""

from hypothesis import settings

settings.register_profile("recollect", deadline=None)
settings.load_profile("recollect")
