"""What the Python client alone brings along: little to install, and little to import."""

import subprocess
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

MEGABYTES_MAX = 15
# The modules of the client; whatever else it imports is from the standard library.
IMPORTED = {
    "annotated_types",
    "httpx2",
    "idna",
    "pydantic",
    "pydantic_core",
    "recollect_client",
    "typing_extensions",
    "typing_inspection",
}


def with_dependencies(name: str, known: dict[str, Distribution]) -> dict[str, Distribution]:
    """The distribution and all that it needs on this machine, extras left out."""
    if name not in known:
        known[name] = distribution(name)
        for required in map(Requirement, known[name].requires or []):
            if required.marker is None or required.marker.evaluate({"extra": ""}):
                with_dependencies(canonicalize_name(required.name), known)
    return known


def size(found: Distribution) -> int:
    """Bytes of its files, and as many for byte code as pip makes: about those of the sources."""
    files = [Path(str(found.locate_file(file))) for file in found.files or []]
    there = [file for file in files if file.is_file() and file.suffix != ".pyc"]
    return sum(file.stat().st_size * (2 if file.suffix == ".py" else 1) for file in there)


def test_it_takes_less_than_15_megabytes_with_everything_that_it_needs() -> None:
    found = with_dependencies("recollect-client", {})
    assert {"recollect-client", "httpx2", "pydantic"} <= set(found)
    of_client = [*Path(__file__).parents[2].glob("clients/python/src/**/*.py")]
    own = 2 * sum(file.stat().st_size for file in of_client)
    assert own + sum(size(one) for one in found.values()) < MEGABYTES_MAX * 1_000_000


def test_it_imports_nothing_of_the_server_and_no_more_than_it_needs() -> None:
    program = "import sys, recollect_client; print(*{one.split('.')[0] for one in sys.modules})"
    command = [sys.executable, "-c", program]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    beside = set(loaded) - set(sys.stdlib_module_names)
    assert {one for one in beside if not one.startswith("_")} <= IMPORTED
