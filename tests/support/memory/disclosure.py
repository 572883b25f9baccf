"""The surfaces that show memories, asked for one memory in one context."""

from typing import Any

from tests.support.memory.callers import Caller
from tests.support.memory.people import person_of
from tests.support.world import new_id

Memory = dict[str, Any]
OWN: dict[str, Any] = {"space": {"kind": "user"}}


def a_chat(owner: Caller, *others: Caller, kind: str = "group") -> str:
    """A chat of the owner with these others, users or agents, who all mean to take part."""
    chat_id = new_id()
    owner.put("/chats/{}", chat_id, body={"kind": kind}).expect(201)
    for other in others:
        brings(owner, other, chat_id)
    return chat_id


def brings(owner: Caller, other: Caller, chat_id: str) -> None:
    """Invite somebody, who puts themself in."""
    invites(owner, other, chat_id)
    invites(other, other, chat_id)


def invites(owner: Caller, other: Caller, chat_id: str) -> None:
    """Put somebody in. Only if it is oneself they mean to take part."""
    body = {"kind": "agent" if other.name.startswith("agent:") else "user"}
    name = other.name.removeprefix("agent:")
    owner.put("/chats/{}/participants/{}", chat_id, name, body=body).expect(200)


def alone(caller: Caller) -> str:
    """A private chat."""
    return a_chat(caller, kind="private")


def says(caller: Caller, *subjects: Caller, **members: Any) -> Memory:
    """Something that a search finds by a word of its own, and that the graph holds. It is about
    these people, and lies in the speaker's space."""
    place = "Z" + "".join(char for char in new_id() if char.isalpha())
    about = [person_of(one) for one in subjects]
    return caller.adds(f"Lives in {place}", **({"subjects": about} | OWN | members))


def is_shown(caller: Caller, memory: Memory, chat_id: str | None = None) -> bool:
    """Is it shown? All surfaces that could hold it must agree."""
    surfaces = [_got, _explained, _listed, _searched, _recalled]
    surfaces += [_about_person] if _is_listed_by_person(memory, chat_id) else []
    surfaces += [_drawn] if memory["subjects"] or memory["stated_by"] else []
    answers = {surface.__name__: surface(caller, memory, chat_id) for surface in surfaces}
    assert len(set(answers.values())) == 1, answers
    return answers["_got"]


def rule_for(auditor: Caller, caller: Caller, memory: Memory, chat_id: str | None = None) -> str:
    """By which rule it is shown to somebody, or hidden."""
    query = {"as_user": caller.name} | _context(chat_id)
    explained = auditor.get("/memories/{}/explain", memory["id"], **query).expect(200)
    return str(explained["rule"])


def _is_listed_by_person(memory: Memory, chat_id: str | None) -> bool:
    """What is not portable is listed by its people in its own chat only."""
    at_home = chat_id is not None and memory["learned_in"] == chat_id
    return bool(memory["subjects"]) and (memory["portable"] or at_home)


def _context(chat_id: str | None) -> dict[str, str]:
    return {} if chat_id is None else {"chat_id": chat_id}


def _place(chat_id: str | None) -> dict[str, str]:
    return {"spaces": "all"} if chat_id is None else {"chat_id": chat_id}


def _got(caller: Caller, memory: Memory, chat_id: str | None) -> bool:
    return _found(caller.get("/memories/{}", memory["id"], **_context(chat_id)).status)


def _explained(caller: Caller, memory: Memory, chat_id: str | None) -> bool:
    return _found(caller.get("/memories/{}/explain", memory["id"], **_context(chat_id)).status)


def _listed(caller: Caller, memory: Memory, chat_id: str | None) -> bool:
    return memory["id"] in _ids(caller.lists("/memories", limit=1000, **_place(chat_id)))


def _searched(caller: Caller, memory: Memory, chat_id: str | None) -> bool:
    return memory["id"] in _ids(caller.finds(memory["content"], limit=100, **_place(chat_id)))


def _recalled(caller: Caller, memory: Memory, chat_id: str | None) -> bool:
    body = {"query": memory["content"], "max_items": 100, "token_budget": 32_000}
    block = caller.post("/memories/recall", body=body | _place(chat_id)).expect(200)
    shown: bool = memory["id"] in _ids(block["items"])
    assert (memory["content"] in block["context"]) is shown
    return shown


def _about_person(caller: Caller, memory: Memory, chat_id: str | None) -> bool:
    reply = caller.get("/people/{}/memories", memory["subjects"][0], **_context(chat_id))
    return _found(reply.status) and memory["id"] in _ids(reply.body["data"])


def _drawn(caller: Caller, memory: Memory, chat_id: str | None) -> bool:
    """Of what has no subject the speaker lives there."""
    person_id = (memory["subjects"] or [memory["stated_by"]])[0]
    reply = caller.get("/graph/entities/{}", person_id, limit=1000, **_context(chat_id))
    return _found(reply.status) and memory["id"] in {
        relation["memory_id"] for relation in reply.body["relations"]
    }


def _found(status: int) -> bool:
    assert status in (200, 404)
    return status == 200


def _ids(found: list[dict[str, Any]]) -> set[str]:
    return {one["id"] for one in found}
