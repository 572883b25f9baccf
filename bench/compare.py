"""`python -m bench.compare --before CHECKOUT --after CHECKOUT NAME…`: which checkout is faster?

Each checkout runs its own benchmarks in its own environment, so their modules may differ. Runs of
both alternate: whatever else the machine does hits both alike. Read ratios, not single figures.
"""

import argparse
import re
import statistics
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bench.harness.stage import ENGINES

Line = tuple[str, str]
"""A benchmark's name and the engine it ran on."""

# The first figure of a line is that of the server; what it is compared with comes behind.
_FIGURE = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?: (?P<time>ms)|/s)")
HEADINGS = f"{'benchmark':<16}{'engine':<10}{'before/s':>10}{'after/s':>10}{'ratio':>8}  spread"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both, print a line for each benchmark. A ratio above 1 means that `after` is faster."""
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("--before", type=Path, required=True, help="a checkout after `make dev`")
    parser.add_argument("--after", type=Path, required=True, help="another one")
    parser.add_argument("--engine", choices=ENGINES, help="this engine only")
    parser.add_argument("--runs", type=int, default=3, help="runs of each checkout")
    parser.add_argument("--quick", action="store_true", help="tiny: shows only that it works")
    parser.add_argument("name", nargs="+", help="benchmarks; both checkouts must have them")
    options = parser.parse_args(arguments)
    flags = ["--engine", options.engine] if options.engine else []
    flags += ["--quick"] if options.quick else []
    before: list[Mapping[Line, float]] = []
    after: list[Mapping[Line, float]] = []
    sides = [(options.before, before), (options.after, after)]
    for number in range(options.runs):
        for checkout, rates in reversed(sides) if number % 2 else sides:
            rates.append(_measure(checkout, [*options.name, *flags]))
    print("\n".join([HEADINGS, *compare(before, after)]))
    return 0


def parse_rates(lines: Iterable[str]) -> dict[Line, float]:
    """Operations per second by benchmark and engine, from the table of `python -m bench`."""
    rates = {}
    for line in lines:
        cells = re.split(r" {2,}", line, maxsplit=6)
        figure = _FIGURE.search(cells[-1])
        if len(cells) == 7 and figure:
            number = float(figure["number"])
            rates[cells[0], cells[1]] = 1000 / number if figure["time"] else number
    return rates


def compare(
    before: Sequence[Mapping[Line, float]], after: Sequence[Mapping[Line, float]]
) -> list[str]:
    """A line for each benchmark: median rates, and the median ratio of neighbouring runs."""
    lines = []
    for line in before[0]:
        ratios = [new[line] / old[line] for old, new in zip(before, after, strict=True)]
        lines.append(
            f"{line[0]:<16}{line[1]:<10}"
            f"{statistics.median(one[line] for one in before):>10.0f}"
            f"{statistics.median(one[line] for one in after):>10.0f}"
            f"{statistics.median(ratios):>8.2f}  {min(ratios):.2f}-{max(ratios):.2f}"
        )
    return lines


def _measure(checkout: Path, arguments: Sequence[str]) -> dict[Line, float]:
    print(f"running {checkout}", file=sys.stderr, flush=True)
    python = checkout.absolute() / ".venv/bin/python"
    done = subprocess.run(
        [python, "-m", "bench", *arguments],
        cwd=checkout,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"the benchmarks of {checkout} failed")
    return parse_rates(done.stdout.splitlines())


if __name__ == "__main__":
    sys.exit(main())
