"""Arguments that are wrong are refused by their names, on a server and in this process alike, and
those that are unusual arrive as they are."""

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from recollect_client import InvalidInput, Recollect, ServerUnreachable

LAST_INSTANT = datetime.max.replace(tzinfo=UTC)
HALF = "\ud800"


def a_name(word: str) -> str:
    return f"{word}-{uuid.uuid4().hex[:8]}"


@pytest.mark.parametrize("word", ["Zoë", "日本", "a/b", "a b", "50%2F", "a?b#c", "../x", "💥"])
def test_a_user_and_a_chat_may_have_any_name(memory: Recollect, word: str) -> None:
    name = a_name(word)
    user = memory.user(name)
    written = user.remember("The tea is gone.")
    assert user.get(written.id).group_id == f"user-{name}"
    chat = user.chat(name)
    chat.create("group")
    chat.add(f"{name}/2")
    assert {one.user_id for one in chat.people()} == {name, f"{name}/2"}
    chat.remove(f"{name}/2")
    assert {one.user_id for one in chat.people()} == {name}
    talk = user.conversation()
    talk.append("Hello")
    talk.share(f"{name}/2")
    talk.unshare(f"{name}/2")
    assert [one.user_id for one in talk.members()] == [name]


def test_the_removal_of_a_member_never_reaches_the_conversation(memory: Recollect) -> None:
    talk = memory.user(a_name("ann")).conversation()
    talk.append("Still here")
    for segment in (".", ".."):
        with pytest.raises(ValueError, match="user_id: must not be"):
            talk.unshare(segment)
        with pytest.raises(InvalidInput, match=r"must not be `\.`"):
            talk.share(segment)
    assert talk.details().title == "Still here"


@pytest.mark.parametrize("segment", [".", ".."])
def test_an_id_that_no_url_can_carry_is_refused(memory: Recollect, segment: str) -> None:
    name = a_name("ann")
    ann = memory.user(name)
    for call in (ann.get, ann.forget, ann.explain, ann.chat(segment).remove):
        with pytest.raises(ValueError, match="must not be"):
            call(segment)
    with pytest.raises(InvalidInput, match="must not be"):
        ann.remember("Hello", id=segment)
    memory.agent(name).register()
    with pytest.raises(InvalidInput, match="must not be"):
        memory.agent(name).operations.start_run(id=segment, agent_id=name)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda memory, ann: memory.user("a\nb"), "user_id: must not contain control"),
        (lambda memory, ann: memory.user(" ann"), "user_id: must not begin or end with white"),
        (lambda memory, ann: memory.user(HALF), "user_id: must not contain half of a surrogate"),
        (lambda memory, ann: memory.conversation(""), "conversation_id: must not be empty"),
        (lambda memory, ann: ann.conversation(""), "conversation_id: must not be empty"),
        (lambda memory, ann: ann.get(HALF), "memory_id: must not contain half of a surrogate"),
        (lambda memory, ann: ann.remember(b"x"), "content: must be a text or a list"),
        (lambda memory, ann: ann.put("k", {"a": float("nan")}), "value: Out of range float"),
        (lambda memory, ann: ann.put("k", {"a": b"x"}), "value: must be a value of JSON, not"),
        (lambda memory, ann: list(ann.memories(as_of=_beyond())), "as_of: date value out of range"),
        (lambda memory, ann: ann.conversation().append(5), "content: must be a text or a list"),
        (lambda memory, ann: ann.conversation().append({"a": 1}), "content: must be a text or a"),
        (lambda memory, ann: ann.conversation().append("x", role=None), "role: must be a text"),
        (lambda memory, ann: ann.conversation().fork(None), "entry: must be a text"),
        (lambda memory, ann: ann.conversation().tail(None), "count: must be a whole number"),
    ],
)
def test_a_wrong_argument_is_named(
    memory: Recollect, call: Callable[[Recollect, Any], Any], named: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=named):
        call(memory, memory.user(a_name("ann")))


def _beyond() -> datetime:
    """An instant that lies after the last one that can be written in UTC."""
    return LAST_INSTANT.replace(tzinfo=timezone(timedelta(hours=-14)))


def test_half_of_a_surrogate_pair_is_refused_by_its_field_and_ignored_in_a_query(
    memory: Recollect,
) -> None:
    ann = memory.user(a_name("ann"))
    with pytest.raises(InvalidInput, match="content: must not contain a lone surrogate"):
        ann.remember(f"tea {HALF}")
    ann.remember("The tea is gone.")
    assert [hit.content for hit in ann.search(f"tea {HALF}").data] == ["The tea is gone."]


def test_a_title_with_control_characters_is_refused_in_plain_words(memory: Recollect) -> None:
    talk = memory.user(a_name("ann")).conversation()
    talk.append("Hello")
    with pytest.raises(InvalidInput, match="title: must not contain control characters"):
        talk.rename("a\x01b")


def test_an_error_of_the_one_who_responds_comes_back(
    memory: Recollect, capfd: pytest.CaptureFixture[str]
) -> None:
    talk = memory.user(a_name("ann")).conversation()
    talk.append("Tell me a secret.")

    def pieces() -> Iterator[str]:
        yield "the-spare-key-is-under-the-pot"
        raise LookupError("nothing more to say")

    with pytest.raises(LookupError, match="nothing more to say"):
        talk.respond(pieces())
    printed = capfd.readouterr()
    assert "spare-key" not in printed.out + printed.err


def test_a_client_that_is_closed_says_so_at_once() -> None:
    memory = Recollect.connect("http://127.0.0.1:9")
    memory.close()
    with pytest.raises(ServerUnreachable) as caught:
        memory.user("ann").remember("Too late.")
    assert (caught.value.code, caught.value.message) == ("closed", "this client is closed")
