"""Erasure: a name goes in whatever spelling it is written, and a report never claims more."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.kernel.runtime import SEALED_MARKER
from tests.erasure.erasure_server import (
    ErasureServer,
    Open,
    found_in,
    group,
    handle,
    in_chat,
    named,
    server_opener,
)
from tests.support.encryption import KEY_A
from tests.support.engines import TestDatabase
from tests.support.memory.callers import Caller
from tests.support.memory.people import person_of

QUIET = {"jobs.embedded_worker": False}
PLAIN: dict[str, Any] = {}
SEALED = {"encryption.keys": [KEY_A]}
# A name, another spelling of it, and what is left of a text with both.
SPELLINGS = [
    ("Jörg-Åke Quist", "JORG AKE QUIST"),
    ("Quillfe\u0301ather", "Quillféather"),
    ("Quill\u00adfeather", "quil\u200blfeather"),
    ("山田太郎", "私は山田 太郎です"),
]


@pytest.fixture
def opened(new_database: Callable[[], TestDatabase], tmp_path: Path) -> Open:
    """Opens servers."""
    return server_opener(new_database, tmp_path)


@pytest.fixture
def server(opened: Open) -> Iterator[ErasureServer]:
    """One in the default setting."""
    with opened() as running:
        yield running


@pytest.mark.parametrize("flags", [PLAIN, SEALED], ids=["plain", "sealed"])
def test_a_name_goes_in_every_spelling_and_the_erasure_ends(
    opened: Open, flags: dict[str, Any]
) -> None:
    with opened(flags) as server:
        q, p = server.callers.person("q"), server.callers.person("p")
        q_id = named(q, SPELLINGS[0][0])
        for name, _ in SPELLINGS[1:]:
            q.post("/people/{}/aliases", q_id, body={"value": name}).expect(201)
        chat = group(p, "g1", q)
        texts = [text for pair in SPELLINGS for text in pair]
        noted = [in_chat(p, chat, f"Ask {text} for tea", tags=[text]) for text in texts]
        p.patch("/memories/{}", noted[0]["id"], body={"content": "Ask nobody"}).expect(200)
        tree = p.user.starts(f"About {texts[1]}")
        p.user.shares(tree, q.user, "writer")
        for text in texts:
            p.user.says(tree, f"thanks, {text}!")

        report = server.erases(q, person_id=q_id)
        assert (report["status"], found_in(report)) == ("done", {})
        assert ("sealed_bytes_of_the_database_file" in report["not_covered"]) == (
            bool(flags) and server.world.database.engine == "sqlite"
        )
        shown = [p.get("/memories/{}", one["id"], chat_id=chat).expect(200) for one in noted[1:]]
        cut = "Ask 私は[erased]です for tea"
        assert [one["content"] for one in shown] == ["Ask [erased] for tea"] * 6 + [cut]
        assert [one["tags"] for one in shown] == [["[erased]"]] * 6 + [["私は[erased]です"]]
        history = p.get("/memories/{}/history", noted[0]["id"]).expect(200)["data"]
        assert [one["content"] for one in history if one["version"] == 1] == [
            "Ask [erased] for tea"
        ]
        said = p.user.texts(tree)
        assert said == ["thanks, [erased]!"] * 7 + ["thanks, 私は[erased]です!"]
        assert p.user.gets(tree)["title"] == "About [erased]"
        body = {"identifiers": texts[:7]}
        again = server.callers.admin.post("/erasures/{}/verify", report["id"], body=body).expect(
            200
        )
        assert (again["status"], found_in(again)) == ("done", {})


def test_verify_knows_a_name_that_came_back_in_another_spelling_and_sealed(opened: Open) -> None:
    with opened(SEALED) as server:
        q, p = server.callers.person("q"), server.callers.person("p")
        q_id = named(q, "Jörg-Åke")
        chat = group(p, "g1", q)
        report = server.erases(q, person_id=q_id)
        in_chat(p, chat, "Where is JORG AKE?")
        body = {"identifiers": ["Jörg-Åke"]}
        again = server.callers.admin.post("/erasures/{}/verify", report["id"], body=body).expect(
            200
        )
        assert again["status"] == "incomplete"
        assert found_in(again) == {"memories": 1, "fulltext": 1}


def test_words_that_only_look_like_a_name_in_the_index_are_nobodys_trace(
    server: ErasureServer,
) -> None:
    q, p = server.callers.person("q"), server.callers.person("p")
    q_id = named(q, "Maryrose Annalee")
    chat = group(p, "g1", q)
    kept = in_chat(p, chat, "We met maryrose; annalee was late")
    report = server.erases(q, person_id=q_id)
    assert (report["status"], found_in(report)) == ("done", {})
    shown = p.get("/memories/{}", kept["id"], chat_id=chat).expect(200)
    assert shown["content"] == "We met maryrose; annalee was late"


def test_a_first_name_that_is_part_of_anothers_name_stays_in_their_rows(
    server: ErasureServer,
) -> None:
    q, s, p = (server.callers.person(name) for name in ("q", "s", "p"))
    q_id, s_id = named(q, "Robin"), named(s, "Robin Goodfellow")
    handle(q, q_id, "@quilly_handle")
    chat, alone = group(p, "g1", q, s), group(p, "g2", q)
    theirs = in_chat(s, chat, "Robin Goodfellow sings", subjects=[s_id])
    mixed = in_chat(p, chat, "Robin and @quilly_handle sing")
    said = in_chat(p, alone, "Robin left")
    report = server.erases(q, person_id=q_id)
    assert (report["status"], found_in(report)) == ("done", {})

    def content(memory: dict[str, Any], chat_id: str) -> str:
        return str(p.get("/memories/{}", memory["id"], chat_id=chat_id).expect(200)["content"])

    assert content(theirs, chat) == "Robin Goodfellow sings"
    assert content(mixed, chat) == "Robin and [erased] sing"
    assert content(said, alone) == "[erased] left"


def test_whom_an_erasure_is_about_is_sealed_while_it_runs_and_gone_when_it_is_done(
    opened: Open,
) -> None:
    with opened(SEALED | QUIET) as server:
        q = server.callers.person("q")
        q_id = named(q, "Quillfeather")
        erasure_id = server.begins(q, person_id=q_id)
        [(target,)] = server.world.database.rows("SELECT target FROM erasures")
        assert target.startswith(SEALED_MARKER)
        database = server.world.database

    with opened(SEALED, database=database) as server:
        assert server.awaits(erasure_id)["status"] == "done"

    with opened() as server:
        q = server.callers.person("q")
        q_id = named(q, "Quillfeather")
        server.erases(q, person_id=q_id)
        [(target,)] = server.world.database.rows("SELECT target FROM erasures")
        told = base64.b64decode(target).decode()
        assert not any(one in told for one in (q.name, q_id, "Quillfeather"))


@pytest.mark.parametrize("user_id", ["text", "user", "role"])
def test_somebody_called_like_a_part_of_a_message_breaks_no_message(
    server: ErasureServer, user_id: str
) -> None:
    q, p = Caller(server.world.named(user_id), server.world), server.callers.person("p")
    person_of(q)
    tree = p.user.starts("Plans")
    p.user.shares(tree, q.user, "writer")
    p.user.says(tree, f"hello {user_id}")
    q.user.says(tree, "hello back")
    report = server.erases(q, user_id=q.name)
    assert (report["status"], found_in(report)) == ("done", {})
    assert p.user.texts(tree) == ["hello [erased]", "[erased]"]
