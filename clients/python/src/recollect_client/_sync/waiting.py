# Written by the code generator from `_async/waiting.py`: change that file instead.
"""Pauses between attempts."""

from time import sleep as _sleep


def sleep(seconds: float) -> None:
    """Wait."""
    _sleep(seconds)
