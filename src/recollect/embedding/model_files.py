"""The files of the built-in model: where they are, and whether they are whole.

A build that lost the model, a deleted or a damaged file cost a server its search by meaning while
everything else works. So health and the doctor ask here.
"""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Literal

MODEL_FOLDER = Path(__file__).parent / "model"
MODEL_FILE = "minilm-l6-v2-int8.onnx"
VOCABULARY_FILE = "vocab.txt"
MANIFEST_FILE = "manifest.json"

ModelFault = Literal["embedding_model_missing", "embedding_model_damaged"]
_REMEDY = (
    "until then searches find by words only. Install the recollect wheel again, or run"
    " `make install` in a clone, and restart; or set embedding.provider to an endpoint or to none"
)
ADVICE: dict[ModelFault, str] = {
    "embedding_model_missing": f"the files of the embedding model are missing: {_REMEDY}",
    "embedding_model_damaged": (
        f"a file of the embedding model is not what the build made: {_REMEDY}"
    ),
}


class ModelFiles:
    """Checks the files, and again only when one of them was replaced."""

    def __init__(self, folder: Path = MODEL_FOLDER) -> None:
        self._folder = folder
        self._seen: object = None
        self._fault: ModelFault | None = None

    async def find_fault(self) -> ModelFault | None:
        """What is wrong with the files; None if they are whole. Reads them on a thread."""
        stamp = self._stamp()
        if stamp != self._seen:
            self._fault = await asyncio.to_thread(_examine, self._folder)
            self._seen = stamp
        return self._fault

    def _stamp(self) -> list[tuple[int, int]]:
        """Size and time of each file; empty if one is missing."""
        try:
            found = [(self._folder / name).stat() for name in _NAMES]
        except OSError:
            return []
        return [(one.st_size, one.st_mtime_ns) for one in found]


_NAMES = (MODEL_FILE, VOCABULARY_FILE, MANIFEST_FILE)


def _examine(folder: Path) -> ModelFault | None:
    try:
        manifest = json.loads((folder / MANIFEST_FILE).read_bytes())
        sums = {name: _checksum(folder / name) for name in (MODEL_FILE, VOCABULARY_FILE)}
    except OSError:
        return "embedding_model_missing"
    except ValueError:
        return "embedding_model_damaged"
    whole = isinstance(manifest, dict) and manifest.get("sha256") == sums
    return None if whole else "embedding_model_damaged"


def _checksum(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
