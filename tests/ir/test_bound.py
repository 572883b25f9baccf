"""Views of one agent: what each sees and may do in a store that others share."""

from dataclasses import dataclass
from typing import Any

import pytest

from recollect.ir import AbstractMemoryStore, MemoryEntry, MemoryScope
from tests.ir.library import Library, an_entry, done, ids, new_name

LONG_TERM, SESSION, ORG = MemoryScope.LONG_TERM, MemoryScope.SESSION, MemoryScope.ORG


@dataclass(frozen=True, slots=True)
class Pair:
    """Two agents of one org in one store; the org is theirs alone."""

    library: Library
    x: str
    y: str
    org: str

    def view(self, slug: str, run_id: str | None = None) -> AbstractMemoryStore:
        """The store as an agent sees it."""
        return self.library.store.as_principal(slug, run_id, self.org)

    def adds(self, slug: str, run: str | None = None, **members: Any) -> MemoryEntry:
        """An agent stores an entry of its own."""
        view = self.view(slug)
        return done(view.create_memory(an_entry(slug, run_id=run, **members)))

    def sees(self, slug: str, entry: MemoryEntry, run_id: str | None = None) -> bool:
        """Is it shown to an agent: by its id, in lists and in searches, or in none of these?"""
        view = self.view(slug, run_id)
        shown = {
            done(view.get_memory(entry.memory_id)) is not None,
            entry.memory_id in ids(done(view.list_memories(limit=1000))),
            entry.memory_id in ids(done(view.list_memories(scope=entry.scope, limit=1000))),
            entry.memory_id in ids(done(view.search_memories("ochre", limit=1000))),
        }
        (answer,) = shown
        return answer


@pytest.fixture
def pair(library: Library) -> Pair:
    return Pair(library, new_name("x"), new_name("y"), new_name("org"))


@pytest.mark.scenario(33)
def test_an_agent_lists_its_own_and_its_orgs_rows_only(pair: Pair) -> None:
    own = pair.adds(pair.y)
    pair.adds(pair.x)
    pair.adds(pair.x, scope=SESSION, run=new_name("run"))
    shared = pair.adds(pair.x, scope=ORG)
    listed = done(pair.view(pair.y).list_memories())
    assert sorted(ids(listed)) == sorted(ids([own, shared]))


def test_another_org_sees_nothing_of_this_one(pair: Pair) -> None:
    shared = pair.adds(pair.x, scope=ORG)
    assert pair.sees(pair.y, shared)
    stranger = pair.library.store.as_principal(new_name(), org_id=new_name("org"))
    assert done(stranger.list_memories()) == []
    assert done(stranger.get_memory(shared.memory_id)) is None


@pytest.mark.parametrize("scope", [LONG_TERM, SESSION], ids=str)
def test_another_agents_rows_are_absent_and_out_of_reach(pair: Pair, scope: MemoryScope) -> None:
    run = new_name("run") if scope is SESSION else None
    entry = pair.adds(pair.x, scope=scope, run=run)
    view = pair.view(pair.y)
    assert not pair.sees(pair.y, entry)
    assert done(view.list_memories(agent_slug=pair.x)) == []
    assert done(view.delete_memory(entry.memory_id)) is False
    with pytest.raises(ValueError, match="no such memory"):
        done(view.update_memory(entry))
    with pytest.raises(PermissionError):
        done(view.create_memory(an_entry(pair.x, scope=scope, run_id=run)))
    assert pair.library.gets(entry) == entry


def test_nobody_writes_for_an_agent_that_does_not_exist_yet(pair: Pair) -> None:
    newcomer = new_name()
    with pytest.raises(PermissionError):
        done(pair.view(pair.x).create_memory(an_entry(newcomer)))
    known = pair.library.database.rows("SELECT id FROM agents WHERE id = :id", id=newcomer)
    assert known == []


@pytest.mark.scenario(33)
def test_anothers_org_row_is_read_and_not_changed(pair: Pair) -> None:
    entry = pair.adds(pair.x, scope=ORG)
    view = pair.view(pair.y)
    read = done(view.get_memory(entry.memory_id))
    assert read == entry
    entry.value["name"] = "umber"
    with pytest.raises(PermissionError):
        done(view.update_memory(entry))
    with pytest.raises(PermissionError):
        done(view.delete_memory(entry.memory_id))
    changed = done(pair.view(pair.x).update_memory(entry))
    assert changed.value == {"name": "umber"}
    assert done(pair.view(pair.x).delete_memory(entry.memory_id)) is True


def test_an_agent_changes_and_removes_what_is_its_own(pair: Pair) -> None:
    run = new_name("run")
    view = pair.view(pair.x, run)
    for scope in (LONG_TERM, SESSION, ORG):
        entry = done(view.create_memory(an_entry(pair.x, scope=scope, run_id=run)))
        entry.tags = ["changed"]
        assert done(view.update_memory(entry)).tags == ["changed"]
        assert done(view.delete_memory(entry.memory_id)) is True
        assert done(view.delete_memory(entry.memory_id)) is False


@dataclass(frozen=True, slots=True)
class Line:
    """A root run of x with two children: one of y, and one of a third agent."""

    pair: Pair
    root: str
    child: str
    sibling: str
    z: str


