"""Encryption at rest: nothing readable in the database, nothing different over the API."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Host, Serve
from tests.support.encryption import KEY_A, KEY_B, MARKER
from tests.support.engines import TestDatabase
from tests.support.world import User, World, new_id

NewDatabase = Callable[[], TestDatabase]
WAIT_SECONDS_MAX = 20


def written(user: User, word: str) -> str:
    """The id of a conversation with the word in its title, content, memory and preview."""
    conversation: str = user.starts(f"title {word}")["id"]
    user.says(conversation, f"text {word}")
    user.with_key("k1").notes(conversation, f"memory {word}")
    return conversation


def seen(user: User, conversation: str) -> tuple[Any, ...]:
    """Everything the API shows of it."""
    keyed = user.with_key("k1")
    entries = keyed.call("list_entries", conversation).expect(200)
    listed = [c for c in user.walks("list_conversations") if c["id"] == conversation]
    return user.gets(conversation), entries, listed


def copy(database: TestDatabase, table: str, column: str, *, source: str, target: str) -> None:
    """Move a stored value to another row."""
    database.rows(
        f"UPDATE {table} SET {column} ="
        f" (SELECT {column} FROM {table} WHERE id = :source) WHERE id = :target",
        source=source,
        target=target,
    )


def stored_values(database: TestDatabase) -> set[str]:
    """All values that encryption applies to, as they are stored."""
    titles = database.rows("SELECT title, last_message_preview FROM conversations")
    contents = database.rows("SELECT content FROM entries")
    return {value for row in (*titles, *contents) for value in row if value is not None}


@pytest.mark.scenario(40)
def test_plain_old_and_new_rows_read_the_same(host: Host, new_database: NewDatabase) -> None:
    database = new_database()
    with host(database) as world:
        ann = world.user("ann")
        plain = written(ann, "plainword")
        before = {plain: seen(ann, plain)}
    with host(database, encryption__keys=[KEY_A]) as world:
        ann = world.named(ann.name)
        first = written(ann, "firstword")
        before[first] = seen(ann, first)
        assert seen(ann, plain) == before[plain]
    with host(database, encryption__keys=[KEY_B, KEY_A]) as world:
        ann = world.named(ann.name)
        second = written(ann, "secondword")
        assert {c: seen(ann, c) for c in before} == before
        assert ann.texts(second) == ["text secondword"]
    text = database.stored_text()
    assert "firstword" not in text
    assert "secondword" not in text


def test_a_changed_row_is_sealed_with_the_first_key(host: Host, new_database: NewDatabase) -> None:
    database = new_database()
    with host(database, encryption__keys=[KEY_A]) as world:
        ann = world.user("ann")
        conversation = written(ann, "word")
    with host(database, encryption__keys=[KEY_B, KEY_A]) as world:
        ann = world.named(ann.name)
        ann.call("update_conversation", conversation, body={"title": "new title"}).expect(200)
        ann.says(conversation, "new text")
        assert ann.gets(conversation)["title"] == "new title"
        assert ann.texts(conversation) == ["text word", "new text"]
    assert "new title" not in database.stored_text()


def test_rotation_rewrites_old_rows_so_that_the_old_key_can_go(
    host: Host, new_database: NewDatabase
) -> None:
    database = new_database()
    with host(database) as world:
        ann = world.user("ann")
        plain = written(ann, "plainword")
    with host(database, encryption__keys=[KEY_A]) as world:
        ann = world.named(ann.name)
        sealed = written(ann, "sealedword")
        before = {c: seen(ann, c) for c in (plain, sealed)}
    old = stored_values(database)
    with host(database, encryption__keys=[KEY_B, KEY_A], jobs__poll_ms=10) as world:
        ann = world.named(ann.name)
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while stored_values(database) & old:
            assert time.monotonic() < deadline, "some rows are not rewritten"
            assert {c: seen(ann, c) for c in before} == before
    assert all(value.startswith(MARKER) for value in stored_values(database))
    with host(database, encryption__keys=[KEY_B]) as world:
        ann = world.named(ann.name)
        assert {c: seen(ann, c) for c in before} == before


@pytest.mark.amendment(15)
def test_without_the_key_every_list_shows_its_rows_as_unreadable(
    host: Host, new_database: NewDatabase
) -> None:
    database = new_database()
    with host(database, encryption__keys=[KEY_A]) as world:
        ann = world.user("ann")
        conversation = written(ann, "word")
        ann.forks(conversation, ann.says(conversation, "cut"))
        [bob] = world.members(conversation, ann, "reader")
        ann.offers(conversation, bob)
    for keys in ([KEY_B], []):
        with host(database, encryption__keys=keys, encryption__allow_missing=["a", "b"]) as world:
            ann = world.named(ann.name).with_key("k1")
            for rows in (
                [ann.gets(conversation)],
                ann.walks("list_conversations"),
                ann.walks("list_forks", conversation),
                ann.walks("list_entries", conversation),
                ann.walks("list_transfers"),
                world.admin.walks("admin_list_entries", conversation),
            ):
                assert rows
                assert [row["unreadable"] for row in rows] == [True] * len(rows)
                assert "word" not in str(rows)
                assert MARKER not in str(rows)
            readable = ann.starts("a new title")
            shown = {row["id"]: row for row in ann.walks("list_conversations")}
            assert shown[readable["id"]]["title"] == "a new title"
            assert not shown[readable["id"]].get("unreadable")
            ann.deletes(readable)
    with host(database, encryption__keys=[KEY_A, KEY_B]) as world:
        ann = world.named(ann.name)
        assert ann.gets(conversation)["title"] == "title word"


@pytest.mark.scenario(40)
@pytest.mark.amendment(15)
def test_a_value_moved_to_another_row_is_unreadable_there(serve: Serve) -> None:
    world = serve(encryption__keys=[KEY_A])
    ann = world.user("ann")
    source, target = written(ann, "sourceword"), written(ann, "targetword")
    database = world.database
    copy(database, "conversations", "title", source=source, target=target)
    shown = ann.gets(target)
    assert shown["unreadable"] is True
    assert "title" not in shown
    assert shown["lastMessagePreview"] == "text targetword"
    titles = {row["id"]: row.get("title") for row in ann.walks("list_conversations")}
    assert titles == {source: "title sourceword", target: None}
    ids = [ann.call("list_entries", c).expect(200)["data"][0]["id"] for c in (source, target)]
    copy(database, "entries", "content", source=ids[0], target=ids[1])
    [entry] = ann.walks("list_entries", target)
    assert entry["unreadable"] is True
    assert entry["content"] == []
    assert ann.texts(source) == ["text sourceword"]


@pytest.mark.amendment(15)
def test_a_new_title_makes_a_conversation_readable_again(serve: Serve) -> None:
    world = serve(encryption__keys=[KEY_A])
    ann = world.user("ann")
    source, target = written(ann, "sourceword"), written(ann, "targetword")
    for column in ("title", "last_message_preview"):
        copy(world.database, "conversations", column, source=source, target=target)
    assert ann.gets(target)["unreadable"] is True
    ann.call("update_conversation", target, body={"title": "new title"}).expect(200)
    ann.says(target, "new text")
    shown = ann.gets(target)
    assert not shown.get("unreadable")
    assert (shown["title"], shown["lastMessagePreview"]) == ("new title", "new text")


def test_stored_values_begin_with_the_marker(serve: Serve) -> None:
    world = serve(encryption__keys=[KEY_A])
    ann = world.user("ann")
    conversation = written(ann, "word")
    [row] = world.database.rows(
        "SELECT title, last_message_preview FROM conversations WHERE id = :id", id=conversation
    )
    contents = world.database.rows(
        "SELECT content FROM entries WHERE conversation_id = :id", id=conversation
    )
    values = [*row, *(content for (content,) in contents)]
    assert len(values) == 4
    assert all(value.startswith(MARKER) for value in values)
    assert len(set(values)) == 4


@pytest.mark.scenario(40)
@pytest.mark.parametrize("keys", [[], [KEY_A]], ids=["plain", "encrypted"])
def test_no_user_text_can_look_like_ciphertext(serve: Serve, keys: list[Any]) -> None:
    world = serve(encryption__keys=keys)
    ann = world.user("ann")
    conversation = ann.starts()
    body = {"title": f"{MARKER}title"}
    ann.call("create_conversation", body=body).refused(400, "validation_error")
    ann.call("update_conversation", conversation, body=body).refused(400, "validation_error")
    entry = ann.says(conversation, f"{MARKER}text")
    ann.call("fork", conversation, entry, body=body).refused(400, "validation_error")
    assert ann.texts(conversation) == [f"{MARKER}text"]
    assert ann.gets(conversation)["lastMessagePreview"] == "text"


def test_forks_titles_and_previews_work_with_encryption(serve: Serve) -> None:
    world: World = serve(encryption__keys=[KEY_A])
    ann, root = world.user("ann"), new_id()
    k1 = ann.with_key("k1")
    ann.says(root, "A")
    k1.syncs(root, [{"n": 1}])
    fork = ann.forks(root, ann.says(root, "cut"))
    assert (fork["title"], fork["lastMessagePreview"]) == ("A", "A")
    assert k1.syncs(fork, [{"n": 1.0}])["noOp"] is True
    assert [f["title"] for f in ann.walks("list_forks", root)] == ["A", "A"]
    [bob] = world.members(root, ann, "reader")
    assert ann.offers(root, bob)["conversationTitle"] == "A"
