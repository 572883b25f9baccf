"""Erasure: what leaves all reads at once, what the job takes out, what stays, and the proof."""

import hmac
import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from recollect.services.erase import is_blocked
from tests.memory.people import person_of
from tests.memory.shelf import a_shelf
from tests.support.embedding_server import EmbeddingServer
from tests.support.encryption import KEY_A
from tests.support.engines import TestDatabase
from tests.support.hosting import a_world
from tests.support.searching import embedding_flags, settle, settle_memories
from tests.support.town import Asker, Town
from tests.support.world import World

RULES = """
default_ttl: {{session: 3600, long_term: 2592000, org: 7776000}}
vacuum: {{enabled: false}}
backup: {{directory: "{folder}", keep_days: 30}}
"""
KEY = "the key of reports"
WAIT_SECONDS = 60
PAUSE_SECONDS = 0.02
QUIET = {"jobs.embedded_worker": False}
Open = Callable[..., AbstractContextManager["House"]]


@dataclass(frozen=True)
class House:
    """A server of one test, so that nobody else's words are in its file."""

    world: World
    backups: Path

    @property
    def town(self) -> Town:
        return Town(self.world)

    def erases(self, asker: Asker, **members: Any) -> dict[str, Any]:
        """Erase and wait for the report."""
        return self.awaits(self.begins(asker, **members))

    def begins(self, asker: Asker, **members: Any) -> str:
        """The id of an erasure."""
        begun = asker.post("/erasures", body={"dry_run": False} | members).expect(202)
        assert begun == {"id": begun["id"], "status": "running"}
        return str(begun["id"])

    def awaits(self, erasure_id: str, *states: str) -> dict[str, Any]:
        """Its report, once it is in one of these states."""
        end = time.monotonic() + WAIT_SECONDS
        while True:
            report: dict[str, Any] = self.town.admin.get("/erasures/{}", erasure_id).expect(200)
            if report["status"] in (states or ("done", "incomplete")):
                return report
            assert time.monotonic() < end, report
            time.sleep(PAUSE_SECONDS)

    def left_of(self, traces: tuple[str, ...]) -> list[str]:
        """Which of these are anywhere in the database, its files, its word indexes, backups."""
        files = [file.read_text() for file in self.backups.glob("*")]
        stored = [self.world.database.stored_text(), *self._words(), *files]
        text = " ".join(stored).lower()
        return [trace for trace in traces if trace.lower() in text]

    def count(self, table: str, where: str = "1 = 1", **params: Any) -> int:
        rows = self.world.database.rows(f"SELECT count(*) FROM {table} WHERE {where}", **params)
        return int(rows[0][0])

    def _words(self) -> Iterator[str]:
        """Words of the full text, whose bytes hold them in parts."""
        if self.world.database.engine != "sqlite":
            return
        for table in ("entry_words", "memory_words"):
            vocabulary = (
                f"CREATE VIRTUAL TABLE temp.v USING fts5vocab (main, {table}, row);"
                "SELECT term FROM temp.v"
            )
            yield from (term for (term,) in self.world.database.rows(vocabulary))


@pytest.fixture
def opened(
    new_database: Callable[[], TestDatabase], tmp_path_factory: pytest.TempPathFactory
) -> Open:
    """`with opened(**flags) as house`: a server, on `database` or on a fresh one."""
    folder = tmp_path_factory.mktemp("erasure")
    rules = folder / "rules.yaml"
    rules.write_text(RULES.format(folder=folder / "backups"))
    flags = {"retention.file": str(rules), "memory.auto_gc": False, "erase.signing_key": KEY}

    def start(
        more: dict[str, Any] | None = None, database: TestDatabase | None = None
    ) -> AbstractContextManager[House]:
        return _Running(database or new_database(), flags | (more or {}), folder / "backups")

    return start


class _Running(AbstractContextManager[House]):
    def __init__(self, database: TestDatabase, flags: dict[str, Any], backups: Path) -> None:
        self._world, self._backups = a_world(database, flags), backups

    def __enter__(self) -> House:
        return House(self._world.__enter__(), self._backups)

    def __exit__(self, *error: Any) -> None:
        self._world.__exit__(*error)


@pytest.fixture
def house(opened: Open) -> Iterator[House]:
    """One in the default setting."""
    with opened() as running:
        yield running


