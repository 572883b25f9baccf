"""Pauses between attempts."""

from asyncio import sleep as _sleep


async def asleep(seconds: float) -> None:
    """Wait."""
    await _sleep(seconds)
