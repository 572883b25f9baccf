"""Each verb with each kind of wrong argument: the error names the argument and says what would be
right, in both faces, on a server and in this process."""

import asyncio
import inspect
import re
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import recollect_client
from recollect_client import AsyncRecollect, InvalidInput, Recollect, RecollectError
from tests.client.conftest import EMBEDDED, server_url
from tests.support.engines import a_fast_folder, a_sqlite_database
from tests.support.hosting import a_world
from tests.support.world import CLIENT_KEYS

ID: tuple[Any, ...] = (7, None, b"x", "", [], ".")
NAME: tuple[Any, ...] = (7, None, b"x", "", [])
TEXT: tuple[Any, ...] = (7, b"x", [], object())
WORD: tuple[Any, ...] = ("nonsense", 7, b"x", [])
COUNT: tuple[Any, ...] = ("x", -1, 1.5, b"x", object())
FLAG: tuple[Any, ...] = ("x", 7, b"x", None)
LIST: tuple[Any, ...] = (7, None, b"x", object(), {"a": 1})
TEXTS: tuple[Any, ...] = (7, [7], object())
OBJECT: tuple[Any, ...] = (7, "x", [1], b"x", object())
INSTANT: tuple[Any, ...] = ("yesterday", 7, object())
SPACES: tuple[Any, ...] = (7, "nonsense", [{"kind": "nonsense"}], object())
FILTER: tuple[Any, ...] = ("nonsense", object(), b"x")

Wrong = dict[str, tuple[Any, ...]]
# Of a verb: what makes it a good call, and what is wrong for each of its arguments. `{memory}` and
# `{entry}` stand for ids of things that are there.
PLACE: dict[str, tuple[dict[str, Any], Wrong]] = {
    "remember": (
        {"content": "x"},
        {
            "content": (7, None, b"x", "", [], {"a": 1}, [7]),
            "type": WORD,
            "sensitivity": WORD,
            "ttl_seconds": COUNT,
            "tags": TEXTS,
            "metadata": OBJECT,
            "valid_from": INSTANT,
            "expires_at": INSTANT,
            "subjects": TEXTS,
            "space": OBJECT,
            "wait": WORD,
            "supersedes": (7, object()),
        },
    ),
    "put": ({"key": "k", "value": {"a": 1}}, {"key": NAME, "value": OBJECT}),
    "recall": (
        {"query": "x"},
        {"query": TEXT, "token_budget": COUNT, "messages": LIST[:1] + LIST[2:], "spaces": SPACES},
    ),
    "search": (
        {"query": "x"},
        {
            "query": (*TEXT, None),
            "limit": COUNT,
            "mode": WORD,
            "tags": TEXTS,
            "types": ("nonsense", ["nonsense"], object()),
            "created_after": INSTANT,
            "spaces": SPACES,
            "min_score": ("x", object()),
        },
    ),
    "memories": ({}, {"limit": COUNT, "status": FILTER, "created_after": INSTANT, "types": FILTER}),
    "get": ({"memory_id": "{memory}"}, {"memory_id": ID, "as_of": INSTANT}),
    "update": (
        {"memory_id": "{memory}", "content": "x"},
        {
            "memory_id": ID,
            "content": TEXT,
            "version": ("x", 1.5, b"x"),
            "tags": TEXTS,
            "type": WORD,
        },
    ),
    "move": ({"memory_id": "{memory}", "visibility": "public"}, {"memory_id": ID, "space": OBJECT}),
    "forget": ({"memory_id": "{memory}"}, {"memory_id": ID}),
    "explain": ({"memory_id": "{memory}"}, {"memory_id": ID}),
}
HISTORY: dict[str, tuple[dict[str, Any], Wrong]] = {
    "history": ({"memory_id": "{memory}"}, {"memory_id": ID, "limit": COUNT})
}
VERBS: dict[str, dict[str, tuple[dict[str, Any], Wrong]]] = {
    "Recollect": {
        "user": ({}, {"user_id": NAME}),
        "agent": ({}, {"agent_id": NAME}),
        "chat": ({}, {"chat_id": NAME}),
        "run": ({"run_id": "r", "agent_id": "a"}, {"run_id": NAME, "agent_id": NAME}),
        "conversation": ({}, {"conversation_id": (7, b"x", "", [])}),
    },
    "User": PLACE
    | HISTORY
    | {
        "agent": ({}, {"agent_id": NAME}),
        "chat": ({}, {"chat_id": NAME}),
        "run": ({"run_id": "r", "agent_id": "a"}, {"run_id": NAME, "agent_id": NAME}),
        "conversation": ({}, {"conversation_id": (7, b"x", "", [])}),
        "conversations": ({}, {"limit": COUNT, "mode": FILTER}),
        "search_conversations": (
            {"query": "x"},
            {"query": (*TEXT, None), "limit": COUNT, "search_type": WORD},
        ),
        "people": ({}, {"limit": COUNT, "query": (b"x", object())}),
        "export": ({}, {"status": FILTER, "types": FILTER}),
        "import_lines": (
            {"lines": []},
            {"lines": (7, None, "x", b"x", {}), "dry_run": ("x", b"x")},
        ),
        "erase": ({"dry_run": True}, {"dry_run": FLAG, "justification": TEXT}),
    },
    "Agent": PLACE
    | HISTORY
    | {
        "register": ({}, {"name": TEXT, "metadata": OBJECT, "space_mode": WORD}),
        "delete": ({}, {"memories": FILTER}),
        "run": ({}, {"run_id": NAME}),
        "chat": ({}, {"chat_id": NAME}),
    },
    "Run": PLACE
    | HISTORY
    | {
        "start": ({}, {"parent_run_id": TEXT, "metadata": OBJECT}),
        "complete": ({}, {"status": WORD, "error": TEXT}),
    },
    "Chat": PLACE
    | HISTORY
    | {
        "create": ({"kind": "group"}, {"kind": (*WORD, None), "title": TEXT}),
        "add": ({"member_id": "bob"}, {"member_id": ID, "kind": (*WORD, None)}),
        "remove": ({"member_id": "bob"}, {"member_id": ID}),
        "people": ({}, {"limit": COUNT}),
    },
    "Conversation": PLACE
    | {
        "append": (
            {"content": "x"},
            {"content": (7, None, b"x", {"a": 1}, []), "role": (7, None, b"x", "", "nonsense")},
        ),
        "history": ({}, {"limit": COUNT, "channel": FILTER, "order": FILTER}),
        "tail": ({"count": 1}, {"count": ("x", -1, 1.5, b"x", None, True)}),
        "sync": ({"content": [1]}, {"content": LIST}),
        "fork": ({"entry": "{entry}"}, {"entry": (7, None, b"x", "", [], "."), "title": TEXT}),
        "delete_entry": ({"entry": "{entry}"}, {"entry": (7, None, b"x", "", [], ".")}),
        "rename": ({"title": "x"}, {"title": TEXT}),
        "share": ({"user_id": "bob"}, {"user_id": ID, "access_level": (*WORD, None)}),
        "unshare": ({"user_id": "bob"}, {"user_id": ID}),
        "respond": ({"pieces": []}, {"pieces": (7, None, object())}),
    },
}