def named(house: House, asker: Asker, name: str) -> str:
    """Give a user's person a name; the person's id."""
    person_id = person_of(asker)
    asker.patch("/people/{}", person_id, body={"name": name}).expect(200)
    return person_id


def handle(asker: Asker, person_id: str, value: str) -> None:
    body = {"value": value, "kind": "handle"}
    asker.post("/people/{}/aliases", person_id, body=body).expect(201)


def group(creator: Asker, chat_id: str, *others: Asker) -> str:
    creator.put("/chats/{}", chat_id, body={"kind": "group"}).expect(201)
    for one in others:
        path = "/chats/{}/participants/{}"
        creator.put(path, chat_id, one.name, body={"kind": "user"}).expect(200)
    return chat_id


def in_chat(asker: Asker, chat_id: str, content: str, **members: Any) -> dict[str, Any]:
    return asker.adds(content, space={"kind": "chat", "id": chat_id}, **members)


def found_in(report: dict[str, Any]) -> dict[str, int]:
    return {check["store"]: check["found"] for check in report["checks"] if check["found"]}


@pytest.mark.scenario(58)
def test_after_an_erasure_no_store_holds_a_trace_and_a_namesake_keeps_the_name(
    opened: Open, embeddings: EmbeddingServer
) -> None:
    with opened(embedding_flags(embeddings)) as house:
        town = house.town
        q, p, s, r = (town.person(name) for name in ("zarquonia", "p", "s", "r"))
        q_id, s_id = named(house, q, "Quillfeather"), named(house, s, "Robin")
        person_of(r)
        q.post("/people/{}/aliases", q_id, body={"value": "Robin"}).expect(201)
        handle(q, q_id, "@quilly_handle")
        handle(q, q_id, "quill@feather.example")
        old = q.post("/people", body={"name": "Quillette"}).expect(201)
        merge = {"primary_id": q_id, "secondary_id": old["id"]}
        q.post("/people/merge", body=merge).expect(200)
        chat = group(p, "g1", q, s)
        record = {"key": "Quillfeather", "value": {"tea": "green"}, "subjects": [q_id]}
        record |= {"space": {"kind": "chat", "id": chat}, "ttl_seconds": 1}
        p.post("/memories", body=record).expect(201)
        house.world.clock.advance(days=9)
        town.admin.post("/admin/vacuum", body={"dry_run": False}).expect(200)
        about = in_chat(p, chat, "She loves pizza", subjects=[q_id])
        p.patch("/memories/{}", about["id"], body={"content": "She loves pasta"}).expect(200)
        joint = in_chat(p, chat, "They went to Rome", subjects=[q_id, s_id])
        of_merged = in_chat(p, chat, "Has a red bike", subjects=[old["id"]])
        told = in_chat(q, chat, "S likes tea", subjects=[s_id])
        text = "Ask Quillfeather (quill@feather.example, @quilly_handle) for tea"
        mentioned = in_chat(p, chat, text)
        robins = in_chat(s, chat, "Robin sings", subjects=[s_id])
        own = q.adds("My own secret garden", space={"kind": "user"})
        answered = {"content": "Kept answer", "subjects": [q_id], "space": {"kind": "user"}}
        key = {"Idempotency-Key": "one"}
        p.call("POST", "/memories", body=answered, headers=key).expect(201)
        tree = p.user.starts("About Quillfeather")
        p.user.shares(tree, q.user, "writer")
        q.user.says(tree, "hello from the quillish writer")
        p.user.says(tree, "thanks, Quillfeather!")
        lone = q.user.starts("quillish thoughts")
        q.user.says(lone, "only mine, quillishly")
        house.world.database.rows(
            "INSERT INTO tasks (id, task_type, task_body, created_at, retry_at) VALUES "
            "('00000000-0000-7000-8000-000000000009', 'x', :body, :at, :at)",
            body=json.dumps({"subject": q_id, "text": "Quillfeather"}),
            at="2100-01-01T00:00:00.000000Z",
        )
        settle(house.world)
        settle_memories(house.world)

        texts = ("quillfeather", "quillette", "quilly_handle", "quill@feather", "quillish")
        words = ("secret garden", "loves pizza", "loves pasta", "pizza", "bike", "garden")
        traces = (*texts, *words, q.name, q_id, old["id"])
        assert house.left_of(traces) == list(traces)
        assert q_id in "".join(file.read_text() for file in house.backups.glob("*"))

        for members in ({"person_id": q_id}, {"user_id": q.name}):
            r.post("/erasures", body=members | {"dry_run": False}).expect(403)
        planned = q.post("/erasures", body={"person_id": q_id, "dry_run": True}).expect(200)
        assert (planned["status"], planned["checks"]) == ("planned", [])
        q.get("/memories/{}", own["id"]).expect(200)
        report = house.erases(q, person_id=q_id)

        assert found_in(report) == {}
        assert (report["status"], report["joint"]) == ("done", 1)
        assert report["counts"] == planned["counts"]
        assert report["counts"]["people"] == 2
        assert report["counts"]["vectors"] >= 4
        for gone in (about, joint, of_merged):
            p.get("/memories/{}", gone["id"]).expect(404)
        kept = s.get("/memories/{}", told["id"], chat_id=chat).expect(200)
        assert (kept["content"], kept["stated_by"], kept["trust"]) == (
            "S likes tea",
            None,
            "unknown",
        )
        cleaned = p.get("/memories/{}", mentioned["id"], chat_id=chat).expect(200)
        assert cleaned["content"] == "Ask [erased] ([erased], [erased]) for tea"
        same = s.get("/memories/{}", robins["id"], chat_id=chat).expect(200)
        assert same["content"] == "Robin sings"
        assert s.get("/people/{}", s_id).expect(200)["name"] == "Robin"
        assert p.user.texts(tree) == ["[erased]", "thanks, [erased]!"]
        assert p.user.gets(tree)["title"] == "About [erased]"
        p.user.call("get_conversation", lone).expect(404)
        assert [hit["id"] for hit in p.finds("tea", chat_id=chat)] != []
        assert house.left_of(traces) == []
        assert house.count("memory_embeddings") == house.count("memories")
        names = ["Quillfeather", "Robin", "@quilly_handle", "quill@feather.example", q.name, q_id]
        again = q.post("/erasures/{}/verify", report["id"], body={"identifiers": names})
        assert (found_in(again.expect(200)), again.expect(200)["status"]) == ({}, "done")
        assert house.left_of((q.name, q_id)) == []


