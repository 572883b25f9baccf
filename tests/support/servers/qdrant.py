"""What a Qdrant server answers, without one: notes requests, and fails where it is told to."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.servers.loopback import LoopbackServer

_DONE = {"operation_id": 1, "status": "completed"}


class QdrantServer(LoopbackServer):
    """`with QdrantServer() as server`: on a free port until the end of the block.

    `statuses` gives other statuses than 200 by the end of the path; "slow" there waits for the
    end of the block.
    """

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.requests: list[tuple[str, str, Any]] = []
        self.keys: set[str | None] = set()
        self.statuses: dict[str, int] = {}
        self.slow = False
        self.found: list[dict[str, Any]] = []

    def answer(self, method: str, path: str) -> Any:
        """What a good server says."""
        if path.endswith("/exists"):
            return {"exists": False}
        if path.endswith("/points/query"):
            return {"points": self.found}
        return _DONE if "/points" in path or path.endswith("/index") else True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A kept connection that its client forgot would keep the end of the block waiting.
    timeout = 1.0
    server: QdrantServer

    def do_GET(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        stage, path = self.server, self.path.partition("?")[0]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        stage.requests.append((self.command, path, json.loads(body) if body else None))
        stage.keys.add(self.headers.get("api-key"))
        if stage.slow:
            stage.stopping.wait(30)
            self.close_connection = True
            return
        status = next((s for end, s in stage.statuses.items() if path.endswith(end)), 200)
        result = stage.answer(self.command, path)
        said = {"result": result, "status": "ok", "time": 0.0}
        # A server that refuses a request may quote it, and that holds the key.
        refused = {"status": {"error": f"refused {dict(self.headers)}"}, "time": 0.0}
        self._send(status, json.dumps(said if status == 200 else refused).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
