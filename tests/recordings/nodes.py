"""Nodes: server processes on one database, that find each other through a locator."""

import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.recordings.callers import Node
from tests.support.engines import TestDatabase
from tests.support.processes import Process, start_server


class NodeProcess(Node):
    """A server process, and the folder of its recordings."""

    def __init__(self, process: Process, port: int, folder: Path) -> None:
        super().__init__(port)
        self.process = process
        self.folder = folder

    def recording_files(self) -> list[Path]:
        """The files of its recordings."""
        return sorted(self.folder.glob("*"))

    def resident_bytes(self) -> int:
        """How much memory it has."""
        asked = ["ps", "-o", "rss=", "-p", str(self.process.pid)]
        return int(subprocess.run(asked, capture_output=True, check=True).stdout) * 1024


@contextmanager
def a_node(folder: Path, database: TestDatabase, **settings: Any) -> Iterator[NodeProcess]:
    """`recollect serve` as a process of its own, in `local` mode."""
    recording_files = folder / f"recordings-{uuid.uuid4().hex}"
    chosen = {"RECORDER__DIRECTORY": str(recording_files)} | settings
    with start_server(folder, database, **chosen) as (process, port):
        node = NodeProcess(process, port, recording_files)
        try:
            yield node
        finally:
            node.close()
