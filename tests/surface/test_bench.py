"""The benchmarks run, and each gives its line. What they measure is not judged here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench.__main__ import BENCHMARKS, ON_POSTGRES_ONLY, benchmarks_on
from bench.compare import compare, parse_rates
from bench.harness.http2 import DATA, END_HEADERS, END_STREAM, HEADERS, Answers, frame
from bench.harness.load import p95
from bench.harness.results import HEADINGS, Goal, Result, to_table
from bench.harness.rounds import Effort, Rounds, alternate
from bench.harness.stage import ENGINES, POSTGRES_URL_VARIABLE

from tests.conftest import SoakSize

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
# The bound of a run that hangs, not a goal: a busy machine may take long.
RUN_SECONDS_MAX = 1_200


@pytest.mark.parametrize("engine", ENGINES)
def test_every_benchmark_gives_a_line_and_leaves_nothing_behind(
    engine: str, postgres_url: str, tmp_path: Path, soak_size: SoakSize
) -> None:
    names = benchmarks_on(engine, list(BENCHMARKS), quick=True)
    if soak_size(0, 1) == 0:
        # The engines take turns, family by family: those of one share what they build.
        families = list(dict.fromkeys(map(_family, BENCHMARKS)))
        in_turn = families[1 - ENGINES.index(engine) :: len(ENGINES)]
        names = [name for name in names if _family(name) in in_turn or name in ON_POSTGRES_ONLY]
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick", "--engine", engine, *names],
        cwd=ROOT,
        env={**os.environ, POSTGRES_URL_VARIABLE: postgres_url, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    headings, *lines = done.stdout.splitlines()
    assert headings.split() == HEADINGS
    assert [line.split()[:2] for line in lines] == [[name, engine] for name in names]
    assert all(float(line.split()[2]) > 0 for line in lines)
    assert list(tmp_path.iterdir()) == []


def _family(name: str) -> str:
    return name.partition("-")[0]


def test_an_unknown_benchmark_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "nonsense"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 2
    assert "'nonsense'" in done.stderr


def test_a_ratio_is_the_median_of_neighbouring_rounds() -> None:
    rounds = Rounds({"ours": [10.0, 2.0, 90.0], "theirs": [5.0, 4.0, 30.0]})
    assert rounds.ratio("ours", "theirs") == (2.0, (0.5, 3.0))
    assert rounds.rate("theirs") == 5.0


def test_sides_take_turns_and_every_second_round_goes_the_other_way() -> None:
    turns: list[str] = []

    def side(name: str) -> float:
        turns.append(name)
        return 1.0

    rounds = alternate(
        {"b": lambda _: side("b"), "a": lambda _: side("a")}, Effort(rounds=4, seconds=1)
    )
    assert turns[2:] == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert rounds.ratio("a", "b")[0] == 1.0


def test_nineteen_of_twenty_are_not_slower_than_the_p95() -> None:
    assert p95([n / 1000 for n in range(100, 0, -1)]) == 0.095
    assert p95([3.0, 1.0, 2.0]) == 3.0
    assert p95([1.0]) == 1.0


def test_a_call_that_was_refused_is_told_from_one_that_was_answered() -> None:
    begins = frame(HEADERS, END_HEADERS, b"x", 1) + frame(DATA, 0, b"message", 1)
    ends = frame(HEADERS, END_HEADERS | END_STREAM, b"y", 1)
    answers = Answers()
    received = begins + ends + ends
    pieces = [bytes([byte]) for byte in received]
    assert [told for piece in pieces for told in answers.feed(piece)] == [True, False]


def test_a_goal_is_met_on_its_own_side_of_the_limit() -> None:
    assert Goal(1.5, at_least=True).is_met(1.5)
    assert not Goal(1.5, at_least=True).is_met(1.4)
    assert Goal(1.5, at_least=False).is_met(1.4)
    assert not Goal(1.5, at_least=False).is_met(1.6)


def test_the_table_says_ratio_goal_and_verdict() -> None:
    result = Result("x", "sqlite", 1.234, (1.0, 2.0), Goal(1.5, at_least=False), "5/s")
    assert to_table([result]).splitlines()[1].split() == [
        *("x", "sqlite", "1.23", "1.00-2.00"),
        *("<=", "1.5", "met", "5/s"),
    ]


def test_two_checkouts_are_compared_by_the_first_figure_of_each_line() -> None:
    lines = [
        " ".join(HEADINGS),
        "appends  sqlite  2.04  2.04-2.04  >= 1.5  met  HTTP 300/s, bare 171/s",
        "search   sqlite  1.41  1.41-1.41  <= 1.5  met  2.50 ms in 600 entries, 0.76 ms in 100",
    ]
    assert parse_rates(lines) == {("appends", "sqlite"): 300.0, ("search", "sqlite"): 400.0}


def test_a_comparison_shows_the_median_ratio_of_neighbouring_runs() -> None:
    line = ("appends", "sqlite")
    (shown,) = compare(
        [{line: 100}, {line: 200}, {line: 100}], [{line: 150}, {line: 200}, {line: 50}]
    )
    assert shown.split() == ["appends", "sqlite", "100", "150", "1.00", "0.50-1.50"]
