"""The command line in processes of its own: pipes and the questions of shells."""

import subprocess
from pathlib import Path

from tests.support.processes import WAIT_SECONDS, environment


def shell(line: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """What a line of bash does, with `recollect` on the path."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env=environment({"CONFIG_HOME": str(folder), "EMBEDDING__PROVIDER": "none"}),
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )


def test_a_pipe_that_closes_ends_a_command_quietly(tmp_path: Path) -> None:
    # `true` has ended long before a database is open.
    line = "recollect remember 'tea' --as ann -q && recollect search tea --as ann | true"
    ended = shell(line, tmp_path)
    assert ended.returncode == 141
    assert ended.stderr == ""


def test_a_shell_completes_commands_and_options(tmp_path: Path) -> None:
    ask = (
        "source <(recollect completion bash); "
        "complete() {{ COMP_WORDS=({words}); COMP_CWORD={at}; _recollect_completion recollect; }}; "
        'complete; echo "${{COMPREPLY[@]}}"'
    )
    assert shell(ask.format(words="recollect mem", at=1), tmp_path).stdout.split() == ["memories"]
    found = shell(ask.format(words="recollect search --li", at=2), tmp_path).stdout.split()
    assert found == ["--limit"]
