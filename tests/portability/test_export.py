"""Export: what is in the lines, who may, and that nothing is lost on the way."""

from collections import Counter

import pytest

from tests.conftest import Host, SoakSize
from tests.support.encryption import KEY_A, KEY_B
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of, self_of
from tests.support.memory.portability import (
    MINE,
    ORDER,
    a_line,
    codes,
    exports,
    furnished,
    imports,
    lines_of,
    of_type,
)


@pytest.mark.scenario(34)
def test_an_export_imported_into_an_empty_store_is_exported_as_the_same_bytes(host: Host) -> None:
    with host() as world, host() as other:
        old, new = Callers(world), Callers(other)
        furnished(old)
        first = exports(old.admin, status="all", include_expired=True)
        types = Counter(line["type"] for line in lines_of(first))
        kinds = ("agent", "person", "merge", "chat", "participant", "run", "memory", "version")
        assert all(types[kind] for kind in (*kinds, "relation", "approval"))
        dry = imports(new.admin, first, dry_run=True)
        report = imports(new.admin, first)
        assert report["refused"] == []
        assert (report["read"], report["created"]) == (types.total(), types.total())
        assert dry == report | {"import_id": None}
        assert exports(new.admin, status="all", include_expired=True) == first


def test_what_a_subject_said_about_who_may_know_comes_over(host: Host) -> None:
    with host() as world, host() as other:
        old, new = Callers(world), Callers(other)
        old.person("ann").adds("I paint", subjects=["me"], sensitivity="public", **MINE)
        first = exports(old.admin)
        assert [line["privacy_said"] for line in of_type(first, "memory")] == [True]
        assert imports(new.admin, first)["refused"] == []
        assert exports(new.admin) == first


@pytest.mark.scenario(34)
def test_many_memories_of_many_users_come_over_whole(host: Host, soak_size: SoakSize) -> None:
    with host() as world, host() as other:
        old, new = Callers(world), Callers(other)
        for n in range(soak_size(4, 30)):
            user = old.person(f"user{n}")
            for part in range(soak_size(1, 10)):
                texts = (f"fact {k} of part {part} of {n}" for k in range(200))
                items = [{"op": "create", "content": text} | MINE for text in texts]
                user.post("/memories/batch", body={"items": items}).expect(200)
        first = exports(old.admin)
        assert imports(new.admin, first)["refused"] == []
        assert exports(new.admin) == first
        again = imports(new.admin, first)
        memories = len(of_type(first, "memory"))
        assert Counter(code for _, code in codes(again))["duplicate_id"] >= memories
        assert exports(new.admin) == first


def test_an_encrypted_store_is_exported_in_the_clear_and_sealed_again_by_import(
    host: Host,
) -> None:
    with host(encryption__keys=[KEY_A]) as world, host(encryption__keys=[KEY_B]) as other:
        old, new = Callers(world), Callers(other)
        furnished(old)
        first = exports(old.admin, status="all")
        assert "green tea" in first
        assert imports(new.admin, first)["refused"] == []
        assert exports(new.admin, status="all") == first
        assert "green tea" not in other.database.stored_text()


def test_users_find_and_may_change_what_was_imported_for_them(host: Host) -> None:
    with host() as world, host() as other:
        ann, _ = furnished(Callers(world))
        new = Callers(other)
        imports(new.admin, exports(Callers(world).admin, status="all"))
        there = Caller(other.named(ann.name), other)
        assert person_of(there) == person_of(ann)
        (home,) = there.finds("where do I live Lisbon", spaces=[{"kind": "user"}], limit=1)
        assert home["content"] == "I live in Lisbon."
        was = ann.get("/memories/{}", home["id"]).expect(200)
        assert there.get("/memories/{}", home["id"]).expect(200) == was
        histories = [caller.lists("/memories/{}/history", home["id"]) for caller in (ann, there)]
        assert histories[0] == histories[1]
        graphs = [
            caller.get("/graph/entities/{}", person_of(caller)).expect(200)
            for caller in (ann, there)
        ]
        assert graphs[0] == graphs[1]
        there.patch("/memories/{}", home["id"], body={"tags": ["new"]}).expect(200)


