"""Traces as whole tokens, what an erasure keeps of its target, and the report's digest."""

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.erasure import (
    ERASED,
    Target,
    Traces,
    digest,
    exchanged,
    mark,
    signature,
)

WORDS = st.text(alphabet="abcXYZéß_0", min_size=1, max_size=6)
JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Ann likes tea", "[erased] likes tea"),
        ("ask ANN, please", "ask [erased], please"),
        ("Ann's tea", "[erased]'s tea"),
        ("Anna and Joann and ann_b stay", "Anna and Joann and ann_b stay"),
        ("write to @ann now", "write to [erased] now"),
        ("Mary  Ann\nLee came", "[erased] came"),
        ("Lee came", "Lee came"),
        ("a@ann.example", "a@[erased].example"),
    ],
)
def test_identifiers_are_replaced_as_whole_tokens_whatever_their_case(text: str, left: str) -> None:
    assert Traces(["Ann", "Mary Ann Lee"]).replaced(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("mail ann@x.example.", "mail [erased]."),
        ("<Ann@X.example>", "<[erased]>"),
        ("mail joann@x.example", "mail joann@x.example"),
        ("mail mary.ann@x.example", "mail mary.ann@x.example"),
        ("mail ann@x.example.org", "mail ann@x.example.org"),
    ],
)
def test_an_address_inside_another_one_stays(text: str, left: str) -> None:
    assert Traces(["ann@x.example"]).replaced(text) == left


def test_somebody_called_erased_is_replaced_once() -> None:
    traces = Traces(["Erased"])
    assert traces.replaced("Erased said [erased]") == "[erased] said [erased]"


def test_no_identifier_changes_nothing() -> None:
    assert Traces([]).replaced("Ann") == "Ann"
    assert Traces(["", " @ "]).replaced("Ann @ home") == "Ann @ home"


def test_member_names_of_json_are_replaced_too() -> None:
    found = Traces(["Ann"]).cleaned({"Ann": ["ann", 1, None], "b": {"c": "Ann Lee"}})
    assert found == {ERASED: [ERASED, 1, None], "b": {"c": "[erased] Lee"}}


@given(st.lists(WORDS, min_size=1, max_size=4), JSON, st.data())
def test_what_was_cleaned_holds_no_trace_and_stays_as_it_is(
    names: list[str], value: Any, data: st.DataObject
) -> None:
    traces = Traces(names)
    name = data.draw(st.sampled_from(names))
    cleaned = traces.cleaned([value, f"({name}) came", {name: name.upper()}])
    assert not traces.are_in(cleaned)
    assert traces.cleaned(cleaned) == cleaned
    assert ERASED in str(cleaned)


def test_ids_are_exchanged_as_a_whole_only() -> None:
    told = {"a": ["q", "qq", {"q": "x"}], "n": 1}
    assert exchanged(told, {"q": "r"}) == {"a": ["r", "qq", {"r": "x"}], "n": 1}


def test_a_settled_target_names_nobody_and_still_says_where_to_look() -> None:
    target = Target(
        stand_in="s",
        person_ids=("p1",),
        user_ids=("ann@x.example", "bob"),
        names=("Ann",),
        handles=("@ann",),
        chats=("c",),
        trees=("t",),
        memories=("m",),
        marks=(mark("e", "p1"), mark("e", "bob")),
    )
    settled = target.settled()
    assert Target.from_json(json.loads(json.dumps(target.to_json()))) == target
    assert (settled.chats, settled.trees, settled.memories) == (("c",), ("t",), ("m",))
    assert not any(name in str(settled.to_json()) for name in ("p1", "ann", "Ann", "bob"))
    brought = settled.renamed(["Ann", "bob"], "e")
    assert (brought.user_ids, brought.names) == (("bob",), ("Ann", "bob"))
    assert target.addresses == ("ann@x.example",)


def test_the_digest_depends_on_members_and_not_on_their_order() -> None:
    members = {"b": [{"y": 1, "x": "é"}], "a": None}
    same = {"a": None, "b": [{"x": "é", "y": 1}]}
    canonical = '{"a":null,"b":[{"x":"é","y":1}]}'
    assert digest(members) == digest(same) == sha256(canonical.encode()).hexdigest()
    assert digest(members | {"a": 1}) != digest(members)
    assert signature(members, "one") == signature(same, "one") != signature(members, "two")
    assert signature(members, None) is None