def test_what_is_linked_leaves_all_reads_before_the_job_runs(opened: Open) -> None:
    with opened(QUIET) as house:
        q, p, s = (house.town.person(name) for name in ("q", "p", "s"))
        q_id, s_id = person_of(q), person_of(s)
        chat = group(p, "g1", q, s)
        about = in_chat(p, chat, "She loves pizza", subjects=[q_id])
        told = in_chat(q, chat, "S likes tea", subjects=[s_id])
        erasure_id = house.begins(q, user_id=q.name)

        for memory in (about, told):
            p.get("/memories/{}", memory["id"], chat_id=chat).expect(404)
        assert p.finds("pizza tea", chat_id=chat) == []
        p.get("/people/{}", q_id).expect(404)
        q.post("/erasures", body={"user_id": q.name, "dry_run": False}).expect(409)
        database = house.world.database

    with opened(database=database) as house:
        assert house.awaits(erasure_id)["status"] == "done"
        s = Asker(house.world.named(s.name), house.world)
        s.get("/memories/{}", told["id"], chat_id=chat).expect(200)


def test_an_erased_user_leaves_agents_to_themselves_and_trees_to_the_oldest_manager(
    house: House,
) -> None:
    town = house.town
    q, p, s = (town.person(name) for name in ("q", "p", "s"))
    person_of(p)
    agent = q.registers(name="Helper")
    private = q.adds("Private note", agent_id=agent["id"], visibility="private")
    public = q.adds("Public note", agent_id=agent["id"])
    tree = q.user.starts("Plans")
    q.user.says(tree, "first")
    for one, level in ((s, "writer"), (p, "manager")):
        q.user.shares(tree, one.user, level)
    q.put("/chats/{}", "alone", body={"kind": "private"}).expect(201)
    q.put("/chats/{}/participants/{}", "alone", q.name, body={"kind": "user"})
    noted = in_chat(q, "alone", "A diary line")

    report = house.erases(town.admin, user_id=q.name, justification=f"{q.name} asked for it")
    assert (report["status"], found_in(report)) == ("done", {})
    assert report["requested_by_role"] == "admin"
    assert p.get("/agents/{}", agent["id"]).expect(200)["owner_id"] == f"agent:{agent['id']}"
    assert p.get("/memories/{}", public["id"]).expect(200)["content"] == "Public note"
    assert p.user.levels(tree) == {s.name: "writer", p.name: "owner"}
    assert p.user.texts(tree) == ["[erased]"]
    assert house.count("memories", "id IN (:one, :two)", one=private["id"], two=noted["id"]) == 0
    assert house.count("named_chats") == 0
    assert house.left_of((q.name, "diary line", "Private note")) == []


