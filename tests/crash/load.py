"""Clients that append as fast as they can, and what the database must hold afterwards."""

import http.client
import json
import threading
import uuid
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from recollect.conversations.model import headline
from tests.support.engines import TestDatabase

CLIENTS = 8
WAIT_SECONDS = 60
USER = "ann"

_ENTRIES = """
SELECT e.conversation_id, e.conversation_group_id, e.seq, e.content, c.id, t.last_seq
FROM entries e
LEFT JOIN conversations c ON c.id = e.conversation_id
LEFT JOIN conversation_groups t ON t.id = e.conversation_group_id
ORDER BY e.conversation_group_id, e.seq
"""


class Load:
    """Eight clients on a few conversations. Each text is sent once, by one client.

    With `keys` each text goes with itself as idempotency key, and what got no answer can be sent
    again.
    """

    def __init__(self, conversations: Sequence[str] | None = None, *, keys: bool = False) -> None:
        self.conversations = list(conversations or [str(uuid.uuid4()) for _ in range(3)])
        self.acknowledged: list[tuple[str, str]] = []
        self.unanswered: list[tuple[str, str]] = []
        self.statuses: set[int] = set()
        self._keys = keys
        self._lock = threading.Condition()
        self._round = 0

    def start(self, port: int) -> list[threading.Thread]:
        """The clients run until the server is gone."""
        self._round += 1
        threads = [
            threading.Thread(target=self._client, args=(port, self._round, number), daemon=True)
            for number in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        return threads

    def wait_for(self, more: int) -> None:
        """Return when so many more entries were acknowledged."""
        with self._lock:
            wanted = len(self.acknowledged) + more
            done = self._lock.wait_for(lambda: len(self.acknowledged) >= wanted, WAIT_SECONDS)
        assert done, "the server acknowledges too little"

    def _client(self, port: int, round_: int, number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS)
        for count in range(1_000_000):
            conversation = self.conversations[(number + count) % len(self.conversations)]
            text = f"round {round_} client {number} entry {count}"
            try:
                status, _ = self._append(connection, conversation, text)
            except (OSError, http.client.HTTPException):
                with self._lock:
                    self.unanswered.append((conversation, text))
                break
            with self._lock:
                self.statuses.add(status)
                if status == 201:
                    self.acknowledged.append((conversation, text))
                    self._lock.notify_all()
                else:
                    self.unanswered.append((conversation, text))
        connection.close()

    def send_again(self, port: int, again: Sequence[tuple[str, str]]) -> None:
        """Repeat these requests under their keys; each is answered with its own entry."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS)
        for conversation, text in again:
            status, answer = self._append(connection, conversation, text)
            assert status == 201, answer
            assert json.loads(answer)["content"][0]["text"] == text
        connection.close()

    def _append(
        self, connection: http.client.HTTPConnection, conversation: str, text: str
    ) -> tuple[int, bytes]:
        return _append(
            connection, conversation, text, {"Idempotency-Key": text} if self._keys else {}
        )


def _append(
    connection: http.client.HTTPConnection, conversation: str, text: str, key: dict[str, str]
) -> tuple[int, bytes]:
    item = {"role": "USER", "text": text, "events": [{"pad": "x" * 500}]}
    body = {"channel": "history", "contentType": "history", "content": [item]}
    headers = {"X-Requester-Id": USER, "Content-Type": "application/json"} | key
    path = f"/v1/conversations/{conversation}/entries"
    connection.request("POST", path, json.dumps(body), headers)
    response = connection.getresponse()
    return response.status, response.read()


def join(threads: Sequence[threading.Thread]) -> None:
    """Wait for all clients to notice the end."""
    for thread in threads:
        thread.join(WAIT_SECONDS)
        assert not thread.is_alive()


def stored_texts(database: TestDatabase) -> dict[str, list[str]]:
    """The texts of each conversation by position, after checking that each row is whole."""
    texts: dict[str, list[str]] = defaultdict(list)
    for conversation, tree, seq, content, present, last_seq in database.rows(_ENTRIES):
        assert conversation == tree == present, "an entry without its conversation"
        texts[str(conversation)].append(_text_of(content))
        assert seq == len(texts[str(conversation)]) <= last_seq, "a position is missing or twice"
    return texts


def check(database: TestDatabase, load: Load) -> None:
    """What was acknowledged is there exactly once; nothing is there twice or in part."""
    texts = stored_texts(database)
    for conversation, stored in texts.items():
        assert len(stored) == len(set(stored)), "an entry is there twice"
        acknowledged = [text for id_, text in load.acknowledged if id_ == conversation]
        assert set(acknowledged) <= set(stored), "an acknowledged entry is lost"
    _check_rows(database, texts)
    if database.engine == "sqlite":
        assert database.rows("PRAGMA integrity_check") == [("ok",)]


def _check_rows(database: TestDatabase, texts: dict[str, list[str]]) -> None:
    """Tree, conversation and owner came with the first entry, or none of them did."""
    previews = database.rows("SELECT id, last_message_preview, last_text_seq FROM conversations")
    assert {str(id_) for id_, _, _ in previews} == set(texts)
    for id_, shown, last_text_seq in previews:
        assert shown == headline(texts[str(id_)][-1]).preview
        assert last_text_seq == len(texts[str(id_)])
    positions = database.rows("SELECT id, last_seq FROM conversation_groups")
    assert {str(id_): seq for id_, seq in positions} == {i: len(t) for i, t in texts.items()}
    owners = database.rows("SELECT conversation_group_id, user_id FROM conversation_memberships")
    assert {(str(id_), user) for id_, user in owners} == {(id_, USER) for id_ in texts}


def _text_of(content: Any) -> str:
    (item,) = json.loads(content)
    assert len(item["events"][0]["pad"]) == 500
    return str(item["text"])
