"""Calls by several threads at once, or one after the other, with their times.

This module imports nothing of the project: peers use it in an environment of their own.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

Call = Callable[[str], object]


def together(call: Call, texts: Iterator[str], count: int, *, writers: int) -> float:
    """The seconds of so many calls by so many threads."""
    given = list(itertools.islice(texts, count))
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(len, given))  # the threads are there
        started_at = time.perf_counter()
        list(pool.map(call, given))
        return time.perf_counter() - started_at


def one_by_one(call: Call, texts: Iterator[str], count: int) -> list[float]:
    """The seconds of each call."""
    latencies = []
    for text in itertools.islice(texts, count):
        started_at = time.perf_counter()
        call(text)
        latencies.append(time.perf_counter() - started_at)
    return latencies
