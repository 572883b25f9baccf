"""Erasure: parts of a name, where they give the erased person away and where they don't."""

from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.erasure.identifier_matcher import IdentifierMatcher
from recollect.erasure.name_parts import split_parts
from tests.erasure.erasure_server import found_in, group, in_chat, named, server_opener
from tests.support.engines import TestDatabase
from tests.support.memory.people import person_of


@pytest.mark.parametrize(
    ("name", "traces", "left"),
    [
        ("Katarina Weissbrod", ("Katarina", "Weissbrod"), ()),
        ("Weissbrod-Quill", ("Weissbrod", "Quill"), ()),
        ("Mia O'Neill", ("Mia", "O'Neill"), ()),
        ("John Thomas Quill", ("John", "Thomas", "Quill"), ()),
        # Particles, initials and short parts.
        ("Annelore van der Quist", ("Annelore", "Quist"), ("van", "der")),
        ("Jo B. Quist", ("Quist",), ("Jo", "B.")),
        # Ordinary words, in some languages and by frequency.
        ("Will Rose", (), ("Will", "Rose")),
        ("Zimmermann August", (), ("Zimmermann", "August")),
        ("Table People", (), ("Table", "People")),
        # Without a capital nothing tells a name from a word.
        ("katarina weissbrod", (), ("katarina", "weissbrod")),
        ("山田 花子", (), ("山田", "花子")),
        # One part is the whole name; addresses and ids are no names with parts.
        ("Katarina", (), ()),
        ("kat.weissbrod@feather.example", (), ()),
        ("Unit-7 Gamma", (), ()),
    ],
)
def test_a_part_stands_for_a_person_if_nothing_else_is_called_so(
    name: str, traces: tuple[str, ...], left: tuple[str, ...]
) -> None:
    assert split_parts([name], ()) == (traces, left)


def test_a_part_that_somebody_else_bears_stands_for_nobody() -> None:
    assert split_parts(["Mia Quist"], {"Quist"}) == (("Mia",), ("Quist",))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Quist called", "[erased] called"),
        ("QUIST'S bag and Quíst", "[erased]'S bag and [erased]"),
        ("a quist is a dove", "a quist is a dove"),
        ("Quists and Quistgaard", "Quists and Quistgaard"),
    ],
)
def test_a_part_is_found_as_a_token_that_begins_with_a_capital(text: str, left: str) -> None:
    assert IdentifierMatcher((), capitalized=["Quist"]).redact(text) == left


@pytest.mark.amendment(11)
def test_an_erasure_takes_the_parts_of_a_name_that_nobody_else_bears(
    new_database: Callable[[], TestDatabase], tmp_path: Path
) -> None:
    with server_opener(new_database, tmp_path)() as server:
        q, p, other = map(server.callers.person, ("q", "p", "other"))
        named(q, "Quenella Zarquon Rose")
        named(other, "Otto Zarquon")
        chat = group(p, "g1", q)
        group(p, "club-of-quenella", q)
        texts = {
            "Quenella likes tea": "[erased] likes tea",
            "Mr Zarquon came": "Mr Zarquon came",
            "Rose petals, and a quenella of cream": "Rose petals, and a quenella of cream",
            "I met Quenella Zarquon Rose": "I met [erased]",
        }
        memories = {text: in_chat(p, chat, text) for text in texts}
        town = p.adds("Quenella is a town", space={"kind": "user"})
        tree = p.user.starts("plans")
        p.user.shares(tree, q.user, "reader")
        p.user.says(tree, "Ask Quenella")

        report = server.erases(q, user_id=q.name)
        assert (report["status"], found_in(report)) == ("done", {})
        for text, left in texts.items():
            shown = p.get("/memories/{}", memories[text]["id"]).expect(200)
            assert shown["content"] == left
        assert p.get("/memories/{}", town["id"]).expect(200)["content"] == "Quenella is a town"
        assert p.user.texts(tree) == ["Ask [erased]"]
        assert {"name_parts:2", "ids_of_chats:1"} <= set(report["not_covered"])
        body = {"identifiers": ["Quenella Zarquon Rose"]}
        again = server.callers.admin.post("/erasures/{}/verify", report["id"], body=body).expect(
            200
        )
        assert (again["status"], found_in(again)) == ("done", {})
        assert again["not_covered"] == report["not_covered"]


def test_an_erasure_takes_the_names_from_before_a_change(
    new_database: Callable[[], TestDatabase], tmp_path: Path
) -> None:
    with server_opener(new_database, tmp_path)() as server:
        q, p = map(server.callers.person, ("q", "p"))
        named(q, "Quenella Zarquon")
        chat = group(p, "g1", q)
        then = server.world.clock.now().isoformat()
        memory = in_chat(p, chat, "I met Quenella Zarquon")
        person = person_of(q)
        q.patch("/people/{}", person, body={"name": "Quenella Feather"}).expect(200)
        assert q.get("/people/{}", person, as_of=then).expect(200)["name"] == "Quenella Zarquon"
        report = server.erases(q, user_id=q.name)
        assert (report["status"], found_in(report)) == ("done", {})
        assert p.get("/memories/{}", memory["id"]).expect(200)["content"] == "I met [erased]"
        assert server.left_of(("Zarquon", "Feather", "Quenella")) == []
        p.get("/people/{}", person, as_of=then).refused(404, "not_found")
