"""The address of a gRPC caller, from the name that grpcio gives to the other end."""

from ipaddress import ip_address
from urllib.parse import unquote


def caller_address(peer: str) -> str | None:
    """The caller's IP address; None if it is unknown.

    A call on the port of REST comes through the relay, over a unix socket that is bound to a name
    with the address in hexadecimal (`api/rest/grpc_relay.py`).
    """
    kind, _, rest = unquote(peer).partition(":")
    if kind in ("ipv4", "ipv6"):
        return rest.rpartition(":")[0].strip("[]")
    try:
        return str(ip_address(bytes.fromhex(rest.rpartition("/")[2].partition("-")[0])))
    except ValueError:
        return None
