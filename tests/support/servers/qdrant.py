"""What a Qdrant server answers, without one: notes requests, and fails where it is told to."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

_DONE = {"operation_id": 1, "status": "completed"}


class QdrantServer:
    """`with QdrantServer() as server`: on a free port until the end of the block.

    `statuses` gives other statuses than 200 by the end of the path; "slow" there waits for the
    end of the block.
    """

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Any]] = []
        self.keys: set[str | None] = set()
        self.statuses: dict[str, int] = {}
        self.slow = False
        self.found: list[dict[str, Any]] = []
        self.stopping = threading.Event()
        self._server = _Listener(("127.0.0.1", 0), _Handler)
        self._server.stage = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, method: str, path: str) -> Any:
        """What a good server says."""
        if path.endswith("/exists"):
            return {"exists": False}
        if path.endswith("/points/query"):
            return {"points": self.found}
        return _DONE if "/points" in path or path.endswith("/index") else True


class _Listener(ThreadingHTTPServer):
    stage: QdrantServer
    daemon_threads = False


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A kept connection that its client forgot would keep the end of the block waiting.
    timeout = 1.0
    server: _Listener

    def do_GET(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        stage, path = self.server.stage, self.path.partition("?")[0]
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
