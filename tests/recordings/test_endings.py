"""How a recording ended is told to its readers and to its writer."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.recordings.callers import CANCELLED, SUCCESS, RecordingClient, Speaker
from tests.recordings.conftest import OneNode, Serving
from tests.recordings.nodes import NodeProcess, a_node
from tests.support.engines import TestDatabase

pytestmark = pytest.mark.amendment(16)

Ending = Callable[[RecordingClient, str, Speaker], Any]
TEXT = "what came"


@pytest.fixture(scope="module")
def node(serving: Serving) -> Iterator[OneNode]:
    with serving() as running:
        yield running


def trailing_status(call: Any) -> str | None:
    """What the trailing metadata of a finished call say."""
    return dict(call.trailing_metadata()).get("status")


def heard(reader: RecordingClient, conversation: str, end: Callable[[], Any]) -> tuple[str, str]:
    """How a recording ends for a reader over REST, and for one over gRPC."""
    replay = reader.replays(conversation)
    assert next(replay).content == TEXT
    with reader.follows(conversation) as events:
        assert next(events).content == {"content": TEXT}
        end()
        (last,) = events
    try:
        assert list(replay) == []
    except grpc.RpcError:
        assert replay.code() is grpc.StatusCode.PERMISSION_DENIED
    assert last.kind == "end", last
    return last.content["status"], trailing_status(replay) or ""


def test_what_its_writer_ends_is_completed(node: OneNode) -> None:
    ann = node.user("ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, TEXT)
    assert heard(ann, conversation, speaker.half_closes) == ("completed", "completed")
    assert (speaker.status(), trailing_status(speaker.call)) == (SUCCESS, "completed")


@pytest.mark.parametrize("path", ["/conversations/{}/response", "/conversations/{}"])
def test_what_somebody_stops_or_deletes_is_cancelled(node: OneNode, path: str) -> None:
    ann = node.user("ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, TEXT)

    def end() -> None:
        assert ann.rest("DELETE", path.format(conversation)).status_code in (200, 204)

    assert heard(ann, conversation, end) == ("cancelled", "cancelled")
    assert (speaker.status(), trailing_status(speaker.call)) == (CANCELLED, "cancelled")


def test_what_its_writer_leaves_is_interrupted(node: OneNode) -> None:
    ann = node.user("ann")
    conversation = ann.starts()
    speaker = ann.begins(conversation, TEXT)
    assert heard(ann, conversation, speaker.call.cancel) == ("interrupted", "interrupted")


def test_who_loses_the_right_to_write_or_to_read_is_told_so(node: OneNode) -> None:
    ann, wanda, rita = (node.user(name) for name in ("ann", "wanda", "rita"))
    conversation = ann.starts()
    ann.shares(conversation, "wanda", "writer")
    ann.shares(conversation, "rita", "reader")
    speaker = wanda.begins(conversation, TEXT)
    members = f"/conversations/{conversation}/memberships"

    def remove(name: str) -> None:
        assert ann.rest("DELETE", f"{members}/{name}").status_code == 204

    assert heard(rita, conversation, lambda: remove("rita")) == ("forbidden", "forbidden")
    assert heard(ann, conversation, lambda: remove("wanda")) == ("forbidden", "forbidden")
    assert (speaker.status(), trailing_status(speaker.call)) == (CANCELLED, "forbidden")


def test_a_node_that_stops_interrupts(
    new_database: Callable[[], TestDatabase], tmp_path: Path
) -> None:
    settings = {"DATABASE__MIGRATE_AT_START": True, "EMBEDDING__PROVIDER": "none"}
    with a_node(tmp_path, new_database(), **settings) as running:
        ann = running.user("ann")
        conversation = ann.starts()
        speaker = ann.begins(conversation, TEXT)
        ends = heard(ann, conversation, lambda: _terminate(running))
        assert speaker.refusal() is grpc.StatusCode.UNAVAILABLE
    assert ends == ("interrupted", "interrupted")


def _terminate(node: NodeProcess) -> None:
    node.process.send_signal(signal.SIGTERM)
