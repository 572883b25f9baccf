"""What an erasure keeps of its target, and the report's digest."""

import json
from hashlib import sha256

from recollect.erasure.model import (
    ErasureTarget,
    digest,
    keyed_hash,
    replace_ids,
    retry_delay,
    signature,
)


def test_ids_are_exchanged_as_a_whole_only() -> None:
    told = {"a": ["q", "qq", {"b": "q"}], "q": 1}
    assert replace_ids(told, {"q": "r"}) == {"a": ["r", "qq", {"b": "r"}], "q": 1}


def test_a_target_grows_and_what_was_shared_stays_shared() -> None:
    first = ErasureTarget(stand_in="s", person_ids=("p1",), chats=("c1",), gone_trees=("t1",))
    later = ErasureTarget(
        stand_in="x", person_ids=("p2",), chats=("c2",), gone_chats=("c1",), trees=("t1", "t2")
    )
    grown = first.merge(later)
    assert (grown.stand_in, grown.person_ids) == ("s", ("p1", "p2"))
    assert (grown.chats, grown.gone_chats) == (("c1", "c2"), ())
    assert (grown.trees, grown.gone_trees) == (("t2",), ("t1",))


def test_the_job_waits_longer_the_more_often_it_found_something() -> None:
    pauses = [retry_delay(rounds).total_seconds() for rounds in (1, 2, 3, 8, 5_000)]
    assert pauses == [60, 120, 240, 3_600, 3_600]


def test_a_settled_target_names_nobody_and_still_says_where_to_look() -> None:
    target = ErasureTarget(
        stand_in="s",
        person_ids=("p1",),
        user_ids=("ann@x.example", "bob"),
        names=("Ann",),
        handles=("@ann",),
        chats=("c",),
        trees=("t",),
        memories=("m",),
        marks=(keyed_hash("e", "p1"), keyed_hash("e", "bob")),
    )
    settled = target.anonymize()
    assert ErasureTarget.from_json(json.loads(json.dumps(target.to_json()))) == target
    assert (settled.chats, settled.trees, settled.memories) == (("c",), ("t",), ("m",))
    assert not any(name in str(settled.to_json()) for name in ("p1", "ann", "Ann", "bob"))
    brought = settled.with_identifiers(["Ann", "bob"], "e")
    assert (brought.user_ids, brought.names) == (("bob",), ("Ann", "bob"))
    assert target.email_addresses == ("ann@x.example",)


def test_the_digest_depends_on_members_and_not_on_their_order() -> None:
    members = {"b": [{"y": 1, "x": "é"}], "a": None}
    same = {"a": None, "b": [{"x": "é", "y": 1}]}
    canonical = '{"a":null,"b":[{"x":"é","y":1}]}'
    assert digest(members) == digest(same) == sha256(canonical.encode()).hexdigest()
    assert digest(members | {"a": 1}) != digest(members)
    assert signature(members, "one") == signature(same, "one") != signature(members, "two")
    assert signature(members, None) is None
