"""A reply as it is recorded under an idempotency key: its bytes, and the ids that it mentions."""

from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message

from recollect.idempotency.service import RecordedAnswer
from recollect.kernel import strict_json
from recollect.rpc.encoding import EncodedMessage
from recollect.rpc.values import id_from_bytes

_OK = 200
_ID_NAMES = frozenset({"id", "conversation_id"})


def record_message(reply: Message, kind: type[Message]) -> RecordedAnswer:
    """The reply, a message of this kind, as an answer to record. The ids stand beside the bytes
    under the name that they have in JSON."""
    raw = reply.SerializeToString()
    mentions = [{"id": id_} for id_ in _iter_ids(kind.FromString(raw))]
    body = {"message": b64encode(raw).decode(), "mentions": mentions}
    return RecordedAnswer(_OK, strict_json.dump(body).encode())


def replay_message(answer: RecordedAnswer) -> EncodedMessage:
    """The reply that was recorded."""
    return EncodedMessage(b64decode(strict_json.load(answer.body.decode())["message"]))


def _iter_ids(message: Any) -> Iterator[str]:
    """Every id in the message. Repeated messages hold content, which has none."""
    for field, value in message.ListFields():
        if field.name in _ID_NAMES and (id_ := id_from_bytes(value, field.name)):
            yield id_
        elif field.message_type is not None and not field.is_repeated:
            yield from _iter_ids(value)
