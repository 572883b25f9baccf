"""The least that a recording can be: bytes from a socket into a file, and a file into a socket.

A connection says with its first byte whether it sends or wants the file.
"""

import socket
import sys
from pathlib import Path

SEND, TAKE = b"s", b"t"
BLOCK_BYTES = 64 * 1024


def _serve(connection: socket.socket, path: Path) -> None:
    if connection.recv(1) == TAKE:
        with path.open("rb") as file:
            connection.sendfile(file)
        return
    with path.open("wb") as file:
        while block := connection.recv(BLOCK_BYTES):
            file.write(block)
    connection.sendall(SEND)


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            client, _ = listener.accept()
            with client:
                _serve(client, Path(sys.argv[1]))
