"""Recollect: one memory server for AI agents.

The names of the Python client are here too: `from recollect import Recollect, NotFound`. They are
loaded when they are used, so that a command of the server does not wait for them.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect_client import NO_RETRIES as NO_RETRIES
    from recollect_client import Agent as Agent
    from recollect_client import ApprovalRequired as ApprovalRequired
    from recollect_client import AsyncAgent as AsyncAgent
    from recollect_client import AsyncChat as AsyncChat
    from recollect_client import AsyncConversation as AsyncConversation
    from recollect_client import AsyncRecollect as AsyncRecollect
    from recollect_client import AsyncRun as AsyncRun
    from recollect_client import AsyncUser as AsyncUser
    from recollect_client import Chat as Chat
    from recollect_client import Conflict as Conflict
    from recollect_client import Conversation as Conversation
    from recollect_client import Forbidden as Forbidden
    from recollect_client import Internal as Internal
    from recollect_client import Interrupted as Interrupted
    from recollect_client import InvalidInput as InvalidInput
    from recollect_client import LimitExceeded as LimitExceeded
    from recollect_client import NotFound as NotFound
    from recollect_client import Recollect as Recollect
    from recollect_client import RecollectError as RecollectError
    from recollect_client import RetryPolicy as RetryPolicy
    from recollect_client import Run as Run
    from recollect_client import ServerUnreachable as ServerUnreachable
    from recollect_client import Unauthenticated as Unauthenticated
    from recollect_client import Unavailable as Unavailable
    from recollect_client import Unsupported as Unsupported
    from recollect_client import User as User
    from recollect_client import Violation as Violation

__version__ = version("recollect")
# Of the client, in its order.
_CLIENT = (
    "NO_RETRIES",
    "Agent",
    "ApprovalRequired",
    "AsyncAgent",
    "AsyncChat",
    "AsyncConversation",
    "AsyncRecollect",
    "AsyncRun",
    "AsyncUser",
    "Chat",
    "Conflict",
    "Conversation",
    "Forbidden",
    "Internal",
    "Interrupted",
    "InvalidInput",
    "LimitExceeded",
    "NotFound",
    "Recollect",
    "RecollectError",
    "RetryPolicy",
    "Run",
    "ServerUnreachable",
    "Unauthenticated",
    "Unavailable",
    "Unsupported",
    "User",
    "Violation",
)
__all__ = ["__version__", *_CLIENT]  # noqa: PLE0604 - a test compares it with the client's


def __getattr__(name: str) -> Any:
    if name in _CLIENT:
        return getattr(import_module("recollect_client"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
