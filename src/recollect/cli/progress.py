"""Progress of long work on stderr: a bar with the time left on a terminal, else lines."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

LINE_SECONDS = 10.0
# The unit of work whose extent nobody knows: the time column tells it already.
_SECONDS = "seconds"

ShowProgress = Callable[[int, int | None], None]
"""Takes how much is done, and of how much; None while nobody knows."""


@contextmanager
def progress(
    label: str, unit: str, *, is_size: bool = False, at_once: bool = False
) -> Iterator[ShowProgress]:
    """Shows the progress that is told to it. With `is_size` the numbers are bytes. `at_once` prints
    the first line as soon as the total is known, for work that takes minutes."""
    if not sys.stderr.isatty():
        yield _ProgressLines(unit, at_once=at_once).show
        return
    from rich.console import Console
    from rich.progress import Progress

    columns = _columns(counts=unit != _SECONDS, is_size=is_size)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)

        def show(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        yield show


def _columns(*, counts: bool, is_size: bool) -> list["ProgressColumn"]:
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.text import Text

    class RateColumn(ProgressColumn):
        """How many a second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:.0f}/s" if speed else "")

    class CountColumn(ProgressColumn):
        """How many, and of how many if that is known."""

        def render(self, task: Task) -> Text:
            total = "" if task.total is None else f"/{task.total:.0f}"
            return Text(f"{task.completed:.0f}{total}")

    class LeftColumn(ProgressColumn):
        """The time left, or while nobody knows the end the time that has passed."""

        left, passed = TimeRemainingColumn(), TimeElapsedColumn()

        def render(self, task: Task) -> Text:
            return self.passed.render(task) if task.total is None else self.left.render(task)

    numbers: list[ProgressColumn] = [CountColumn(), RateColumn()] if counts else []
    if is_size:
        numbers = [DownloadColumn(), TransferSpeedColumn()]
    return [TextColumn("{task.description}"), BarColumn(), *numbers, LeftColumn()]


class _ProgressLines:
    """A line every few seconds, for logs and pipes. Short work prints none."""

    def __init__(self, unit: str, *, at_once: bool) -> None:
        self._unit = unit
        self._at = time.monotonic()
        self._done = 0
        self._is_due = at_once

    def show(self, done: int, total: int | None) -> None:
        """Print a line if it is time."""
        now = time.monotonic()
        first = self._is_due and total is not None
        if not first and now < self._at + LINE_SECONDS:
            return
        line = f"{done} {self._unit}" if total is None else f"{done} of {total} {self._unit}"
        if not first:
            left = None if total is None else total - done
            line += _format_rate(done - self._done, now - self._at, left)
        print(line, file=sys.stderr, flush=True)
        self._at, self._done, self._is_due = now, done, False


def _format_rate(made: int, seconds: float, left: int | None) -> str:
    """The rate since the last line, and the time that the rest takes at that rate."""
    rate = made / seconds
    rest = f", about {left / rate:.0f} s left" if left is not None and made > 0 else ""
    return f", {rate:.0f}/s{rest}"
