"""A client's own memories, in the space of its user and in those of its agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.nodes.own_trees import IN_ALL, WORDS
from tests.nodes.surfaces import NodeClient, Surfaces
from tests.support.api import Reply

ALL = {"limit": 1000}


@dataclass(slots=True)
class Note:
    """What the client knows of a memory."""

    id: str
    space: int
    word: str
    content: str
    version: int = 1
    repeats: int = 0


class OwnMemories:
    """Acts on them; what it wrote it reads again."""

    def __init__(self, node_client: NodeClient, client: int) -> None:
        self._way = node_client
        self.user = node_client.user(f"dan-{client}")
        agent = {"id": f"{self.user.name}-agent", "owner_id": self.user.name}
        self.agent_id: str = self._call("POST", "/agents", body=agent).expect(201)["id"]
        self.notes: list[Note] = []
        self._told = 0
        self._spaces: list[dict[str, Any]] = [
            {"space": {"kind": "user"}},
            {"agent_id": self.agent_id, "visibility": "private"},
            {"agent_id": self.agent_id, "visibility": "public"},
        ]

    def add(self, pick: int, other: int) -> None:
        """A new statement in one of three spaces."""
        word, content = self._new_content(other)
        space = pick % len(self._spaces)
        result = self._add(content, space)
        assert result["status"] == "created"
        self.notes.append(Note(result["id"], space, word, content))
        self._finds_all(self.notes[-1])

    def repeat(self, pick: int, other: int) -> None:
        """Tell a statement again: it is counted."""
        if self.notes:
            note = self._pick(pick)
            result = self._add(note.content, note.space)
            assert (result["id"], result["status"]) == (note.id, "duplicate")
            note.repeats += 1
            note.version = result["memory"]["version"]
            self._compare(note)

    def change(self, pick: int, other: int) -> None:
        """Change what a statement says; the words before are not found any more."""
        if self.notes:
            note = self._pick(pick)
            note.word, note.content = self._new_content(other)
            body = {"content": note.content} | ({"version": note.version} if other % 2 else {})
            changed = self._call("PATCH", "/memories/{}", note.id, body=body).expect(200)
            note.version += 1
            assert changed["version"] == note.version
            self._compare(note)
            self.find(note.space, other)

    def change_stale(self, pick: int, other: int) -> None:
        """A change of another version than the present one changes nothing."""
        if self.notes:
            note = self._pick(pick)
            body = {"content": "never", "version": note.version + 1 + other}
            self._call("PATCH", "/memories/{}", note.id, body=body).refused(409, "conflict")
            self._compare(note)

    def forget(self, pick: int, other: int) -> None:
        """Delete one."""
        if self.notes:
            note = self._pick(pick)
            self._call("DELETE", "/memories/{}", note.id).expect(204)
            self.notes.remove(note)
            self._call("GET", "/memories/{}", note.id).refused(404, "not_found")
            self._finds_all(note)

    def find(self, pick: int, other: int) -> None:
        """A word is found in the memories that hold it."""
        word = WORDS[other % len(WORDS)]
        self._finds(word, pick, [note.id for note in self._of(pick) if note.word == word])

    def list_memories(self, pick: int, other: int) -> None:
        """All of them, the newest first."""
        page = self._call("GET", "/memories", **self._asked(pick), **ALL).expect(200)
        assert [one["id"] for one in page["data"]] == [note.id for note in self._of(pick)[::-1]]

    def check(self) -> None:
        """Everything, once more."""
        for pick in range(2):
            self.list_memories(pick, 0)
        for note in self.notes:
            self._compare(note)

    def ranks_alike(self, nodes: Sequence[Surfaces], word: str) -> None:
        """Each node finds the same by every kind of search, in the same order."""
        body = {"query": word, "limit": 100, "agent_id": self.agent_id}
        answers = []
        for surfaces in nodes:
            credentials = self.user.credentials
            reply = surfaces[0].request(
                "POST", "/memories/search", credentials, query={}, body=body
            )
            page = reply.expect(200)
            assert page["degraded"] == []
            answers.append([(hit["id"], hit["stages"]) for hit in page["data"]])
        assert all(answer == answers[0] for answer in answers)

    def _add(self, content: str, space: int) -> dict[str, Any]:
        body = {"content": content} | self._spaces[space]
        result: dict[str, Any] = self._call("POST", "/memories", body=body).expect(201)
        return result

    def _new_content(self, other: int) -> tuple[str, str]:
        self._told += 1
        word = WORDS[other % len(WORDS)]
        return word, f"{word} {IN_ALL} number{self._told}"

    def _finds_all(self, beside: Note) -> None:
        self._finds(IN_ALL, beside.space, [note.id for note in self._of(beside.space)])

    def _finds(self, word: str, pick: int, expected: list[str]) -> None:
        body = {"query": word, "mode": "fulltext", "limit": 100} | self._asked(pick)
        hits = self._call("POST", "/memories/search", body=body).expect(200)["data"]
        assert sorted(hit["id"] for hit in hits) == sorted(expected)

    def _compare(self, note: Note) -> None:
        shown = self._call("GET", "/memories/{}", note.id).expect(200)
        told = (shown["content"], shown["version"], shown["repeats"], shown["status"])
        assert told == (note.content, note.version, note.repeats, "active")

    def _asked(self, pick: int) -> dict[str, Any]:
        """The user's space, or those of the agent."""
        agents = pick % len(self._spaces) > 0
        return {"agent_id": self.agent_id} if agents else {"user_id": self.user.name}

    def _of(self, pick: int) -> list[Note]:
        agents = pick % len(self._spaces) > 0
        return [note for note in self.notes if (note.space > 0) == agents]

    def _pick(self, pick: int) -> Note:
        return self.notes[pick % len(self.notes)]

    def _call(self, method: str, path: str, *ids: str, body: Any = None, **query: Any) -> Reply:
        return self._way.request(method, path, self.user, *ids, body=body, **query)
