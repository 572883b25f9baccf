"""Where engines like to differ: byte order, letter case, NULL order, instants, characters."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from recollect.audit.model import Event, EventKind
from recollect.conversations.forks.rules import UNLIMITED, Segment
from recollect.conversations.model import ListMode
from recollect.conversations.ports import ConversationFilter, EntryView
from recollect.conversations.sharing.membership import Membership
from recollect.identity.scope import TreeScope
from recollect.jobs.model import NewJob
from recollect.kernel.access_level import Level
from recollect.kernel.ids import UserId
from recollect.kernel.strict_json import JsonText
from tests.support.builders import NOON, a_conversation, an_entry, plant, put
from tests.support.storage import Storage

BY_BYTES = ["%", "A", "Z", "_", "a", "a-b", "a_b", "ab", "z", "Ä", "ß", "é", "ẞ", "中", "😀"]
INSTANTS = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2024, 2, 29, 12, 0, 0, 1, tzinfo=UTC),
    datetime(2024, 2, 29, 12, 0, 0, 100_000, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
]
TEXTS = [
    "",
    " ",
    "tab\tline\nend\r\n",
    "quote ' \" \\ %s :name $1",
    "x\u0001\u007f\u2028",
    "é e\u0301",
]


def test_the_bytes_of_user_ids_give_their_order(storage: Storage) -> None:
    tree = plant(storage, dict.fromkeys(reversed(BY_BYTES), Level.READER))
    page = storage.ask(storage.stores.memberships.page, tree.tree_id, after=None, limit=None)
    expected = sorted(BY_BYTES, key=lambda user: user.encode())
    assert [m.user_id for m in page] == expected == BY_BYTES


def test_a_membership_walk_by_bytes_shows_everybody_once(storage: Storage) -> None:
    tree = plant(storage, dict.fromkeys(BY_BYTES, Level.READER))
    seen: list[str] = []
    while True:
        after = (NOON, seen[-1]) if seen else None
        page = storage.ask(storage.stores.memberships.page, tree.tree_id, after=after, limit=2)
        if not page:
            break
        seen += [m.user_id for m in page]
    assert seen == BY_BYTES


@pytest.mark.parametrize("other", ["ANN", "Ann", "ann ", "an%", "an_", "%", "ánn"])
def test_another_spelling_of_a_user_is_another_user(storage: Storage, other: str) -> None:
    tree = plant(storage, {"ann": Level.OWNER})
    scope = TreeScope.member(UserId(other), Level.READER)
    wanted = ConversationFilter(mode=ListMode.ALL)
    conversations = storage.stores.conversations
    branch = storage.ask(conversations.locate, tree.id, UserId(other))
    listed = storage.ask(conversations.page, scope, wanted, after=None, limit=None)
    assert branch is not None
    assert branch.level is None
    assert tree.id not in [item.conversation.id for item in listed]


def test_a_root_without_fork_point_comes_before_blank_forks(storage: Storage) -> None:
    root = plant(storage)
    points = [5, 0, 3, 0]
    forks = [
        a_conversation(
            storage, tree_id=root.tree_id, forked_at_conversation_id=root.id, forked_at_seq=point
        )
        for point in points
    ]
    for fork in forks:
        storage.do(storage.stores.conversations.insert, fork)
    listed = storage.ask(
        storage.stores.conversations.page_forks, root.tree_id, after=None, limit=None
    )
    expected = [root, forks[3], forks[1], forks[2], forks[0]]
    assert [c.id for c in listed] == [c.id for c in expected]


def test_instants_survive_to_the_microsecond(storage: Storage) -> None:
    for instant in INSTANTS:
        root = plant(storage, updated_at=instant, created_at=instant, deleted_at=instant)
        found = storage.ask(storage.stores.conversations.fetch, root.id)
        assert found is not None
        assert (found.created_at, found.updated_at, found.deleted_at) == (instant,) * 3
        assert found.updated_at.utcoffset() == timedelta()


def test_instants_are_ordered_as_instants(storage: Storage) -> None:
    users = {UserId(f"order-{i}"): at for i, at in enumerate(INSTANTS)}
    tree = plant(storage, {})
    for user_id, at in reversed(users.items()):
        membership = Membership(tree.tree_id, user_id, Level.READER, at)
        storage.do(storage.stores.memberships.insert, membership, confirmed=True)
    after = (INSTANTS[1], "order-1")
    page = storage.ask(storage.stores.memberships.page, tree.tree_id, after=after, limit=None)
    assert [m.user_id for m in page] == ["order-2", "order-3", "order-4"]


def test_an_instant_of_another_zone_is_the_same_instant(storage: Storage) -> None:
    zone = timezone(timedelta(hours=-9, minutes=-30))
    at = datetime(2024, 3, 1, 1, 2, 3, 4, tzinfo=zone)
    root = plant(storage, created_at=at)
    found = storage.ask(storage.stores.conversations.fetch, root.id)
    assert found is not None
    assert found.created_at == at
    assert found.created_at.utcoffset() == timedelta()


@pytest.mark.parametrize("text", TEXTS)
def test_text_comes_back_character_by_character(storage: Storage, text: str) -> None:
    root = plant(storage, title=text, metadata={text: text})
    found = storage.ask(storage.stores.conversations.fetch, root.id)
    assert found is not None
    assert found.title == text
    assert found.metadata == {text: text}


@pytest.mark.parametrize("size", [1, 8_191, 8_192, 1_000_000, 20_000_000])
def test_content_of_any_size_comes_back(storage: Storage, size: int) -> None:
    root = plant(storage)
    entry = an_entry(storage, root, 1, content=JsonText('["' + "ä" * size + '"]'))
    put(storage, entry)
    found = storage.ask(storage.stores.entries.fetch, entry.id)
    assert found is not None
    assert found.content == entry.content


def test_thousands_of_rows_are_written_and_read_in_one_transaction(storage: Storage) -> None:
    root = plant(storage)
    text = JsonText('["' + "x" * 1_000 + '"]')
    put(storage, *(an_entry(storage, root, seq, content=text) for seq in range(1, 5_001)))
    segment = Segment(root.id, UNLIMITED)
    found = storage.ask(
        storage.stores.entries.page_segment, segment, EntryView(), after_seq=0, limit=10_000
    )
    assert [e.seq for e in found] == list(range(1, 5_001))


def test_the_greatest_numbers_survive(storage: Storage) -> None:
    root = plant(storage)
    entry = an_entry(storage, root, UNLIMITED, client_id="k", epoch=UNLIMITED, text_seq=UNLIMITED)
    put(storage, entry)
    assert storage.ask(storage.stores.entries.fetch, entry.id) == entry


def test_events_keep_every_member(storage: Storage) -> None:
    event = Event(
        id=storage.new_id(),
        at=NOON,
        kind=EventKind.MEMBERSHIP,
        action="update",
        actor_user_id="é",
        actor_client_id="k1",
        role="admin",
        conversation_id=storage.new_id(),
        target_user_id="Z",
        from_level="reader",
        to_level="writer",
        transfer_id=storage.new_id(),
        params={"b": 1, "a": [True, None]},
        count=2**40,
        justification="why 'not'",
    )
    storage.do(storage.stores.events.insert, event)
    assert storage.ask(storage.stores.events.fetch, event.id) == event


def test_unnamed_jobs_are_all_kept_and_named_ones_once(storage: Storage) -> None:
    for name in (None, None, "one", "One", "one"):
        storage.do(storage.stores.jobs.insert, NewJob("kind", {}, NOON, name))
    names = storage.database.rows("SELECT task_name FROM tasks ORDER BY created_at, id")
    assert [name for (name,) in names] == [None, None, "one", "One"]
