"""Recollect for Python: one memory for AI agents, on a server or in this process.

`Recollect` waits for each answer; `AsyncRecollect` is the same with `await`.
"""

from recollect_client._async.client import AsyncRecollect
from recollect_client._async.handles import (
    AsyncAgent,
    AsyncChat,
    AsyncConversation,
    AsyncRun,
    AsyncUser,
)
from recollect_client._sync.client import Recollect
from recollect_client._sync.handles import Agent, Chat, Conversation, Run, User
from recollect_client.errors import (
    ApprovalRequired,
    Conflict,
    Forbidden,
    Internal,
    Interrupted,
    InvalidInput,
    LimitExceeded,
    NotFound,
    RecollectError,
    ServerUnreachable,
    Unauthenticated,
    Unavailable,
    Unsupported,
    Violation,
)
from recollect_client.retries import NO_RETRIES, RetryPolicy

__all__ = [
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
]