@pytest.fixture
def line(pair: Pair) -> Line:
    store, z = pair.library.store, new_name("z")
    root, child, sibling = (new_name("run") for _ in range(3))
    for slug in (pair.x, pair.y, z):
        done(pair.view(slug).create_memory(an_entry(slug)))
    done(store.start_run(pair.x, root))
    done(store.start_run(pair.y, child, root))
    done(store.start_run(z, sibling, root))
    return Line(pair, root, child, sibling, z)


@pytest.mark.scenario(29)
def test_a_child_reads_its_parents_session_and_siblings_and_strangers_do_not(line: Line) -> None:
    pair = line.pair
    above = pair.adds(pair.x, scope=SESSION, run=line.root)
    below = pair.adds(pair.y, scope=SESSION, run=line.child)
    assert pair.sees(pair.y, above, line.child)
    assert pair.sees(pair.x, below, line.root)
    assert not pair.sees(line.z, below, line.sibling)
    assert not pair.sees(new_name(), above)
    view = pair.view(pair.y, line.child)
    with pytest.raises(PermissionError):
        done(view.delete_memory(above.memory_id))
    above.tags = ["changed"]
    with pytest.raises(PermissionError):
        done(view.update_memory(above))
    with pytest.raises(PermissionError):
        done(view.create_memory(an_entry(pair.y, scope=SESSION, run_id=line.root)))


@pytest.mark.scenario(29)
def test_session_rows_go_with_the_root_and_long_term_rows_stay(line: Line) -> None:
    pair = line.pair
    gone = [
        pair.adds(pair.x, scope=SESSION, run=line.root),
        pair.adds(pair.x, scope=SESSION, run=line.root, retention_policy="ephemeral"),
        pair.adds(pair.x, scope=SESSION, run=line.root, value={"ssn": "219-09-9999"}),
        pair.adds(pair.y, scope=SESSION, run=line.child),
    ]
    lasting = pair.adds(pair.x, run=line.root)
    ended = done(pair.library.store.complete_run(line.root, "succeeded"))
    assert (ended.status, ended.agent_id) == ("succeeded", pair.x)
    assert [pair.library.gets(entry) for entry in gone] == [None] * 4
    assert pair.library.gets(lasting) == lasting
    with pytest.raises(ValueError, match="completed"):
        pair.adds(pair.x, scope=SESSION, run=line.root)


def test_a_view_of_one_run_knows_no_other_run_of_the_agent(pair: Pair) -> None:
    one, other = new_name("run"), new_name("run")
    entry = pair.adds(pair.x, scope=SESSION, run=one)
    assert pair.sees(pair.x, entry)
    assert pair.sees(pair.x, entry, one)
    assert not pair.sees(pair.x, entry, other)
    view = pair.view(pair.x, other)
    assert done(view.delete_memory(entry.memory_id)) is False
    with pytest.raises(PermissionError):
        done(view.create_memory(an_entry(pair.x, scope=SESSION, run_id=one)))


def test_a_run_belongs_to_one_agent(pair: Pair) -> None:
    run = new_name("run")
    pair.adds(pair.x, scope=SESSION, run=run)
    with pytest.raises(PermissionError):
        pair.adds(pair.y, scope=SESSION, run=run)


def test_cleaning_up_is_not_for_one_agent(pair: Pair) -> None:
    view = pair.view(pair.x)
    for call in (view.expire_old_memories, view.vacuum):
        with pytest.raises(PermissionError):
            done(call())


def test_an_agent_gets_no_view_of_another(pair: Pair) -> None:
    view = pair.view(pair.x, "run-1")
    for slug, run, org in (
        (pair.y, "run-1", pair.org),
        (pair.x, "run-2", pair.org),
        (pair.x, None, pair.org),
        (pair.x, "run-1", "elsewhere"),
    ):
        with pytest.raises(PermissionError):
            view.as_principal(slug, run, org)
    narrower = pair.view(pair.x).as_principal(pair.x, "run-1", pair.org)
    assert done(narrower.list_memories()) == []


def test_an_agent_stays_in_the_org_where_it_is_registered(pair: Pair) -> None:
    pair.adds(pair.x)
    elsewhere = pair.library.store.as_principal(pair.x, org_id=new_name("org"))
    with pytest.raises(PermissionError, match="org"):
        done(elsewhere.list_memories())


def test_to_close_a_view_ends_the_view_alone(pair: Pair) -> None:
    view = pair.view(pair.x)
    entry = done(view.create_memory(an_entry(pair.x)))
    done(view.close())
    with pytest.raises(RuntimeError, match="closed"):
        done(view.list_memories())
    assert pair.library.gets(entry) == entry


def test_a_refusal_is_one_event(pair: Pair) -> None:
    def denials() -> list[Any]:
        told = pair.library.events("memory", "denied")
        return [one["params"] for one in told if one["actor"] == f"agent:{pair.x}"]

    with pytest.raises(PermissionError):
        done(pair.view(pair.x).create_memory(an_entry(pair.y)))
    assert [one["operation"] for one in denials()] == ["createMemory"]


@pytest.mark.parametrize("slug", ["", "a b", "mine-public"], ids=["empty", "blank", "reserved"])
def test_a_view_needs_a_possible_agent(library: Library, slug: str) -> None:
    with pytest.raises(ValueError, match="agent_slug"):
        library.store.as_principal(slug)
