"""Draws the forks of a conversation as a tree."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from recollect.cli.output import one_line, styled, to_text

if TYPE_CHECKING:
    from recollect_client import models

Children = dict[str | None, list["models.Fork"]]


def draw_forks(forks: Sequence["models.Fork"], shown_id: str) -> Iterator[str]:
    """The lines of the tree, the root first; the conversation that is shown has a mark.

    A fork whose parent is not in the list, because the caller may not see it, is a root too.
    """
    known = {fork.conversation_id for fork in forks}
    children: Children = defaultdict(list)
    for fork in forks:
        parent = fork.forked_at_conversation_id
        children[parent if parent in known else None].append(fork)
    # A stack and not a recursion: a chain of forks may be longer than the interpreter's stack.
    stack = [(root, "", "", "") for root in reversed(children[None])]
    while stack:
        fork, lead, branch, below = stack.pop()
        yield lead + branch + _label(fork, shown_id)
        inner = children[fork.conversation_id]
        for at, child in reversed(list(enumerate(inner))):
            is_last = at == len(inner) - 1
            turn, rest = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            stack.append((child, lead + below, turn, rest))


def _label(fork: "models.Fork", shown_id: str) -> str:
    is_shown = fork.conversation_id == shown_id
    parts = [styled(one_line(fork.conversation_id), "bold cyan" if is_shown else "cyan")]
    if fork.title:
        parts.append(one_line(fork.title))
    parts.append(to_text(fork.created_at))
    return "  ".join(parts) + ("  ← this one" if is_shown else "")
