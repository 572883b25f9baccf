"""A tree under random appends, syncs and forks shows on each branch what a naive copy would."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.conftest import SoakSize
from tests.support.branches import CLIENTS, Branch, Item, visible
from tests.support.state_machines import prove
from tests.support.world import User, World, history, memory, new_id

pytestmark = pytest.mark.rest_only("random histories prove the rules of the services")

picks = st.integers(0, 1_000)
clients = st.sampled_from(CLIENTS)
callers = st.sampled_from([None, *CLIENTS])
values = st.sampled_from(["a", "b", 1, None, {"k": [1]}])
VIEWS = [
    {"channel": channel, "epoch": epoch}
    for channel in ("", "history", "memory")
    for epoch in ("latest", "all", "1", "2")
]


class Tree(RuleBasedStateMachine):
    """One tree; every branch keeps a full copy of what it shows."""

    world: World

    @initialize()
    def start(self) -> None:
        """A root with one entry."""
        self.user = self.world.user("ann")
        root = Branch(new_id())
        self.branches = [root]
        self.all: list[Item] = []
        self.keep(root, self.user.says(root.id, "first"), None)

    @rule(pick=picks, client=callers)
    def say(self, pick: int, client: str | None) -> None:
        """Append history, as a user or through a client."""
        branch = self.branch(pick)
        self.keep(branch, self.caller(client).says(branch.id, "text"), client)
        self.compare(branch, client, VIEWS[0])

    @rule(pick=picks, client=clients, value=values)
    def note(self, pick: int, client: str, value: Any) -> None:
        """Append memory: it joins the latest visible epoch."""
        branch = self.branch(pick)
        expected = branch.latest(client) or 1
        entry = self.caller(client).notes(branch.id, value)
        assert entry["epoch"] == expected
        self.keep(branch, entry, client)
        self.compare(branch, client, VIEWS[0])

    @rule(pick=picks, client=clients, keep=st.integers(0, 3), more=st.lists(values, max_size=2))
    def sync(self, pick: int, client: str, keep: int, more: list[Any]) -> None:
        """Sync a list that shares a beginning with the present one, or all of it."""
        branch = self.branch(pick)
        present = branch.memory(client)
        wanted = (present if keep == 3 else present[:keep]) + more
        epoch, no_op, incremented, stored = branch.synced(client, wanted)
        done = self.caller(client).syncs(branch.id, wanted)
        assert (done["epoch"], done["noOp"], done["epochIncremented"]) == (
            epoch,
            no_op,
            incremented,
        )
        if no_op:
            assert done["entry"] is None
        else:
            assert done["entry"]["content"] == stored
            self.keep(branch, done["entry"], client)
        self.compare(branch, client, VIEWS[0])

    @rule(pick=picks, at=picks, client=callers)
    def fork(self, pick: int, at: int, client: str | None) -> None:
        """Fork before any history entry, own or inherited."""
        branch = self.branch(pick)
        point = self.point(branch, at)
        if point is None:
            return
        made = self.caller(client).forks(branch.id, point)
        self.adopt(made, branch, branch.before(point))

    @rule(pick=picks, at=picks, client=callers, blank=st.booleans())
    def fork_by_append(self, pick: int, at: int, client: str | None, blank: bool) -> None:
        """Fork by the first append to an unknown id."""
        self.fork_by("append", history("forked"), pick, at, client=client, blank=blank)

    @rule(pick=picks, at=picks, client=clients, blank=st.booleans())
    def fork_by_sync(self, pick: int, at: int, client: str, blank: bool) -> None:
        """Fork by the first sync of an unknown id, with a list that nothing is a prefix of."""
        self.fork_by("sync", memory(["forked"]), pick, at, client=client, blank=blank)

    @precondition(lambda self: len(self.branches) > 1)
    @rule(pick=picks, at=picks)
    def fork_at_an_unseen_entry(self, pick: int, at: int) -> None:
        """An entry of another branch is no fork point."""
        branch = self.branch(pick)
        unseen = [item.id for item in self.all if item not in branch.items]
        if unseen:
            reply = self.user.call("fork", branch.id, unseen[at % len(unseen)])
            reply.refused(404, "not_found")

    def teardown(self) -> None:
        """Every branch shows what its copy holds, to every caller, in every view."""
        for branch in getattr(self, "branches", []):
            for client in (None, *CLIENTS):
                self.compare_whole_tree(branch, client)
            for number, view in enumerate(VIEWS):
                self.compare(branch, CLIENTS[number % 2], view)
                self.compare(branch, (None, *CLIENTS)[number % 3], view)

    def fork_by(
        self, operation: str, body: Any, pick: int, at: int, *, client: str | None, blank: bool
    ) -> None:
        """Create a branch through append or sync and keep its first entry."""
        branch = self.branch(pick)
        point = None if blank else self.point(branch, at)
        inherited = branch.before(point) if point else []
        members = {"forkedAtConversationId": branch.id}
        members |= {"forkedAtEntryId": point} if point else {}
        new = Branch(new_id(), list(inherited))
        if operation == "sync" and new.synced(client or "", body["content"])[1]:
            return
        reply = self.caller(client).call(operation, new.id, body=body | members)
        answer = reply.expect(200 if operation == "sync" else 201)
        entry = answer["entry"] if operation == "sync" else answer
        self.adopt(self.user.gets(new.id), branch, inherited)
        self.keep(self.branches[-1], entry, client)
        self.compare(self.branches[-1], client, VIEWS[0])

    def adopt(self, made: dict[str, Any], parent: Branch, inherited: list[Item]) -> None:
        """Take a new fork into the model and check what it says of its origin."""
        assert made["forkedAtConversationId"] == parent.id
        assert made.get("forkedAtEntryId") == (inherited[-1].id if inherited else None)
        self.branches.append(Branch(made["id"], list(inherited)))

    def keep(self, branch: Branch, entry: dict[str, Any], client: str | None) -> None:
        """Take a stored entry into the model."""
        assert entry["conversationId"] == branch.id
        item = Item(entry["id"], entry["channel"], client, entry.get("epoch"), entry["content"])
        branch.items.append(item)
        self.all.append(item)

    def compare(self, branch: Branch, client: str | None, view: dict[str, str]) -> None:
        """One listing against the copy."""
        query = {name: value for name, value in view.items() if value}
        page = self.caller(client).call("list_entries", branch.id, limit=1000, **query).expect(200)
        assert [e["id"] for e in page["data"]] == branch.shown(client, **view), (client, view)

    def compare_whole_tree(self, branch: Branch, client: str | None) -> None:
        """`forks=all` against all entries in order of writing."""
        query = {"forks": "all", "limit": 1000}
        page = self.caller(client).call("list_entries", branch.id, **query).expect(200)
        assert [e["id"] for e in page["data"]] == visible(self.all, client)

    def branch(self, pick: int) -> Branch:
        """Any branch."""
        return self.branches[pick % len(self.branches)]

    def point(self, branch: Branch, at: int) -> str | None:
        """Any history entry that the branch shows."""
        points = branch.history()
        return points[at % len(points)].id if points else None

    def caller(self, client: str | None) -> User:
        """The user, perhaps through a client."""
        return self.user.with_key(client) if client else self.user


def test_every_branch_shows_what_a_naive_copy_would(world: World, soak_size: SoakSize) -> None:
    bound = type("BoundTree", (Tree,), {"world": world})
    prove(bound, examples=soak_size(30, 300))
