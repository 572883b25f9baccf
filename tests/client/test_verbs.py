"""The verbs of every handle do what they say, on a server and in this process alike."""

import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from recollect_client import ApprovalRequired, Conflict, InvalidInput, NotFound, Recollect, User


@pytest.fixture
def ann(memory: Recollect) -> User:
    return memory.user(f"ann-{uuid.uuid4().hex[:8]}")


@pytest.fixture
def bob(memory: Recollect) -> User:
    return memory.user(f"bob-{uuid.uuid4().hex[:8]}")


def a_name(word: str) -> str:
    return f"{word}-{uuid.uuid4().hex[:8]}"


def test_what_is_remembered_is_recalled_found_listed_and_forgotten(ann: User) -> None:
    written = ann.remember("I'm vegetarian and allergic to nuts.")
    assert written.status == "created"
    assert "allergic to nuts" in (ann.recall("what about nuts?").context or "")
    [hit] = ann.search("nuts").data
    assert (hit.id, hit.content) == (written.id, "I'm vegetarian and allergic to nuts.")
    assert [one.id for one in ann.memories()] == [hit.id]
    assert ann.get(hit.id).space.kind == "user"
    ann.forget(hit.id)
    assert not ann.search("nuts").data
    with pytest.raises(NotFound):
        ann.forget(hit.id)


def test_one_users_memories_are_nobody_elses(ann: User, bob: User) -> None:
    mine = ann.remember("The spare key is under the pot.")
    assert not bob.search("spare key", spaces="all").data
    assert "pot" not in (bob.recall("spare key", spaces="all").context or "")
    for refused in (bob.get, bob.forget):
        with pytest.raises(NotFound):
            refused(mine.id)


def test_messages_are_remembered_as_a_list(ann: User) -> None:
    written = ann.remember(
        [
            {"role": "user", "content": "Where do I park?"},
            {"role": "assistant", "content": "Level two."},
        ]
    )
    assert ann.get(written.id).content == "user: Where do I park?\nassistant: Level two."


def test_a_record_takes_the_place_of_the_one_with_its_key(ann: User) -> None:
    first = ann.put("theme", {"colour": "dark"})
    second = ann.put("theme", {"colour": "light"})
    [left] = [one for one in ann.memories() if one.key == "theme"]
    assert (left.id, left.value) == (second.id, {"colour": "light"})
    assert second.id != first.id


def test_a_change_keeps_what_was_in_the_history(ann: User) -> None:
    written = ann.remember("The meeting is on Monday.", tags=["work"])
    changed = ann.update(written.id, content="The meeting is on Tuesday.", version=1)
    assert (changed.version, changed.tags) == (2, ["work"])
    told = [(item.version, item.content) for item in ann.history(written.id)]
    assert (1, "The meeting is on Monday.") in told
    assert ann.explain(written.id).allowed
    with pytest.raises(Conflict) as caught:
        ann.update(written.id, content="Never.", version=1)
    assert caught.value.details["reason"] == "version"


def test_an_agent_shows_what_is_public_and_keeps_what_is_private(ann: User, bob: User) -> None:
    helper = ann.agent(a_name("helper"))
    assert helper.register(owner_id=ann.id).owner_id == ann.id
    helper.remember("The shop opens at nine.")
    kept = helper.remember("The shop gets ten percent off.", visibility="private")
    seen_by_bob = bob.agent(helper.id)
    assert [one.content for one in seen_by_bob.search("shop").data] == ["The shop opens at nine."]
    moved = helper.move(kept.id, visibility="public")
    assert {one.id for one in seen_by_bob.memories()} >= {moved.id}


def test_an_agent_that_owns_itself_asks_for_itself(memory: Recollect) -> None:
    robot = memory.agent(a_name("robot"))
    robot.register()
    robot.remember("I count to ten.", visibility="private")
    assert [one.content for one in robot.memories()] == ["I count to ten."]
    assert robot.details().owner_id == f"agent:{robot.id}"


