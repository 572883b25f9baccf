"""PostgreSQL's own load program with the statements of an append: as bare as a client can be.

Fresh values are expressions of the client's number and a counter, because it has no ids of ours.
"""

import itertools
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.harness.capture import Fresh, Step
from bench.harness.rounds import Run
from bench.harness.seeds import Tree

THREADS = 2
ROUND_POSITIONS = 10_000_000

_PARAMETER = re.compile(r"\$\d+")
_TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)


def pgbench(
    program: Path,
    database_url: str,
    steps: Sequence[Step],
    trees: Sequence[Tree],
    *,
    connections: int,
    folder: Path,
    owner_of: Callable[[str], str],
) -> Run:
    """Runs the script; `owner_of` gives SQL for the owner of the tree whose number is an SQL text.

    Each connection goes round the trees of its own, so nobody waits for a row.
    """
    numbers = [tree.number for tree in trees]
    if numbers != list(range(len(trees))) or len(trees) % connections:
        raise ValueError("trees are numbered from 0, the same number for each connection")
    script = _Script(steps, connections, len(trees) // connections, owner_of)
    path = folder / "append.pgbench"
    path.write_text(script.text)
    command = [str(program), "--no-vacuum", "--protocol=prepared", f"--file={path}"]
    command += [f"--client={connections}", f"--jobs={THREADS}", *script.definitions]
    first = itertools.count(ROUND_POSITIONS, ROUND_POSITIONS)

    def run(count: int) -> float:
        each = max(1, count // connections)
        done = subprocess.run(
            [*command, f"--transactions={each}", f"--define=n={next(first)}", database_url],
            capture_output=True,
            text=True,
            check=False,
        )
        tps = _TPS.search(done.stdout)
        if done.returncode or tps is None:
            raise RuntimeError(f"pgbench failed: {done.stderr[-2000:]}")
        return count / float(tps[1])

    return run


class _Script:
    """Steps as pgbench reads them: constants become variables, which it sends as parameters."""

    def __init__(
        self,
        steps: Sequence[Step],
        connections: int,
        trees_each: int,
        owner_of: Callable[[str], str],
    ) -> None:
        self._constants: dict[str, str] = {}
        self._fresh = {
            Fresh.CONVERSATION: _an_id("00000001-0000-7000-8000-", ":c::bigint << 20"),
            Fresh.ENTRY: _an_id("00000003-0000-7000-8000-", ":n::bigint << 10 | :client_id::int"),
            Fresh.JOB: "gen_random_uuid()",
            Fresh.POSITION: ":n",
            Fresh.TIME: "clock_timestamp()",
            Fresh.USER: owner_of(":c::bigint"),
        }
        statements = [self._statement(step) for step in steps]
        choose = f"\\set n :n + 1\n\\set c :client_id + {connections} * (:n % {trees_each})"
        self.text = "\n".join([choose, "BEGIN;", *(f"{s};" for s in statements), "COMMIT;", ""])

    @property
    def definitions(self) -> list[str]:
        """The constants, as options."""
        return [f"--define={name}={value}" for name, value in self._constants.items()]

    def _statement(self, step: Step) -> str:
        text = _PARAMETER.sub(lambda found: self._value(step.params[found[0]]), step.sql)
        return " ".join(text.split())

    def _value(self, value: object) -> str:
        if value is None:
            return "NULL"
        if isinstance(value, Fresh):
            return f"({self._fresh[value]})"
        name = f"constant_{len(self._constants)}"
        self._constants[name] = str(value)
        return f":{name}"


def _an_id(prefix: str, number: str) -> str:
    return f"('{prefix}' || lpad(to_hex({number}), 12, '0'))::uuid"
