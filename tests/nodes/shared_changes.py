"""What all clients change at once. Who comes first is open, so only what holds in every order is
asserted: each id once, one owner, no epoch of two lists, versions without a gap."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from tests.nodes.surfaces import NodeClient
from tests.support.api import Reply
from tests.support.world import history, new_id, text_of

GUEST_LEVELS = ("reader", "writer")
IDS = 4
KEY, AGENT_KEY = "k1", "k2"
ALL = {"limit": 1000}
FACT = "The ferry leaves at nine"


class CommonGround:
    """A tree where all are managers, one is the owner and a guest comes and goes; one user's
    memories; ids that nobody has used yet. What the clients were told is kept here."""

    def __init__(self, node_client: NodeClient, clients: int) -> None:
        self.clients = clients
        self.host = node_client.user("host")
        self.guest = node_client.user("guest")
        self.names = [node_client.user(f"member-{number}").name for number in range(clients)]
        owner = node_client.user("member-0")
        self.tree: str = owner.starts("common")["id"]
        for name in self.names[1:]:
            body = {"userId": name, "accessLevel": "manager"}
            owner.call("share", self.tree, body=body).expect(201)
        self.fresh_ids = [new_id() for _ in range(IDS)]
        self.claims = [f"{self.host.name}.claim-{number}" for number in range(IDS)]
        self.memory: str = _writes(node_client, self.host, "the first text")["id"]
        self.granted: set[str] = set()
        self.said: dict[int, list[str]] = defaultdict(list)
        self.synced: set[tuple[str, ...]] = {()}
        self.offered: list[str] = []
        self.accepted: list[tuple[str, str, str]] = []
        self.cancelled: list[str] = []
        self.started: dict[str, set[str]] = defaultdict(set)
        self.versions: list[int] = []
        self.repeated: list[str] = []
        self.claimed: list[str] = []


class Member:
    """One client on the common ground."""

    def __init__(self, ground: CommonGround, node_client: NodeClient, number: int) -> None:
        self.ground = ground
        self.node_client = node_client
        self.number = number
        self.user = node_client.user(f"member-{number}")
        self._synced = 0

    def say_in_common(self, pick: int, other: int) -> None:
        """One's own texts are all there, in one's own order."""
        ground, mine = self.ground, self.ground.said[self.number]
        text = f"{self.number}: {len(mine)}"
        body = history(text)
        self.user.with_key(KEY).call("append", ground.tree, body=body).expect(201)
        mine.append(text)
        shown = self.user.texts(ground.tree)
        assert [t for t in shown if t.startswith(f"{self.number}:")] == mine

    def sync_in_common(self, pick: int, other: int) -> None:
        """A list that grows by one; whatever is there then, it is somebody's whole list."""
        self._synced += 1
        items = [f"{self.number}.{count}" for count in range(self._synced)]
        self.ground.synced.add(tuple(items))
        agent = self.user.with_key(AGENT_KEY)
        done = agent.syncs(self.ground.tree, items)
        entries = _memory(self.node_client, self.number, self.ground.tree, "latest")
        assert _contents(entries) in self.ground.synced
        assert entries[-1]["epoch"] >= done["epoch"]

    def grant_in_common(self, pick: int, other: int) -> None:
        """All grant the same guest something."""
        level = GUEST_LEVELS[other % len(GUEST_LEVELS)]
        self.ground.granted.add(level)
        self.user.shares(self.ground.tree, self.ground.guest, level)
        self._one_owner()

    def hand_over(self, pick: int, other: int) -> None:
        """The owner of this moment offers the tree to somebody, who accepts it."""
        owner = self._one_owner()
        heir = self.ground.names[other % self.ground.clients]
        body = {"conversationId": self.ground.tree, "newOwnerUserId": heir}
        reply = self._as(owner).call("create_transfer", body=body)
        # Whoever was the owner when we looked may be it no more.
        assert reply.status in ((400, 403) if heir == owner else (201, 403, 409)), reply
        if reply.status == 201:
            transfer = reply.body["id"]
            self.ground.offered.append(transfer)
            accepted = self._as(heir).call("accept_transfer", transfer)
            assert accepted.status in (204, 404), accepted
            if accepted.status == 204:
                self.ground.accepted.append((transfer, owner, heir))
            self._as(heir).call("get_transfer", transfer).refused(404, "not_found")

    def take_back(self, pick: int, other: int) -> None:
        """The owner of this moment takes an offer back, if the heir is not faster."""
        owner = self._as(self._one_owner())
        for one in owner.call("list_transfers", role="sender").expect(200)["data"]:
            reply = owner.call("delete_transfer", one["id"])
            assert reply.status in (204, 404), reply
            if reply.status == 204:
                self.ground.cancelled.append(one["id"])

    def start_in_common(self, pick: int, other: int) -> None:
        """The first append to an unknown id creates it, and the others are strangers there."""
        id_ = self.ground.fresh_ids[other % IDS]
        reply = self.user.with_key(KEY).call("append", id_, body=history("I was here"))
        assert reply.status in (201, 403), reply
        if reply.status == 201:
            self.ground.started[id_].add(self.user.name)

    def change_in_common(self, pick: int, other: int) -> None:
        """Change one memory, sometimes only in the version that was seen."""
        body: dict[str, Any] = {"content": f"text{self.number} number{pick} of{other}"}
        if other % 2:
            seen = self._asks("GET", "/memories/{}", self.ground.memory).expect(200)
            body["version"] = seen["version"]
        reply = self._asks("PATCH", "/memories/{}", self.ground.memory, body=body)
        assert reply.status in (200, 409) if other % 2 else reply.status == 200, reply
        if reply.status == 200:
            self.ground.versions.append(reply.body["version"])
            seen = self._asks("GET", "/memories/{}", self.ground.memory).expect(200)
            assert seen["version"] >= reply.body["version"]

    def repeat_in_common(self, pick: int, other: int) -> None:
        """All tell the same fact in the same space: it is one memory."""
        self.ground.repeated.append(_writes(self.node_client, self.ground.host, FACT)["id"])

    def claim_in_common(self, pick: int, other: int) -> None:
        """An id is given once."""
        id_ = self.ground.claims[other % IDS]
        body = {"content": f"{self.number} claims number{pick}", "space": {"kind": "user"}}
        reply = self._asks("POST", "/memories", body=body | {"id": id_})
        assert reply.status in (201, 409), reply
        if reply.status == 201:
            self.ground.claimed.append(id_)

    def _one_owner(self) -> str:
        levels = self.user.levels(self.ground.tree)
        (owner,) = (name for name, level in levels.items() if level == "owner")
        assert self.ground.clients <= len(levels) <= self.ground.clients + 1
        return owner

    def _as(self, name: str) -> Any:
        return self.node_client.user(f"member-{self.ground.names.index(name)}")

    def _asks(self, method: str, path: str, *ids: str, body: Any = None) -> Reply:
        return self.node_client.request(method, path, self.ground.host, *ids, body=body)