def test_what_is_remembered_in_a_run_ends_with_it(memory: Recollect) -> None:
    robot = memory.agent(a_name("robot"))
    robot.register()
    run = robot.run(a_name("run"))
    run.start()
    run.remember("Step one is done.")
    assert [one.content for one in run.memories()] == ["Step one is done."]
    assert run.complete().removed.session == 1
    assert not list(run.memories())


def test_people_in_a_chat_share_its_memories(ann: User, bob: User) -> None:
    team = ann.chat(a_name("team"))
    team.create("group", title="Team")
    team.add(bob.id)
    team.remember("Lunch is at noon.")
    assert [one.content for one in bob.chat(team.id).search("lunch").data] == ["Lunch is at noon."]
    assert {one.user_id for one in team.people()} == {ann.id, bob.id}
    team.remove(bob.id)
    with pytest.raises(NotFound):
        bob.chat(team.id).search("lunch")


def test_a_conversation_is_made_by_its_first_message(ann: User) -> None:
    talk = ann.conversation()
    talk.append("Hello")
    answer = talk.append("Hi Ann", role="assistant")
    assert answer.content == [{"role": "AI", "text": "Hi Ann"}]
    assert [entry.content[0]["text"] for entry in talk.history()] == ["Hello", "Hi Ann"]
    assert [one.id for one in ann.conversations()] == [talk.id]
    assert talk.rename("Small talk").title == "Small talk"
    assert ann.conversation(talk.id).details().owner_user_id == ann.id


def test_a_conversation_is_empty_until_something_is_said(ann: User) -> None:
    ann.remember("I'm vegetarian.")
    talk = ann.conversation()
    assert (list(talk.history()), talk.tail(5)) == ([], [])
    assert [hit.content for hit in talk.search("vegetarian")] == ["I'm vegetarian."]
    talk.append("Hello")
    talk.remember("We meet on Monday.")
    assert {hit.content for hit in talk.search("Monday vegetarian")} == {
        "I'm vegetarian.",
        "We meet on Monday.",
    }
    assert [entry.text for entry in talk.tail(5)] == ["Hello"]
    with pytest.raises(NotFound):
        list(ann.conversation(a_name("none")).history())


def test_messages_of_a_framework_are_taken_as_they_are(ann: User) -> None:
    @dataclass
    class HumanMessage:
        content: str
        type: str = "human"

    written = ann.remember([HumanMessage("Where do I park?"), ("ai", "Level two.")])
    assert ann.get(written.id).content == "user: Where do I park?\nassistant: Level two."


def test_what_is_exported_is_imported_again(ann: User) -> None:
    written = ann.remember("The tea is gone.")
    lines = list(ann.export())
    ann.forget(written.id)
    assert ann.import_lines(lines, dry_run=True).created
    assert not list(ann.memories())
    assert not ann.import_lines(lines).refused
    assert [one.id for one in ann.memories()] == [written.id]


def test_what_was_said_is_found_and_can_be_taken_back(ann: User) -> None:
    talk = ann.conversation()
    kept = talk.append("The parcel is blue.")
    wrong = talk.append("The parcel is lost.")
    found = ann.search_conversations("parcel", search_type="fulltext", group_by_conversation=False)
    assert {one.entry_id for one in found} == {kept.id, wrong.id}
    talk.delete_entry(wrong)
    assert [entry.text for entry in talk.history()] == ["The parcel is blue.", ""]


def test_pages_are_walked_to_the_end_and_no_further(ann: User) -> None:
    talk = ann.conversation()
    for number in range(7):
        talk.append(f"message {number}")
    told = [entry.content[0]["text"] for entry in talk.history(limit=3)]
    assert told == [f"message {number}" for number in range(7)]
    newest = talk.history(limit=2, order="desc")
    assert next(iter(newest)).content[0]["text"] == "message 6"
    assert [entry.content[0]["text"] for entry in talk.tail(2)] == ["message 5", "message 6"]