class Face:
    """One face of the client. `done` is what a call gives, whether or not it is to be awaited."""

    def __init__(self, memory: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        ann, robot = memory.user(f"ann-{uuid.uuid4().hex}"), memory.agent(uuid.uuid4().hex)
        team, talk = ann.chat(uuid.uuid4().hex), ann.conversation()
        self.done(robot.register())
        self.done(team.create("group"))
        self.ids = {
            "{entry}": self.done(talk.append("Hello")).id,
            "{memory}": self.done(ann.remember("The tea is gone.")).id,
        }
        self.nouns = {
            "Recollect": memory,
            "User": ann,
            "Agent": robot,
            "Run": robot.run(uuid.uuid4().hex),
            "Chat": team,
            "Conversation": talk,
        }

    def done(self, value: Any) -> Any:
        """The value itself, or all values of what goes through pages."""
        if inspect.iscoroutine(value):
            return self._loop.run_until_complete(value)
        if isinstance(value, AsyncIterator):
            return self._loop.run_until_complete(_all_of(value))
        return list(value) if isinstance(value, Iterator) else value

    def call(self, noun: str, verb: str, arguments: dict[str, Any]) -> Any:
        """Call a verb with these arguments."""
        filled = {
            name: self.ids.get(value, value) if isinstance(value, str) else value
            for name, value in arguments.items()
        }
        return self.done(getattr(self.nouns[noun], verb)(**filled))


async def _all_of(values: AsyncIterator[Any]) -> list[Any]:
    return [value async for value in values]


@pytest.fixture(scope="module", params=["remote", "embedded", "async embedded"])
def face(request: pytest.FixtureRequest) -> Iterator[Face]:
    """Both faces, and both ways of one."""
    with ExitStack() as open_:
        database = a_sqlite_database(open_.enter_context(a_fast_folder()))
        loop = asyncio.new_event_loop()
        open_.callback(loop.close)
        if request.param == "remote":
            world = open_.enter_context(a_world(database))
            key, url = CLIENT_KEYS["trusted"], server_url(world.api)
            yield Face(open_.enter_context(Recollect.connect(url, api_key=key)), loop)
        elif request.param == "embedded":
            memory = open_.enter_context(Recollect.open(database.url, settings=EMBEDDED))
            yield Face(memory, loop)
        else:
            awaited = AsyncRecollect.open(database.url, settings=EMBEDDED)
            open_.callback(lambda: loop.run_until_complete(awaited.aclose()))
            yield Face(awaited, loop)


@pytest.mark.parametrize("noun", VERBS)
def test_a_wrong_argument_is_named_with_what_would_be_right(face: Face, noun: str) -> None:
    unclear = []
    for verb, (good, wrong) in VERBS[noun].items():
        for argument, values in wrong.items():
            for value in values:
                said = complaint(lambda: face.call(noun, verb, {**good, argument: value}))  # noqa: B023
                if not re.match(rf"{argument}\b.*(must|required|either)", said):
                    unclear.append(f"{verb}({argument}={value!r}): {said}")
    assert not unclear, "\n".join(unclear)


@pytest.mark.parametrize("noun", VERBS)
def test_an_argument_that_there_is_not_is_refused(face: Face, noun: str) -> None:
    for verb, (good, _) in VERBS[noun].items():
        with pytest.raises(TypeError, match="nonsense"):
            face.call(noun, verb, {**good, "nonsense": 1})


def test_each_verb_that_takes_something_is_tried() -> None:
    for noun, verbs in VERBS.items():
        methods = inspect.getmembers(getattr(recollect_client, noun), inspect.isroutine)
        public = {name: one for name, one in methods if not name.startswith("_")}
        takes = {name for name, one in public.items() if len(inspect.signature(one).parameters) > 1}
        assert takes - {"open", "connect"} == verbs.keys()


def complaint(call: Callable[[], Any]) -> str:
    """What the error says, if it is one of those that a wrong argument may get."""
    try:
        return f"no error, but {call()!r}"
    except (TypeError, ValueError, InvalidInput) as error:
        return str(error)
    except RecollectError as error:
        return f"{type(error).__name__}, {error}"
