"""Memory at rest: a fresh server against a bare one of the same web framework."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.appends import CLIENTS, lanes
from bench.harness.load import clients_of
from bench.harness.results import Result
from bench.harness.seeds import Tree, plant
from bench.harness.server import running, serving
from bench.harness.stage import Stage

NAME = "memory"
APPENDS = 10_000
SETTLE_SECONDS = 0.5


def run(stage: Stage) -> Result:
    """How many times the bare process's memory the idle server holds."""
    appends = stage.size(APPENDS, 320)
    trees = [_tree(number) for number in range(CLIENTS)]
    ratios, fresh, bare, after = [], 0, 0, 0
    for number in range(stage.size(3, 1)):
        bare = _bare(stage)
        with stage.database() as url:
            plant(url, trees)
            with serving(url, stage.folder) as server, clients_of(server.port) as load:
                fresh = _resident_bytes(server.pid)
                ratios.append(fresh / bare)
                if number == 0:
                    load.side(lanes(trees))(appends)
                    after = _resident_bytes(server.pid)
    figures = (
        f"{_mib(fresh)} fresh, {_mib(after)} after {appends} appends, "
        f"{_mib(bare)} bare Starlette and uvicorn"
    )
    spread = (min(ratios), max(ratios))
    return Result(NAME, stage.engine, statistics.median(ratios), spread, None, figures)


def _tree(number: int) -> Tree:
    tree = Tree("ann", number)
    tree.root()
    return tree


def _bare(stage: Stage) -> int:
    command = [sys.executable, "-m", "bench.harness.bare_server"]
    with running(command, stage.folder, {}) as (process, _):
        return _resident_bytes(process.pid)


def _resident_bytes(pid: int) -> int:
    """Once the process has come to rest."""
    time.sleep(SETTLE_SECONDS)
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) * 1024
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True)
    return int(shown.stdout) * 1024


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:.0f} MiB"
