"""Python modules for the messages of `contracts/proto`; `--check` only compares.

The method stubs that protoc's plugin would make are not needed: the server takes its methods from
the descriptors.
"""

import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

PROTO = Path(__file__).parent / "proto"
OUT = Path(__file__).parents[1] / "src" / "recollect" / "rpc" / "generated"


def generate(out: Path) -> dict[str, str]:
    """What protoc makes, by file name."""
    sources = sorted(str(path.relative_to(PROTO)) for path in PROTO.rglob("*.proto"))
    includes = [f"-I{PROTO}", f"-I{files('grpc_tools') / '_proto'}"]
    outs = [f"--python_out={out}", f"--pyi_out={out}"]
    if protoc.main(["protoc", *includes, *outs, *sources]) != 0:
        raise SystemExit("protoc refused the files in contracts/proto")
    return {path.name: path.read_text() for path in out.rglob("*_pb2.py*")}


def main() -> int:
    """Write the modules, or tell whether they are up to date."""
    with tempfile.TemporaryDirectory() as folder:
        made = generate(Path(folder))
    present = {path.name: path.read_text() for path in OUT.glob("*_pb2.py*")}
    if made == present:
        return 0
    if "--check" in sys.argv:
        print(f"{OUT.name}: not up to date, run `make generate`", file=sys.stderr)
        return 1
    for name in present.keys() - made.keys():
        (OUT / name).unlink()
    for name, text in made.items():
        (OUT / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
