"""JSON that nests deeper than readers of protobuf go is told as text from there on: no row that
somebody stored over REST keeps others from reading theirs."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.kernel.strict_json import DEPTH_MAX, dump
from recollect.memories.grpc import recall_response
from recollect.rpc.values import fill_struct, fill_value
from recollect.search.grpc import to_results
from recollect.search.model import EntryHitPage
from tests.api.fakes import a_hit, an_entry
from tests.api.grpc.client import Client
from tests.api.grpc.memories import EVERYWHERE, MINE, ask
from tests.support.api import RestApi
from tests.support.grpc.messages import struct_of, value_of
from tests.support.grpc.protocol import is_json, is_struct, protocol
from tests.support.world import User, World, memory, new_id

LEVELS = 32
CONVERSATIONS = "ConversationsService"
Path = tuple[FieldDescriptor, ...]
leaves = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text('aß"\\\n', max_size=3)
# A level of nesting: the name of a member, or None for a list; and what lies beside the inner one.
steps = st.tuples(st.none() | st.text("ab", max_size=2), st.lists(leaves, max_size=2))


def wrapped(inner: Any, step: tuple[str | None, list[Any]]) -> Any:
    """The value one level deeper."""
    name, beside = step
    if name is None:
        return [*beside, inner]
    return {f"{name}{at}": one for at, one in enumerate(beside)} | {name: inner}


@st.composite
def deep_values(draw: st.DrawFn) -> Any:
    """JSON values of any depth that REST allows inside of a list."""
    value: Any = draw(leaves | st.just({}) | st.just([]))
    for step in draw(st.lists(steps, max_size=DEPTH_MAX - 1)):
        value = wrapped(value, step)
    return value


def nested(levels: int, *, objects: bool = True) -> Any:
    """A text inside of so many objects or lists."""
    value: Any = "deep"
    for _ in range(levels):
        value = {"a": value} if objects else [value]
    return value


def as_told(value: Any, levels: int = LEVELS) -> Any:
    """The value with its JSON text in place of what lies too deep."""
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, list):
        return [as_told(item, levels - 1) for item in value]
    return {name: as_told(member, levels - 1) for name, member in value.items()}


def ways_to_json(kind: Descriptor, before: Path = ()) -> Iterator[Path]:
    """The ways to every field of a message that holds JSON."""
    for field in kind.fields:
        if is_json(field):
            yield (*before, field)
        elif field.message_type is not None:
            yield from ways_to_json(field.message_type, (*before, field))


def answers_with_json() -> list[Any]:
    """The answer of every method, and a way in it."""
    return [
        pytest.param(method.output_type, way, id=f"{name}:{'.'.join(field.name for field in way)}")
        for name, method in sorted(protocol().methods.items())
        for way in ways_to_json(method.output_type)
    ]


@pytest.mark.parametrize("levels", [LEVELS, LEVELS + 1, DEPTH_MAX])
@pytest.mark.parametrize(("kind", "way"), answers_with_json())
def test_every_answer_can_be_read_however_deep_its_json(
    kind: Descriptor, way: Path, levels: int
) -> None:
    whole = GetMessageClass(kind)()
    inside: Any = whole
    for field in way:
        inside = getattr(inside, field.name)
        inside = inside.add() if field.is_repeated else inside
    (fill_struct if is_struct(way[-1]) else fill_value)(inside, nested(levels))
    back = type(whole).FromString(whole.SerializeToString())
    assert back == whole


@settings(max_examples=100, deadline=None)
@given(deep_values())
@example(nested(LEVELS))
@example(nested(LEVELS, objects=False))
@example(nested(DEPTH_MAX))
@example(nested(DEPTH_MAX, objects=False))
def test_content_is_itself_down_to_a_level_and_text_below(value: Any) -> None:
    page = EntryHitPage([a_hit(entry=an_entry(dump([value])))], None)
    sent = to_results(page).SerializeToString()
    answer: Any = type(protocol().message("SearchEntriesResponse")).FromString(sent)
    [told] = answer.results[0].entry.content
    assert value_of(told) == as_told(value)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text("ab", max_size=2), deep_values(), max_size=2))
@example(nested(LEVELS))
@example(nested(DEPTH_MAX))
def test_members_are_themselves_down_to_a_level_and_text_below(members: dict[str, Any]) -> None:
    hit = {"id": "m", "metadata": members, "score": 1.0, "stages": [], "why": "so"}
    sent = recall_response({"items": [hit]}).SerializeToString()
    answer: Any = type(protocol().message("RecallMemoriesResponse")).FromString(sent)
    assert struct_of(answer.items[0].memory.metadata) == as_told(members)


def test_deep_metadata_keeps_nobody_from_their_conversations(world: World, client: Client) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    deep = nested(DEPTH_MAX - 1)
    made = over_rest(world, ann, "create_conversation", body={"metadata": deep})
    bob.starts("his own")
    ann.shares(made["id"], bob, "reader")
    listed = client.ask(bob, f"{CONVERSATIONS}/ListConversations").expect().conversations
    told = {one.title: struct_of(one.metadata) for one in listed}
    assert told == {"": as_told(deep), "his own": {}}


def test_a_change_is_answered_whatever_the_metadata(world: World, client: Client) -> None:
    ann, deep = world.user("ann"), nested(DEPTH_MAX - 1)
    made = over_rest(world, ann, "create_conversation", body={"metadata": deep})
    named = {"conversation_id": made["id"], "title": "new"}
    changed = client.ask(ann, f"{CONVERSATIONS}/UpdateConversation", **named).expect()
    assert (changed.title, struct_of(changed.metadata)) == ("new", as_told(deep))
    entry = ann.says(made["id"], "here")
    fork = {"conversation_id": made["id"], "entry_id": entry["id"]}
    assert client.ask(ann, f"{CONVERSATIONS}/ForkConversation", **fork).expect().id


def test_deep_content_is_listed(world: World, client: Client) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    items = [nested(DEPTH_MAX - 2), nested(DEPTH_MAX - 2, objects=False), nested(LEVELS)]
    over_rest(world, ann, "append", conversation, body=memory(items))
    listed = client.ask(ann, "EntriesService/ListEntries", conversation_id=conversation).expect()
    [entry] = listed.entries
    assert [value_of(item) for item in entry.content] == [as_told(item) for item in items]


def test_memories_with_deep_metadata_are_listed_and_found(world: World, client: Client) -> None:
    ann, deep = world.user("ann"), nested(DEPTH_MAX - 1)
    body = {"content": "The shop opens at nine.", "metadata": deep} | MINE
    RestApi.request(world.api, "POST", "/memories", ann.credentials, query={}, body=body).expect(
        201
    )
    [listed] = ask(client, ann, "ListMemories", **EVERYWHERE).expect().memories
    [found] = ask(client, ann, "SearchMemories", query="shop", **EVERYWHERE).expect().hits
    [recalled] = ask(client, ann, "RecallMemories", query="shop", **EVERYWHERE).expect().items
    for told in (listed, found.memory, recalled.memory):
        assert struct_of(told.metadata) == as_told(deep)


def test_a_record_as_deep_as_there_is_comes_back_whole(world: World, client: Client) -> None:
    ann, value = world.user("ann"), nested(LEVELS)
    ask(client, ann, "CreateMemory", key="k", value=value, **MINE).expect()
    [listed] = ask(client, ann, "ListMemories", **EVERYWHERE).expect().memories
    assert struct_of(listed.value) == value


def over_rest(world: World, user: User, operation: str, *ids: str, body: Any) -> dict[str, Any]:
    """Call over REST, in a world that is called over gRPC."""
    made: dict[str, Any] = RestApi.call(
        world.api, operation, user.credentials, ids, body=body
    ).expect(201)
    return made