def check(ground: CommonGround, node_client: NodeClient) -> None:
    """What holds in whichever order it came, asked once all clients are done."""
    _check_tree(ground, node_client)
    _check_epochs(ground, node_client)
    _check_owner(ground, node_client)
    _check_starts(ground, node_client)
    _check_memories(ground, node_client)


def _check_tree(ground: CommonGround, node_client: NodeClient) -> None:
    member = node_client.user("member-0")
    texts = member.texts(ground.tree)
    assert sorted(texts) == sorted(t for said in ground.said.values() for t in said)
    for number, said in ground.said.items():
        assert [text for text in texts if text.startswith(f"{number}:")] == said
    level = member.levels(ground.tree).get(ground.guest.name)
    assert level in ground.granted if ground.granted else level is None


def _check_epochs(ground: CommonGround, node_client: NodeClient) -> None:
    entries = _memory(node_client, 0, ground.tree, "all")
    assert len({entry["id"] for entry in entries}) == len(entries)
    epochs: dict[int, list[Any]] = defaultdict(list)
    for entry in entries:
        epochs[entry["epoch"]].append(entry)
    assert list(epochs) == [*range(1, len(epochs) + 1)]
    assert all(_contents(epoch) in ground.synced for epoch in epochs.values())


def _check_owner(ground: CommonGround, node_client: NodeClient) -> None:
    """Each transfer ended at most once, and those that were accepted lead from the first owner to
    the present one."""
    ended = [transfer for transfer, _, _ in ground.accepted] + ground.cancelled
    assert len(ended) == len(set(ended))
    steps = Counter({ground.names[0]: 1})
    for _, giver, heir in ground.accepted:
        steps.update({heir: 1})
        steps.subtract({giver: 1})
    levels = node_client.user("member-0").levels(ground.tree)
    (owner,) = (name for name, level in levels.items() if level == "owner")
    assert {name: count for name, count in steps.items() if count} == {owner: 1}
    assert node_client.user("member-0").gets(ground.tree)["ownerUserId"] == owner
    pending = node_client.user(f"member-{ground.names.index(owner)}").call(
        "list_transfers", role="sender"
    )
    left = [one["id"] for one in pending.expect(200)["data"]]
    assert sorted(left) == sorted(set(ground.offered) - set(ended))


def _check_starts(ground: CommonGround, node_client: NodeClient) -> None:
    for id_, winners in ground.started.items():
        (winner,) = winners
        number = ground.names.index(winner)
        assert node_client.user(f"member-{number}").gets(id_)["ownerUserId"] == winner


def _check_memories(ground: CommonGround, node_client: NodeClient) -> None:
    assert sorted(ground.versions) == [*range(2, len(ground.versions) + 2)]
    query = {"user_id": ground.host.name, **ALL}
    rows = node_client.request("GET", "/memories", ground.host, **query).expect(200)["data"]
    shown = {row["id"]: row for row in rows}
    assert shown[ground.memory]["version"] == len(ground.versions) + 1
    history_ = node_client.request("GET", "/memories/{}/history", ground.host, ground.memory, **ALL)
    numbers = [item["version"] for item in history_.expect(200)["data"]]
    assert sorted(numbers) == [*range(1, len(ground.versions) + 2)]
    assert len(ground.claimed) == len(set(ground.claimed))
    assert len(set(ground.repeated)) <= 1
    for id_ in ground.repeated[:1]:
        assert shown[id_]["repeats"] == len(ground.repeated) - 1
    assert set(shown) == {ground.memory, *ground.claimed, *ground.repeated}


def _writes(node_client: NodeClient, host: Any, content: str) -> dict[str, Any]:
    body = {"content": content, "space": {"kind": "user"}}
    written: dict[str, Any] = node_client.request("POST", "/memories", host, body=body).expect(201)
    return written


def _memory(node_client: NodeClient, number: int, tree: str, epoch: str) -> list[dict[str, Any]]:
    agent = node_client.user(f"member-{number}").with_key(AGENT_KEY)
    query = {"channel": "memory", "epoch": epoch, **ALL}
    entries: list[dict[str, Any]] = agent.call("list_entries", tree, **query).expect(200)["data"]
    return entries


def _contents(entries: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(text for entry in entries for text in text_of(entry).split("|"))
