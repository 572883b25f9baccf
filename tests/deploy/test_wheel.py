"""The wheel that the image installs holds more than code."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.deploy.files import ROOT

PACKAGE = ROOT / "src" / "recollect"
KINDS = (".sql", ".yaml", ".onnx", ".txt")


def test_the_wheel_holds_the_model_the_migrations_and_every_other_file_of_the_package(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("recollect-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        there = set(archive.namelist())
    files = [path for path in PACKAGE.rglob("*") if path.suffix in (*KINDS, ".py")]
    assert {path.suffix for path in files} >= {*KINDS}
    wanted = {str(path.relative_to(PACKAGE.parent)) for path in files}
    assert wanted - there == set()
