"""The first lines of Python in the README, run as they stand there."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.snippets import code_of

ROOT = Path(__file__).parents[2]


def test_the_five_lines_of_the_readme_recall_what_was_remembered(tmp_path: Path) -> None:
    lines = code_of((ROOT / "README.md").read_text("utf-8"), "python")[0]
    clean = {name: value for name, value in os.environ.items() if "RECOLLECT" not in name}
    printed = subprocess.run(
        [sys.executable, "-c", lines],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    assert printed.returncode == 0, printed.stderr
    assert "I'm vegetarian and allergic to nuts." in printed.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["recollect-data"]
