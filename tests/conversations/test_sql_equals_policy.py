"""What SQL lists is what policy lets through, on every engine; and no fork shows too much."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.conversations.entries.entry import Entry
from recollect.conversations.forks.visible_path import load_path, page_path
from recollect.conversations.model import Conversation, ListMode
from recollect.conversations.ports import ConversationFilter, EntryView
from recollect.conversations.sharing.membership import Membership
from recollect.db.transaction import Tx
from recollect.identity.actions import Action
from recollect.identity.decide import scope_for
from recollect.identity.model import Principal, ServerRole
from recollect.identity.tree_view import TreeAccess
from recollect.kernel.access_level import Level
from recollect.kernel.ids import ClientId, TreeId, UserId
from tests.support.builders import NOON, a_conversation, an_entry
from tests.support.engines import TestDatabase
from tests.support.storage import Storage, a_storage

USERS = ("ann", "Ann", "bob")
PRINCIPALS = [
    *(Principal(UserId(user)) for user in (*USERS, "nobody", "%")),
    Principal(UserId("ann"), client_id=ClientId("k1")),
    Principal(UserId("nobody"), roles=frozenset({ServerRole.AUDITOR})),
    Principal(UserId("bob"), roles=frozenset({ServerRole.ADMIN})),
    Principal(UserId("bob"), roles=frozenset({ServerRole.INDEXER})),
]
VIEWS = [
    EntryView(),
    EntryView(memory_of=ClientId("k1")),
    EntryView(history=False, memory_of=ClientId("k2")),
    EntryView(history=False, memory_of=ClientId("k1"), epoch=2),
    EntryView(all_clients=True),
    EntryView(history=False, all_clients=True),
]
EXAMPLES = settings(
    max_examples=25,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@dataclass(frozen=True)
class PlannedTree:
    """A tree to plant: `forks` are updates in minutes, as is `updated`."""

    deleted: bool
    members: dict[str, Level]
    updated: int
    forks: list[int]


@dataclass
class Planted:
    """A tree as it was planted."""

    plan: PlannedTree
    conversations: list[Conversation]

    def view_of(self, user_id: str) -> TreeAccess:
        """As this user meets it."""
        return TreeAccess(deleted=self.plan.deleted, level=self.plan.members.get(user_id))

    def chosen(self, mode: ListMode) -> list[Conversation]:
        """What the mode shows of it."""
        if mode is ListMode.ROOTS:
            return self.conversations[:1]
        if mode is ListMode.LATEST_FORK:
            return [max(self.conversations, key=_newest)]
        return self.conversations


def _one_owner(members: dict[str, Level]) -> dict[str, Level]:
    """The table allows a tree one owner; further ones become managers."""
    owners = [user for user, level in members.items() if level is Level.OWNER]
    return members | dict.fromkeys(owners[1:], Level.MANAGER)


minutes = st.integers(0, 3)
trees = st.builds(
    PlannedTree,
    deleted=st.booleans(),
    members=st.dictionaries(st.sampled_from(USERS), st.sampled_from(list(Level)), max_size=3).map(
        _one_owner
    ),
    updated=minutes,
    forks=st.lists(minutes, max_size=3),
)


@pytest.fixture(scope="module")
def storage(engine: TestDatabase) -> Iterator[Storage]:
    with a_storage(engine) as running:
        yield running


@EXAMPLES
@given(plans=st.lists(trees, max_size=5))
def test_rows_listed_by_sql_are_those_the_scope_matches(
    storage: Storage, plans: list[PlannedTree]
) -> None:
    planted = _plant_all(storage, plans)
    for mode in ListMode:
        wanted = ConversationFilter(mode=mode, deleted=None)
        for principal in PRINCIPALS:
            for action in Action:
                scope = scope_for(principal, action)
                rows = storage.ask(
                    storage.stores.conversations.page, scope, wanted, after=None, limit=None
                )
                matching = [t for t in planted if scope.matches(t.view_of(principal.user_id))]
                expected = [c for tree in matching for c in tree.chosen(mode)]
                expected.sort(key=_newest, reverse=True)
                assert [row.conversation.id for row in rows] == [c.id for c in expected]


@EXAMPLES
@given(plans=st.lists(trees, min_size=1, max_size=4), user=st.sampled_from(USERS))
def test_a_walk_shows_the_callers_level_and_each_row_once(
    storage: Storage, plans: list[PlannedTree], user: str
) -> None:
    planted = _plant_all(storage, plans)
    levels = {
        c.id: tree.plan.members[user]
        for tree in planted
        if user in tree.plan.members and not tree.plan.deleted
        for c in tree.conversations
    }
    scope = scope_for(Principal(UserId(user)), Action.READ)
    wanted = ConversationFilter(mode=ListMode.ALL)
    walked: list[tuple[str, Level]] = []
    after = None
    while rows := storage.ask(
        storage.stores.conversations.page, scope, wanted, after=after, limit=2
    ):
        walked += [(row.conversation.id, row.level) for row in rows]
        after = _newest(rows[-1].conversation)
    assert len(walked) == len(levels)
    assert dict(walked) == levels


@dataclass
class Grown:
    """A branch with the list of everything it shows, inherited entries copied."""

    conversation: Conversation
    shown: list[Entry] = field(default_factory=list)


steps = st.lists(
    st.tuples(
        st.integers(0, 100),
        st.one_of(
            st.just("history"),
            st.tuples(st.sampled_from(["k1", "k2"]), st.integers(1, 2)),
            st.integers(0, 100),
        ),
    ),
    max_size=25,
)


@EXAMPLES
@given(steps=steps, limit=st.integers(1, 7))
def test_a_fork_never_shows_an_ancestors_entry_behind_its_point(
    storage: Storage, steps: list[tuple[int, str | tuple[str, int] | int]], limit: int
) -> None:
    for branch in _grow(storage, steps):
        for view in VIEWS:
            expected = [e for e in branch.shown if _fits(view, e)]
            assert _walk(storage, branch.conversation, view, limit) == [e.id for e in expected]


def _newest(conversation: Conversation) -> tuple[object, str]:
    return conversation.updated_at, conversation.id


def _plant_all(storage: Storage, plans: list[PlannedTree]) -> list[Planted]:
    planted = [_planned(storage, plan) for plan in plans]

    def work(tx: Tx) -> None:
        _clear(storage, tx)
        for tree in planted:
            _insert(storage, tx, tree.conversations, tree.plan.members)
            if tree.plan.deleted:
                storage.stores.conversations.update_deleted(tx, tree.conversations[0].tree_id, NOON)

    storage.write(work)
    return planted


def _planned(storage: Storage, plan: PlannedTree) -> Planted:
    root = a_conversation(storage, updated_at=NOON + timedelta(minutes=plan.updated))
    forks = [
        a_conversation(
            storage,
            tree_id=root.tree_id,
            updated_at=NOON + timedelta(minutes=updated),
            forked_at_conversation_id=root.id,
            forked_at_seq=0,
        )
        for updated in plan.forks
    ]
    return Planted(plan, [root, *forks])


def _insert(
    storage: Storage, tx: Tx, conversations: list[Conversation], members: dict[str, Level]
) -> None:
    tree_id = conversations[0].tree_id
    storage.stores.conversations.insert_tree(tx, tree_id, NOON)
    for conversation in conversations:
        storage.stores.conversations.insert(tx, conversation)
    for user, level in members.items():
        membership = Membership(tree_id, UserId(user), level, NOON)
        storage.stores.memberships.insert(tx, membership, confirmed=True)


def _clear(storage: Storage, tx: Tx) -> None:
    known = storage.database.rows("SELECT id FROM conversation_groups")
    storage.stores.conversations.delete_trees(tx, [TreeId(str(id_)) for (id_,) in known])


def _grow(storage: Storage, steps: list[tuple[int, str | tuple[str, int] | int]]) -> list[Grown]:
    """Play the steps: an append to a branch, or a fork of it at one of the entries it shows."""
    branches = [Grown(a_conversation(storage))]
    entries: list[Entry] = []
    for number, what in steps:
        branch = branches[number % len(branches)]
        if isinstance(what, int):
            branches.append(_forked(storage, branch, what))
            continue
        memory = {} if isinstance(what, str) else {"client_id": what[0], "epoch": what[1]}
        entry = an_entry(storage, branch.conversation, len(entries) + 1, **memory)
        branch.shown.append(entry)
        entries.append(entry)

    def work(tx: Tx) -> None:
        _clear(storage, tx)
        _insert(storage, tx, [branch.conversation for branch in branches], {})
        for entry in entries:
            storage.stores.entries.insert(tx, entry)

    storage.write(work)
    return branches


def _forked(storage: Storage, branch: Grown, at: int) -> Grown:
    parent = branch.conversation
    inherited = branch.shown[: at % (len(branch.shown) + 1)]
    fork = a_conversation(
        storage,
        tree_id=parent.tree_id,
        forked_at_conversation_id=parent.id,
        forked_at_seq=inherited[-1].seq if inherited else 0,
    )
    return Grown(fork, list(inherited))


def _fits(view: EntryView, entry: Entry) -> bool:
    if not view.has_channel_of(entry):
        return False
    return view.epoch is None or entry.epoch in (None, view.epoch)


def _walk(storage: Storage, conversation: Conversation, view: EntryView, limit: int) -> list[str]:
    def work(tx: Tx) -> list[str]:
        path = load_path(tx, storage.stores, conversation.id)
        found: list[Entry] = []
        while page := page_path(
            tx,
            storage.stores,
            path,
            view,
            after_seq=found[-1].seq if found else 0,
            limit=limit,
        ):
            assert len(page) <= limit
            found += page
        return [entry.id for entry in found]

    return storage.read(work)
