"""`python -m evals [DETECTOR…] [--list-missed] [--outside FILE…]`: print how well the detectors of
screening do. Figures are for reading: none of them fails the run."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from evals.detectors import DETECTORS
from evals.examples import SETS, load_examples
from evals.outside import outside_lines
from evals.report import judge_all, missed_lines, report_lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures that were asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m evals", description="Measure the detectors of screening."
    )
    parser.add_argument("detector", nargs="*", help=f"of {', '.join(DETECTORS)}; all if none")
    parser.add_argument(
        "--list-missed", action="store_true", help="ids of wrong answers, of the seen sets only"
    )
    parser.add_argument(
        "--outside",
        action="append",
        type=Path,
        default=[],
        metavar="FILE",
        help="measure this file in place of the sets here; may be repeated",
    )
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.detector if name not in DETECTORS]
    if unknown:
        parser.error(f"there is no detector {unknown[0]!r}; name one of {', '.join(DETECTORS)}")
    for path in asked.outside:
        print(*outside_lines(path), sep="\n")
    if not asked.outside:
        _print_sets(asked.detector or list(DETECTORS), list_missed=asked.list_missed)
    return 0


def _print_sets(detectors: Sequence[str], *, list_missed: bool) -> None:
    for detector in detectors:
        for of_set in SETS:
            judged = judge_all(detector, load_examples(detector, of_set))
            print(*report_lines(detector, of_set, judged), sep="\n")
            # Whoever writes rules reads this list, so it must not tell of the unseen texts.
            if list_missed and of_set == "seen":
                print(*missed_lines(judged), "", sep="\n")


if __name__ == "__main__":
    raise SystemExit(main())