def test_an_owner_exports_own_spaces_and_what_they_refer_to(callers: Callers) -> None:
    ann, bob = furnished(callers)
    text = exports(ann, status="all")
    spaces = {(m["space"]["kind"], m["written_by"]) for m in of_type(text, "memory")}
    assert ("user", ann.name) in spaces
    assert ("user", bob.name) not in spaces
    assert ("chat", bob.name) in spaces
    assert [line["owner_id"] for line in of_type(text, "agent")] == [ann.name]
    assert of_type(text, "merge") == []
    assert "Bob likes rain" not in text
    assert of_type(exports(callers.person("eve"), spaces="all"), "memory") == []


def test_filters_narrow_an_export(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers()["id"]
    mine, of_agent = ann.adds("Mine.", **MINE), ann.adds("Its.", agent_id=agent, tags=["t"])
    by = {
        mine["id"]: {"spaces": "user"},
        of_agent["id"]: {"agent_id": agent},
    }
    for id_, query in by.items():
        assert [m["id"] for m in of_type(exports(ann, **query), "memory")] == [id_]
    assert [m["id"] for m in of_type(exports(ann, tags="t"), "memory")] == [of_agent["id"]]
    everything = [m["id"] for m in of_type(exports(ann), "memory")]
    assert everything == [mine["id"], of_agent["id"]]
    ann.get("/export", agent_id="nobody").refused(404, "not_found")
    ann.get("/export", spaces="nowhere").refused(422, "validation_error")


def test_by_default_an_export_holds_active_memories_and_neither_due_nor_quarantined_ones(
    callers: Callers,
) -> None:
    ann = callers.person("ann")
    old = ann.adds("My desk is oak.", **MINE)
    new = ann.adds("My desk is pine.", supersedes=[old["id"]], **MINE)
    ann.post("/memories", body={"content": ORDER} | MINE).expect(201)
    with callers.world.clock.hold():
        ann.adds("Soon over.", ttl_seconds=60, **MINE)
        callers.world.clock.advance(seconds=60)
        assert [m["id"] for m in of_type(exports(ann), "memory")] == [new["id"]]
        whole = exports(ann, status="all")
    assert [m["id"] for m in of_type(whole, "memory")] == [old["id"], new["id"]]


def test_an_export_of_an_earlier_record_holds_what_was_known_then(callers: Callers) -> None:
    ann = callers.person("ann")
    with callers.world.clock.hold():
        memory = ann.adds("My desk is oak.", **MINE)
        callers.world.clock.advance(seconds=60)
        ann.patch("/memories/{}", memory["id"], body={"content": "My desk is pine."}).expect(200)
        ann.adds("Later.", **MINE)
        text = exports(ann, spaces="user", as_of=memory["created_at"])
    assert [line["content"] for line in of_type(text, "memory")] == ["My desk is oak."]
    assert of_type(text, "version") == []


def test_an_earlier_text_of_a_chat_stays_with_who_may_read_it(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = f"c-{ann.name}"
    ann.put("/chats/{}", chat, body={"kind": "group"}).expect(201)
    ann.put("/chats/{}/participants/{}", chat, bob.name, body={"kind": "user"}).expect(200)
    me, space = self_of(ann)["id"], {"kind": "chat", "id": chat}
    memory = ann.adds("I see a doctor.", subjects=[me], sensitivity="sensitive", space=space)
    change = {"content": "I like tea.", "sensitivity": "public"}
    ann.patch("/memories/{}", memory["id"], body=change).expect(200)
    text = exports(bob, spaces=f"chat:{chat}")
    assert [line["content"] for line in of_type(text, "memory")] == ["I like tea."]
    assert "doctor" not in text
    assert "doctor" in exports(callers.admin, spaces=f"chat:{chat}")


def test_a_private_chat_and_its_stay_come_with_their_maker(callers: Callers) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    chat, at = f"p-{ann.name}", {"created_at": "2026-01-01T00:00:00Z"}
    made = {"type": "chat", "id": chat, "kind": "private", "created_by": eve.name} | at
    stay = {"type": "participant", "chat_id": chat, "kind": "user"}
    stay |= {"joined_at": at["created_at"]}
    lines = [
        made,
        stay | {"member_id": ann.name},
        stay | {"member_id": eve.name},
        a_line(space={"kind": "chat", "id": chat}),
    ]
    dry = imports(ann, lines, dry_run=True)
    report = imports(ann, lines)
    assert dry == report | {"import_id": None}
    assert (report["created"], codes(report)) == (3, [(3, "not_owner")])
    assert ann.get("/chats/{}", chat).expect(200)["created_by"] == ann.name
    assert len(ann.lists("/memories", spaces=f"chat:{chat}")) == 1
