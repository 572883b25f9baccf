"""Reads path ids that may be any text."""

from recollect.api.calls import Call
from recollect.domain.memories import NAME_CHARS_MAX
from recollect.errors import NotFound


def path_id(call: Call, name: str, resource: str) -> str:
    """The id in the path. NotFound if it is longer than any stored id can be."""
    text = call.path[name]
    if len(text) > NAME_CHARS_MAX:
        raise NotFound(resource, text)
    return text
