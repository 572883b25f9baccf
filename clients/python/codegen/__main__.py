"""`python -m codegen [--check]` in `clients/python`: write the generated modules, or compare."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .document import Document
from .models import write_models
from .operations import write_methods, write_table
from .sync_twin import write_twin

_CLIENT = Path(__file__).parents[1]
_PACKAGE = _CLIENT / "src" / "recollect_client"
_SETTINGS = _CLIENT.parents[1] / "pyproject.toml"
_DOCUMENT = _CLIENT.parents[1] / "contracts" / "openapi-merged.json"


def main(arguments: Sequence[str]) -> int:
    """Write the modules; with `--check` say which are out of date, and return 1 if any is."""
    document = Document(json.loads(_DOCUMENT.read_text("utf-8")))
    texts = {
        "models.py": format_code(write_models(document)),
        "table.py": format_code(write_table(document)),
        "_async/operations.py": format_code(write_methods(document)),
    }
    written = {path.name: path.read_text("utf-8") for path in (_PACKAGE / "_async").glob("*.py")}
    written |= {"operations.py": texts["_async/operations.py"]}
    for name, text in sorted(written.items()):
        texts[f"_sync/{name}"] = format_code(write_twin(name, text))
    stale = [name for name, text in texts.items() if _read(_PACKAGE / name) != text]
    for name in stale:
        if "--check" in arguments:
            print(f"clients/python/src/recollect_client/{name} is out of date; run make generate")
        else:
            (_PACKAGE / name).write_text(texts[name], "utf-8")
    return 1 if stale and "--check" in arguments else 0


def format_code(text: str) -> str:
    """The text as ruff lays it out."""
    for command in (["check", "--quiet", "--fix", "--exit-zero"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--config", str(_SETTINGS)]
        ruff += ["--stdin-filename", "generated.py", "-"]
        text = subprocess.run(  # noqa: S603 - our own tool on our own text
            ruff, input=text, capture_output=True, text=True, check=True
        ).stdout
    return text


def _read(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
