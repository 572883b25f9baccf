"""A small real token issuer: an HTTP server with a JWK Set, and private keys that sign."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

WAIT_SECONDS = 10


class Issuer:
    """What the endpoint answers, and how often it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.keys: list[dict[str, Any]] = []
        self.status = 200
        self.body: bytes | None = None
        self.fetches = 0
        self.asked = threading.Event()
        self.answering = threading.Event()
        self.answering.set()

    def publish(self, *keys: dict[str, Any]) -> None:
        """Make these the keys of the set."""
        self.keys = list(keys)

    def answer(self) -> bytes:
        """Count the fetch, wait until answers are let go, and answer."""
        self.fetches += 1
        self.asked.set()
        self.answering.wait(WAIT_SECONDS)
        return json.dumps({"keys": self.keys}).encode() if self.body is None else self.body


@contextmanager
def an_issuer() -> Iterator[Issuer]:
    """An issuer on a free port, stopped afterwards."""
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = issuer.answer()
            self.send_response(issuer.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except ConnectionError:
                # The client gave up, as some tests want it to.
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.url = f"http://127.0.0.1:{server.server_port}/keys"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield issuer
    finally:
        issuer.answering.set()
        server.shutdown()
        server.server_close()
        thread.join(WAIT_SECONDS)


@cache
def rsa_key(name: str, bits: int = 2048) -> rsa.RSAPrivateKey:
    """The RSA key of that name."""
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


@cache
def ec_key(name: str) -> ec.EllipticCurvePrivateKey:
    """The P-256 key of that name."""
    return ec.generate_private_key(ec.SECP256R1())


def rsa_jwk(name: str, bits: int = 2048, **members: Any) -> dict[str, Any]:
    """Its public half as a JWK, with the name as key id."""
    public = rsa_key(name, bits).public_key()
    return RSAAlgorithm.to_jwk(public, as_dict=True) | {"kid": name} | members


def ec_jwk(name: str, **members: Any) -> dict[str, Any]:
    """Its public half as a JWK, with the name as key id."""
    return ECAlgorithm.to_jwk(ec_key(name).public_key(), as_dict=True) | {"kid": name} | members


def rs256(name: str, claims: dict[str, Any], *, kid: str | None = None, bits: int = 2048) -> str:
    """A token that the RSA key signed."""
    return jwt.encode(claims, rsa_key(name, bits), "RS256", headers={"kid": kid or name})


def es256(name: str, claims: dict[str, Any]) -> str:
    """A token that the P-256 key signed."""
    return jwt.encode(claims, ec_key(name), "ES256", headers={"kid": name})
