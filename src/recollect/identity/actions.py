"""All actions, and what each needs: a level in the tree, an API key or a server role."""

from enum import StrEnum

from recollect.identity.model import ServerRole
from recollect.kernel.access_level import Level


class Action(StrEnum):
    """An action that needs permission."""

    READ = "conversation.read"
    APPEND = "conversation.append"
    SYNC = "conversation.sync"
    WRITE_MEMORY = "conversation.write_memory"
    DELETE_OWN_ENTRY = "entries.delete_own"
    DELETE_OTHERS_ENTRY = "entries.delete_others"
    FORK = "conversation.fork"
    RECORD = "conversation.record"
    RENAME = "conversation.rename"
    SHARE = "conversation.share"
    LEAVE = "conversation.leave"
    DELETE = "conversation.delete"
    TRANSFER = "conversation.transfer"
    INDEX = "entries.index"
    ADMIN_READ = "admin.read"
    ADMIN_WRITE = "admin.write"


LEAST_LEVEL: dict[Action, Level] = {
    Action.READ: Level.READER,
    Action.APPEND: Level.WRITER,
    Action.SYNC: Level.WRITER,
    Action.WRITE_MEMORY: Level.WRITER,
    Action.DELETE_OWN_ENTRY: Level.WRITER,
    Action.DELETE_OTHERS_ENTRY: Level.MANAGER,
    Action.FORK: Level.WRITER,
    Action.RECORD: Level.WRITER,
    Action.RENAME: Level.WRITER,
    Action.SHARE: Level.MANAGER,
    Action.LEAVE: Level.READER,
    Action.DELETE: Level.OWNER,
    Action.TRANSFER: Level.OWNER,
}

NEEDS_CLIENT: frozenset[Action] = frozenset({Action.SYNC, Action.WRITE_MEMORY})

NEEDS_ROLE: dict[Action, ServerRole] = {
    Action.INDEX: ServerRole.INDEXER,
    Action.ADMIN_READ: ServerRole.AUDITOR,
    Action.ADMIN_WRITE: ServerRole.ADMIN,
}
