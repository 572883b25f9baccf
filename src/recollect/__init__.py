"""Recollect: one memory server for AI agents."""

from importlib.metadata import version

__version__ = version("recollect")
