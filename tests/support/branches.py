"""The naive model of a tree: each branch is a plain list of all entries that it shows."""

from dataclasses import dataclass, field
from typing import Any

CLIENTS = ("k1", "k2")


@dataclass(frozen=True, slots=True)
class Item:
    """An entry as the model knows it."""

    id: str
    channel: str
    client: str | None
    epoch: int | None
    content: list[Any]


@dataclass(slots=True)
class Branch:
    """A conversation with everything it shows, inherited entries copied."""

    id: str
    items: list[Item] = field(default_factory=list)

    def history(self) -> list[Item]:
        """What may be a fork point for everybody."""
        return [item for item in self.items if item.channel == "history"]

    def before(self, entry_id: str) -> list[Item]:
        """What a fork at this entry shows."""
        cut = [item.id for item in self.items].index(entry_id)
        return self.items[:cut]

    def latest(self, client: str) -> int | None:
        """The client's latest epoch here."""
        epochs = [i.epoch for i in self.items if i.client == client and i.channel == "memory"]
        return max((e for e in epochs if e is not None), default=None)

    def memory(self, client: str) -> list[Any]:
        """The client's memory in its latest epoch, concatenated."""
        latest = self.latest(client)
        mine = [i for i in self.items if i.client == client and i.epoch == latest is not None]
        return [value for item in mine for value in item.content]

    def shown(self, client: str | None, *, channel: str, epoch: str) -> list[str]:
        """Ids that a listing shows; `channel` and `epoch` as in the query."""
        return visible(self.items, client, channel=channel, epoch=self._chosen(client, epoch))

    def _chosen(self, client: str | None, epoch: str) -> int | None:
        if epoch == "all" or client is None:
            return None
        return (self.latest(client) or 0) if epoch == "latest" else int(epoch)

    def synced(self, client: str, wanted: list[Any]) -> tuple[int | None, bool, bool, list[Any]]:
        """Epoch, no-op, epoch incremented and stored items of a sync, by the contract's table."""
        latest, present = self.latest(client), self.memory(client)
        if latest is None:
            return (1, False, False, wanted) if wanted else (None, True, False, [])
        if present == wanted:
            return latest, True, False, []
        if wanted[: len(present)] == present:
            return latest, False, False, wanted[len(present) :]
        return latest + 1, False, True, wanted


def visible(
    items: list[Item], client: str | None, *, channel: str = "", epoch: int | None = None
) -> list[str]:
    """Ids of the items that the channel table lets through; `epoch` None means any."""
    wants_history = client is None or channel in ("", "history")
    wants_memory = client is not None and channel in ("", "memory")
    return [
        item.id
        for item in items
        if (item.channel == "history" and wants_history)
        or (
            item.channel == "memory"
            and wants_memory
            and item.client == client
            and epoch in (None, item.epoch)
        )
    ]
