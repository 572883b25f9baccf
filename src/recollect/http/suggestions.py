"""What somebody may have meant by a name that an operation does not know: a misspelt name, or the
name that the same thing has in other memory servers and search libraries."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from recollect.kernel.errors import Violation

# A hint for a misspelt name needs at least this similarity: `status` is no misspelt `tags`.
SIMILARITY_MIN = 0.75

# The first that the operation knows is offered.
_OTHER_NAMES = {
    "category": ("type", "types"),
    "conversation_id": ("chat_id",),
    "count": ("limit", "max_items"),
    "cursor": ("after",),
    "data": ("content",),
    "document": ("content",),
    "infer": ("extract",),
    "k": ("limit", "max_items"),
    "kind": ("type", "types"),
    "limit": ("max_items",),
    "max_results": ("limit", "max_items"),
    "max_tokens": ("token_budget",),
    "memory": ("content",),
    "message": ("content", "messages", "query"),
    "n_results": ("limit", "max_items"),
    "page_size": ("limit",),
    "q": ("query",),
    "search": ("query",),
    "session_id": ("chat_id", "run_id"),
    "size": ("limit",),
    "text": ("content", "query"),
    "thread_id": ("chat_id",),
    "threshold": ("min_score",),
    "top_k": ("limit", "max_items"),
    "ttl": ("ttl_seconds",),
    "user": ("user_id", "space"),
    "user_id": ("space", "owner_id"),
}
# What to send, where the name alone does not tell.
_EXAMPLES = {"space": 'space: {"kind": "user"}'}


def unknown_name(what: str, name: str, known: Iterable[str]) -> Violation:
    """The violation for an unknown field or parameter (`what`), with the known ones, and with the
    one that is probably meant."""
    names = sorted(known)
    meant = _find_meant(name, names)
    hint = f"; did you mean `{_EXAMPLES.get(meant, meant)}`?" if meant else ""
    return Violation(name, f"unknown {what}{hint}", tuple(names))


def _find_meant(name: str, known: Collection[str]) -> str | None:
    same = (one for one in _OTHER_NAMES.get(name.lower(), ()) if one in known)
    near = get_close_matches(name, known, n=1, cutoff=SIMILARITY_MIN)
    return next(same, near[0] if near else None)
