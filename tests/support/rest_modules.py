"""The modules of subjects that have REST handlers."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import recollect

_ROOT = Path(recollect.__file__).parent


def rest_modules() -> list[ModuleType]:
    """Every module with a table of handlers, but for those of `api`, which join them."""
    files = [file for file in sorted(_ROOT.rglob("*.py")) if "HANDLERS" in file.read_text("utf-8")]
    names = [".".join(file.relative_to(_ROOT.parent).with_suffix("").parts) for file in files]
    modules = [import_module(name) for name in names if not name.startswith("recollect.api.")]
    return [module for module in modules if hasattr(module, "HANDLERS")]