def test_a_fork_goes_its_own_way(ann: User) -> None:
    talk = ann.conversation()
    talk.append("Tell me a joke")
    told = talk.append("No.", role="assistant")
    branch = talk.fork(told, title="Kinder")
    branch.append("Yes!", role="assistant")
    assert [entry.content[0]["text"] for entry in branch.history()] == ["Tell me a joke", "Yes!"]
    assert [entry.content[0]["text"] for entry in talk.history()] == ["Tell me a joke", "No."]
    assert {fork.conversation_id for fork in talk.forks()} == {talk.id, branch.id}


def test_a_shared_conversation_is_read_until_it_is_no_longer_shared(ann: User, bob: User) -> None:
    talk = ann.conversation()
    talk.append("For you too")
    talk.share(bob.id, "writer")
    bob.conversation(talk.id).append("Thanks")
    assert {(one.user_id, one.access_level) for one in talk.members()} == {
        (ann.id, "owner"),
        (bob.id, "writer"),
    }
    talk.unshare(bob.id)
    assert not list(bob.conversations())
    talk.delete()
    with pytest.raises(NotFound):
        talk.details()


def test_a_response_is_followed_while_it_is_made(ann: User) -> None:
    talk = ann.conversation()
    talk.append("Count")
    heard: list[str] = []
    began = threading.Event()

    def follow() -> None:
        # Until the server has the first piece there is nothing to follow.
        while not heard:
            for piece in ann.conversation(talk.id).follow():
                heard.append(piece)
                began.set()

    reader = threading.Thread(target=follow)

    def pieces() -> Iterator[str]:
        yield "one "
        reader.start()
        # Not before somebody has heard the first piece: so it was followed live.
        assert began.wait(timeout=30)
        yield "two"

    assert talk.respond(pieces()).status == "success"
    reader.join()
    assert "".join(heard) == "one two"


def test_an_erasure_says_beforehand_what_it_would_remove(ann: User) -> None:
    ann.remember("I live in Porto.")
    report = ann.erase(dry_run=True)
    assert report.dry_run
    assert report.counts["memories"] == 1
    assert ann.search("Porto").data


def test_an_erased_user_reads_nothing_more_and_can_ask_how_far_it_is(ann: User) -> None:
    ann.remember("I live in Porto.", subjects=["me"])
    begun = ann.erase(dry_run=False)
    assert (begun.status, begun.dry_run, begun.counts["memories"]) == ("running", False, 1)
    assert not list(ann.memories())
    assert ann.operations.get_erasure(begun.id).id == begun.id


def test_a_change_that_waits_for_an_admin_names_its_approval(ann: User) -> None:
    critical = ann.remember("My number is 123-45-6789.")
    with pytest.raises(ApprovalRequired) as caught:
        ann.update(critical.id, ttl_seconds=8_640_000)
    waiting = ann.operations.get_approval(caught.value.details["approval_id"])
    assert (waiting.memory_id, waiting.status) == (critical.id, "pending")
    assert ann.get(critical.id).version == 1


def test_a_wrong_argument_is_named_with_what_would_be_right(memory: Recollect, ann: User) -> None:
    with pytest.raises(InvalidInput) as caught:
        ann.remember("x", ttl_seconds=0)
    [violation] = caught.value.violations
    assert violation.field == "ttl_seconds"
    with pytest.raises(InvalidInput) as caught:
        ann.remember("x", type="fact")
    assert "preference" in caught.value.message
    with pytest.raises(TypeError, match="no argument sensitivty: did you mean sensitivity"):
        ann.remember("x", sensitivty="public")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="content: must be a text or a list of messages, not int"):
        ann.remember(7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="user_id: must not be empty"):
        memory.user(" ")
    with pytest.raises(ValueError, match="memory_id: must not be empty"):
        ann.get("")
    with pytest.raises(TypeError, match=r"not WriteResult$"):
        ann.forget(ann.remember("The key is under the pot."))  # type: ignore[arg-type]
