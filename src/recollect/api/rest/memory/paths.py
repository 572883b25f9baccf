"""Ids in paths that may be any text."""

from recollect.api.rest.dispatch import Call
from recollect.domain.jsontext import text_problem
from recollect.domain.memories import NAME_CHARS_MAX
from recollect.errors import NotFound


def path_id(call: Call, name: str, resource: str) -> str:
    """The id; what no stored text can be names nothing that exists."""
    text = call.path[name]
    if len(text) > NAME_CHARS_MAX or text_problem(text):
        raise NotFound(resource, text)
    return text