def test_events_of_the_person_get_one_random_id(house: House) -> None:
    q = house.town.person("q")
    q_id = person_of(q)
    q.adds("one", space={"kind": "user"})
    agent = q.registers()
    q.patch("/agents/{}", agent["id"], body={"name": "n"}).expect(200)
    acted = "SELECT id FROM audit_events WHERE actor_user_id = :user"
    before = [row[0] for row in house.world.database.rows(acted, user=q.name)]
    assert len(before) >= 3
    assert house.erases(q, person_id=q_id)["status"] == "done"
    actors = house.world.database.rows("SELECT id, actor_user_id FROM audit_events")
    assert len({actor for id_, actor in actors if id_ in before}) == 1
    assert house.left_of((q.name, q_id)) == []


def test_only_the_user_and_admins_erase_and_read_reports(house: House) -> None:
    town = house.town
    q, r = town.person("q"), town.person("r")
    other = town.person("x", orgs=("elsewhere",))
    q_id = person_of(q)
    made = r.post("/people", body={"name": "Nobody's user"}).expect(201)

    r.post("/erasures", body={"person_id": made["id"], "dry_run": True}).expect(403)
    other.post("/erasures", body={"person_id": q_id, "dry_run": True}).expect(404)
    other.post("/erasures", body={"user_id": "nobody", "dry_run": True}).expect(403)
    town.admin.post("/erasures", body={"user_id": "nobody", "dry_run": True}).expect(404)
    town.admin.post("/erasures", body={"person_id": "nobody", "dry_run": True}).expect(404)
    denied = house.count("audit_events", "kind = 'memory' AND action = 'denied'")
    assert denied == 2

    unlinked = house.erases(town.admin, person_id=made["id"])
    assert unlinked["counts"]["people"] == 1
    r.get("/people/{}", made["id"]).expect(404)
    report = house.erases(q, user_id=q.name)
    r.get("/erasures/{}", report["id"]).expect(404)
    r.post("/erasures/{}/verify", report["id"], body={"identifiers": ["q"]}).expect(404)
    assert q.get("/erasures/{}", report["id"]).expect(200) == report
    assert house.count("person_users", "user_id = :user", user=q.name) == 0


@pytest.mark.parametrize(
    "body",
    [
        {"person_id": "x"},
        {"dry_run": True},
        {"person_id": "x", "user_id": "y", "dry_run": True},
        {"person_id": "x", "dry_run": True, "force": True},
    ],
)
def test_a_request_names_one_and_says_whether_it_is_a_dry_run(
    house: House, body: dict[str, Any]
) -> None:
    house.town.admin.post("/erasures", body=body).expect(422)


def test_an_admin_owes_a_reason_where_the_server_wants_one(opened: Open) -> None:
    with opened({"admin.require_justification": True}) as house:
        q = house.town.person("q")
        body = {"person_id": person_of(q), "dry_run": True}
        house.town.admin.post("/erasures", body=body).expect(400)
        house.town.admin.post("/erasures", body=body | {"justification": "asked"}).expect(200)
        q.post("/erasures", body=body).expect(200)


def test_a_report_is_signed_and_names_nobody(house: House) -> None:
    q = house.town.person("q")
    q_id = named(house, q, "Quillfeather")
    report = house.erases(q, person_id=q_id)
    told = {name: value for name, value in report.items() if name not in ("digest", "signature")}
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert report["digest"] == sha256(text).hexdigest()
    assert report["signature"] == hmac.new(KEY.encode(), text, sha256).hexdigest()
    assert not any(one in json.dumps(report) for one in (q.name, q_id, "Quillfeather"))
    done = house.world.database.rows(
        "SELECT params FROM audit_events WHERE kind = 'erase' AND action = 'done'"
    )
    assert json.loads(done[0][0])["digest"] == report["digest"]


