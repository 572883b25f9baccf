"""Memories that can't be decrypted: each is shown as such, fails no list and is never changed."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.encryption import KEY_A, MARKER
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.portability import codes, exports, imports, of_type

pytestmark = [pytest.mark.amendment(15), pytest.mark.surfaces("grpc")]

SPACE: dict[str, Any] = {"space": {"kind": "user"}}


@pytest.fixture
def ann(serve: Serve) -> Caller:
    return Callers(serve(encryption__keys=[KEY_A])).person("ann")


@pytest.fixture
def damage(ann: Caller) -> Callable[..., None]:
    """Give a row the stored text of another one, which opens there alone."""

    def run(memory: str, other: str, *columns: str) -> None:
        for column in columns or ("content",):
            ann.world.database.rows(
                f"UPDATE memories SET {column} ="
                f" (SELECT {column} FROM memories WHERE id = :other) WHERE id = :id",
                id=memory,
                other=other,
            )

    return run


def marks(rows: list[dict[str, Any]]) -> dict[str, bool]:
    assert MARKER not in str(rows)
    assert "otter" not in str(rows)
    return {row["id"]: row.get("unreadable", False) for row in rows}


def test_an_unreadable_memory_fails_no_list(ann: Caller, damage: Callable[..., None]) -> None:
    lost = ann.adds("The otter sleeps in Porto.", **SPACE)["id"]
    kept = ann.adds("The heron sleeps in Porto.", **SPACE)["id"]
    damage(lost, kept)
    both = {lost: True, kept: False}
    assert marks(ann.lists("/memories", spaces="user")) == both
    assert marks(ann.finds("sleeps in Porto", user_id=ann.name)) == both
    body = {"user_id": ann.name, "query": "Porto"}
    recalled = ann.post("/memories/recall", body=body).expect(200)
    assert marks(recalled["items"]) == both
    assert "(can't be read)" in recalled["context"]
    assert marks([ann.get("/memories/{}", lost).expect(200)]) == {lost: True}
    shown = ann.get("/memories/{}", lost).expect(200)
    assert (shown["content"], shown["value"], shown["metadata"]) == ("", None, {})


def test_an_unreadable_memory_is_deleted_and_not_changed(
    ann: Caller, damage: Callable[..., None]
) -> None:
    lost = ann.adds("The otter sleeps in Faro.", **SPACE)["id"]
    kept = ann.adds("The heron sleeps in Faro.", **SPACE)["id"]
    damage(lost, kept)
    stored = ann.world.database.rows("SELECT content FROM memories WHERE id = :id", id=lost)
    for reply in (
        ann.patch("/memories/{}", lost, body={"content": "new", "version": 1}),
        ann.patch("/memories/{}", lost, body={"tags": ["new"], "version": 1}),
    ):
        refusal = reply.refused(409, "conflict")
        assert lost in str(refusal)
    assert ann.world.database.rows("SELECT content FROM memories WHERE id = :id", id=lost) == stored
    ann.delete("/memories/{}", lost).expect(204)
    ann.get("/memories/{}", lost).refused(404, "not_found")


def test_the_text_of_an_unreadable_memory_can_be_written_again(
    ann: Caller, damage: Callable[..., None]
) -> None:
    lost = ann.adds("The otter sleeps in Evora.", **SPACE)["id"]
    kept = ann.adds("The heron sleeps in Evora.", **SPACE)["id"]
    damage(lost, kept)
    again = ann.adds("The otter sleeps in Evora.", **SPACE)
    assert again["id"] != lost
    assert again["content"] == "The otter sleeps in Evora."


def test_an_unreadable_version_shows_ids_and_times(
    ann: Caller, damage: Callable[..., None]
) -> None:
    memory = ann.adds("The otter sleeps in Braga.", **SPACE)["id"]
    for content in ("It moved to Sintra.", "It moved to Lagos."):
        version = ann.get("/memories/{}", memory).expect(200)["version"]
        body = {"content": content, "version": version}
        ann.patch("/memories/{}", memory, body=body).expect(200)
    ann.world.database.rows(
        "UPDATE memory_versions SET snapshot ="
        " (SELECT snapshot FROM memory_versions WHERE id = :other) WHERE id = :id",
        id=f"{memory}:1",
        other=f"{memory}:2",
    )
    history = ann.lists("/memories/{}/history", memory)
    assert [(row["version"], row.get("unreadable", False)) for row in history] == [
        (3, False),
        (2, False),
        (1, True),
    ]
    assert history[-1].get("content") is None


@pytest.mark.rest_only("an export has no method of gRPC")
def test_an_export_marks_what_it_could_not_read_and_no_import_takes_it(
    ann: Caller, damage: Callable[..., None]
) -> None:
    lost = ann.adds("The otter sleeps in Tavira.", **SPACE)["id"]
    kept = ann.adds("The heron sleeps in Tavira.", **SPACE)["id"]
    damage(lost, kept)
    memories = of_type(exports(ann), "memory")
    assert marks(memories).items() >= {lost: True, kept: False}.items()
    line = next(one for one in memories if one["id"] == lost)
    report = imports(ann, [line | {"id": f"{lost}-again"}])
    assert codes(report) == [(1, "validation_error")]


@pytest.mark.rest_only("the graph has no method of gRPC")
def test_an_unreadable_entity_fails_no_list(ann: Caller) -> None:
    ann.adds("I live in Lisbon.", **SPACE)
    ann.adds("I live in Coimbra.", **SPACE)
    database = ann.world.database
    (lost, _), (kept, name) = database.rows("SELECT id, name FROM entities ORDER BY id")
    database.rows("UPDATE entities SET name = :name WHERE id = :id", name=name, id=lost)
    shown = {one["id"]: one for one in ann.lists("/graph/entities")}
    assert (shown[lost]["name"], shown[lost]["unreadable"]) == (None, True)
    assert "unreadable" not in shown[kept]
    around = ann.get("/graph/entities/{}", lost).expect(200)
    assert around["entity"]["unreadable"] is True


def test_a_chat_with_an_unreadable_title_is_listed(ann: Caller) -> None:
    ids = [ann.user.starts(title)["id"] for title in ("the otter", "the heron")]
    ann.world.database.rows(
        "UPDATE conversations SET title ="
        " (SELECT title FROM conversations WHERE id = :other) WHERE id = :id",
        id=ids[0],
        other=ids[1],
    )
    assert marks(ann.lists("/chats")) == {ids[0]: True, ids[1]: False}
