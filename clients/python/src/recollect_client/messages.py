"""Texts and messages as callers have them, in the form in which the server takes them."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from recollect_client.values import check_text

ENTRY_ROLES = {"user": "USER", "human": "USER", "assistant": "AI", "ai": "AI", "model": "AI"}
_MEMORY_ROLES = {"human": "user", "ai": "assistant", "model": "assistant"}
_EXAMPLE = '{"role": "user", "content": "…"}'


def entry_content(content: Any, role: Any) -> list[Any]:
    """What an entry of the history holds: a text with its role, or a list as it is."""
    if not isinstance(content, str):
        return list(check_list(content))
    word = ENTRY_ROLES.get(check_text(role, "role").lower())
    if word is None:
        raise ValueError(f"role: must be one of {', '.join(ENTRY_ROLES)}, not {role!r}")
    return [{"role": word, "text": content}]


def memory_content(content: Any) -> dict[str, Any]:
    """The field of a new memory that takes the content, and what it takes."""
    if isinstance(content, str):
        return {"content": content}
    messages = list_messages(content, "content")
    if not messages:
        raise ValueError("content: must have at least one message")
    return {"messages": messages}


def list_messages(messages: Any, name: str) -> list[Any]:
    """Messages as the server takes them. `name` is the argument that has them."""
    return [_message(one, f"{name}[{at}]") for at, one in enumerate(check_list(messages, name))]


def check_list(content: Any, name: str = "content") -> Sequence[Any]:
    """The value, if it is a list."""
    if isinstance(content, Sequence) and not isinstance(content, str | bytes | bytearray):
        return content
    wanted = "a text or a list of messages" if name == "content" else "a list of messages"
    raise TypeError(f"{name}: must be {wanted}, not {type(content).__name__}")


def _message(message: Any, name: str) -> Any:
    """A dictionary, a pair of role and text, or an object of a framework with `content` and with
    `role` or `type`, as LangChain has them."""
    if isinstance(message, tuple) and len(message) == 2:
        message = {"role": message[0], "content": message[1]}
    elif not isinstance(message, Mapping) and hasattr(message, "content"):
        if isinstance(message, BaseModel) and hasattr(message, "role"):
            message = message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        else:
            role = getattr(message, "role", None) or getattr(message, "type", None)
            message = {"role": role, "content": message.content}
    if not isinstance(message, Mapping):
        wrong = type(message).__name__
        raise TypeError(f"{name}: must be a message such as {_EXAMPLE}, not {wrong}")
    role = message.get("role")
    if isinstance(role, str) and role.lower() in _MEMORY_ROLES:
        return {**message, "role": _MEMORY_ROLES[role.lower()]}
    return message