def test_verify_finds_what_came_back_and_ends_after_thirty_days(house: House) -> None:
    q, p = house.town.person("q"), house.town.person("p")
    q_id = named(house, q, "Quillfeather")
    chat = group(p, "g1", q)
    report = house.erases(q, person_id=q_id)
    names = {"identifiers": ["Quillfeather"]}
    p.adds("Quillfeather elsewhere", space={"kind": "user"})
    verify = ("/erasures/{}/verify", report["id"])
    assert found_in(house.town.admin.post(*verify, body=names).expect(200)) == {}
    in_chat(p, chat, "Where is Quillfeather?")
    again = house.town.admin.post(*verify, body=names).expect(200)
    assert again["status"] == "incomplete"
    assert found_in(again) == {"memories": 1, "fulltext": 1}
    assert house.town.admin.get("/erasures/{}", report["id"]).expect(200) == report
    house.world.clock.advance(days=30, seconds=1)
    house.town.admin.post(*verify, body=names).expect(409)


def test_an_incomplete_erasure_goes_on_until_nothing_is_found(house: House) -> None:
    q = house.town.person("q")
    q_id = person_of(q)
    rows = house.world.database.rows
    rows("INSERT INTO server_state (name, value) VALUES ('strange', :value)", value=q_id)
    erasure_id = house.begins(q, person_id=q_id)
    report = house.awaits(erasure_id, "incomplete")
    assert found_in(report)["server_state"] == 1
    assert report["finished_at"] is None
    rows("DELETE FROM server_state WHERE name = 'strange'")
    house.world.clock.advance(seconds=61)
    assert found_in(house.awaits(erasure_id, "done")) == {}
    assert house.left_of((q.name, q_id)) == []


def test_an_address_that_the_token_vouches_for_goes_everywhere(house: House) -> None:
    q = Asker(house.world.named("quill@feather.example"), house.world)
    p = house.town.person("p")
    person_of(q)
    text = "Write to quill@feather.example, not to a.quill@feather.example"
    note = p.adds(text, space={"kind": "user"})
    tree = p.user.starts("Mail quill@feather.example")
    p.user.says(tree, text)
    report = house.erases(q, user_id=q.name)
    assert (report["status"], found_in(report)) == ("done", {})
    left = "Write to [erased], not to a.quill@feather.example"
    assert p.get("/memories/{}", note["id"]).expect(200)["content"] == left
    assert p.user.texts(tree) == [left]
    assert p.user.gets(tree)["title"] == "Mail [erased]"


def test_a_sealed_database_is_cleaned_all_the_same(opened: Open) -> None:
    with opened({"encryption.keys": [KEY_A]}) as house:
        q, p, s = (house.town.person(name) for name in ("q", "p", "s"))
        q_id = named(house, q, "Quillfeather")
        s_id = person_of(s)
        chat = group(p, "g1", q, s)
        both = in_chat(p, chat, "They met", subjects=[q_id, s_id])
        p.patch("/memories/{}", both["id"], body={"subjects": [s_id]}).expect(200)
        text = in_chat(p, chat, "Ask Quillfeather")
        tree = p.user.starts("About Quillfeather")
        p.user.shares(tree, q.user, "writer")
        p.user.says(tree, "thanks, Quillfeather!")
        report = house.erases(q, person_id=q_id)
        assert (report["status"], found_in(report)) == ("done", {})
        shown = p.get("/memories/{}", text["id"], chat_id=chat).expect(200)
        assert shown["content"] == "Ask [erased]"
        assert p.user.texts(tree) == ["thanks, [erased]!"]
        history = p.get("/memories/{}/history", both["id"]).expect(200)["data"]
        assert [item["content"] for item in history if item["version"] == 1] == ["[erased]"]


def test_blocked_handles_are_known_again_by_their_hash_alone(house: House) -> None:
    q = house.town.person("q")
    q_id = person_of(q)
    handle(q, q_id, "@quilly_handle")
    house.erases(q, person_id=q_id, block_relearn=True)
    with a_shelf(house.world) as shelf:
        stores = shelf.storage.stores
        ask = shelf.storage.ask
        assert ask(is_blocked, stores, ["Quilly_Handle"]) is True
        assert ask(is_blocked, stores, ["another"]) is False
    assert house.left_of(("quilly_handle",)) == []
