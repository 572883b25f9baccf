"""Appends and lists over gRPC against the same over REST: on the port that they share, and on a
port of its own. Both are called with an API key, which an append over gRPC needs."""

import socket
from collections.abc import Callable
from uuid import UUID

from google.protobuf.message import Message

from bench.appends import CLIENTS, CONTENT
from bench.harness.http2 import call
from bench.harness.load import Lane, clients_of
from bench.harness.processors import Meter, seconds_of
from bench.harness.results import Result
from bench.harness.rounds import Rounds, alternate
from bench.harness.seeds import Tree, plant
from bench.harness.server import API_KEY, request, serving, token
from bench.harness.stage import Stage
from recollect.rpc.generated import memory_service_pb2 as pb

APPEND, LIST = "grpc-append", "grpc-list"
USERS = 4
ENTRIES = 100
PAGE = 50
REST, SHARED, OWN = "REST", "gRPC on its port", "gRPC on a port of its own"

Lanes = Callable[[Tree], tuple[Lane, Lane]]
"""What one client sends over REST, and over gRPC."""


def run_append(stage: Stage) -> Result:
    """The rate of appends over gRPC as a part of that over REST."""
    return _run(stage, APPEND, _append)


def run_list(stage: Stage) -> Result:
    """The same of pages of entries."""
    return _run(stage, LIST, _list)


def _run(stage: Stage, name: str, lanes: Lanes) -> Result:
    trees = [_tree(number) for number in range(CLIENTS)]
    rest, grpc = zip(*(lanes(tree) for tree in trees), strict=True)
    own_port = _free_port()
    with stage.database() as url:
        plant(url, trees)
        settings = {"JOBS__EMBEDDED_WORKER": "false", "GRPC__PORT": str(own_port)}
        with (
            serving(url, stage.folder, **settings) as server,
            clients_of(server.port) as load,
        ):
            meter = Meter({"server": seconds_of([server.pid])})
            sides = {
                REST: load.side(rest),
                SHARED: load.side(grpc, grpc=True),
                OWN: load.at(own_port).side(grpc, grpc=True),
            }
            watched = {side: meter.watch(side, run, lanes=CLIENTS) for side, run in sides.items()}
            rounds = alternate(watched, stage.effort)
    return _result(name, stage.engine, rounds, meter)


def _append(tree: Tree) -> tuple[Lane, Lane]:
    body = {"channel": "history", "contentType": "history", "content": CONTENT}
    path = f"/v1/conversations/{tree.id}/entries"
    entry = pb.CreateEntryRequest(channel=pb.HISTORY, content_type="history")
    for item in CONTENT:
        entry.content.add().struct_value.update(item)
    message = pb.AppendEntryRequest(conversation_id=UUID(tree.id).bytes, entry=entry)
    return (
        [request("POST", path, user_id=tree.owner, body=body, as_client=True)],
        [_call("AppendEntry", message, tree.owner)],
    )


def _list(tree: Tree) -> tuple[Lane, Lane]:
    path = f"/v1/conversations/{tree.id}/entries?limit={PAGE}"
    message = pb.ListEntriesRequest(
        conversation_id=UUID(tree.id).bytes, page=pb.PageRequest(page_size=PAGE)
    )
    return (
        [request("GET", path, user_id=tree.owner, as_client=True)],
        [_call("ListEntries", message, tree.owner)],
    )


def _call(method: str, message: Message, user_id: str) -> bytes:
    metadata = {"authorization": f"Bearer {token(user_id)}", "x-api-key": API_KEY}
    path = f"/memory.v1.EntriesService/{method}"
    return call(path, metadata, message.SerializeToString())


def _tree(number: int) -> Tree:
    tree = Tree(f"user-{number % USERS}", number)
    tree.say(tree.root(), ENTRIES)
    return tree


def _free_port() -> int:
    """Free a moment ago; nobody tells which one `grpc.port` 0 took."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _result(name: str, engine: str, rounds: Rounds, meter: Meter) -> Result:
    ratio, spread = rounds.ratio(SHARED, REST)
    own, _ = rounds.ratio(OWN, REST)
    told = [
        f"{side} {rounds.rate(side):.0f}/s ({meter.costs(side)})" for side in (REST, SHARED, OWN)
    ]
    figures = f"{', '.join(told)}; ratio of the last {own:.2f}"
    return Result(name, engine, ratio, spread, None, figures)
