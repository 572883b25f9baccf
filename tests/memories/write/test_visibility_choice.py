"""In which space of an agent a write goes that names no visibility, and how it is told why."""

import time
from typing import Any

import pytest

from tests.conftest import Host
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.portability import a_line, imports
from tests.support.world import World

pytestmark = pytest.mark.surfaces("grpc")

EXAMPLES = {
    "User prefers concise responses": "private",
    "Python's GIL limits true parallelism": "public",
    "Currently debugging auth flow in user's project": "private",
    "JWT tokens should be validated on every request": "public",
}
RULES = [
    {"pattern": "glossary", "visibility": "public"},
    {"pattern": r"^(draft|note):", "visibility": "private"},
    {"pattern": "draft", "visibility": "public"},
]


def placed(caller: Caller, agent: str, **members: Any) -> tuple[str, str | None]:
    """The visibility of a new memory, and what it was decided by."""
    result = caller.post("/memories", body={"agent_id": agent} | members).expect(201)
    by = [one["message"] for one in result["warnings"] if one["code"] == "visibility_by"]
    return result["memory"]["visibility"], by[0] if by else None


def an_owner(world: World, **members: Any) -> tuple[Caller, str]:
    """Somebody and an agent of theirs."""
    owner = Callers(world).person("o")
    return owner, owner.registers(**members)["id"]


@pytest.mark.amendment(7)
def test_the_shipped_rules_part_what_is_the_users_from_what_everybody_may_know(
    callers: Callers,
) -> None:
    owner, agent = an_owner(callers.world)
    for text, visibility in EXAMPLES.items():
        found, by = placed(owner, agent, content=text)
        assert found == visibility, text
        assert by == "default" if visibility == "public" else str(by).startswith("rule:")
        said = [{"role": "user", "content": text}]
        assert placed(owner, agent, messages=said)[0] == visibility


@pytest.mark.amendment(7)
@pytest.mark.amendment(8)
def test_the_first_rule_that_matches_decides_where_nothing_else_was_said(host: Host) -> None:
    with host(visibility__rules=RULES, visibility__default="private") as world:
        owner, agent = an_owner(world)
        assert placed(owner, agent, content="Draft: the GLOSSARY") == ("public", "rule:1")
        assert placed(owner, agent, content="DRAFT: a plan") == ("private", "rule:2")
        assert placed(owner, agent, content="A Draft of a plan") == ("public", "rule:3")
        assert placed(owner, agent, content="a plan") == ("private", "default")
        text = {"content": "one more draft"}
        assert placed(owner, agent, visibility="private", **text) == ("private", None)
        assert placed(owner, agent, scope="long_term", **text) == ("private", "scope")
        assert placed(owner, agent, visibility="public", content="note: b") == ("public", None)
        record = {"key": "glossary", "value": {"a": "draft"}}
        assert placed(owner, agent, **record) == ("private", "record")


@pytest.mark.amendment(7)
def test_rules_are_for_two_spaces_and_one_space_never_opens_by_itself(host: Host) -> None:
    rules = [{"pattern": "draft", "visibility": "private"}]
    with host(visibility__rules=rules) as world:
        owner, agent = an_owner(world, space_mode="single")
        assert placed(owner, agent, content="a draft") == ("public", "default")
    with host(visibility__default="private") as world:
        owner, agent = an_owner(world, space_mode="single")
        body = {"agent_id": agent, "content": "a draft"}
        owner.post("/memories", body=body).refused(422, "private_unavailable")
        assert placed(owner, agent, content="a draft", visibility="public") == ("public", None)


@pytest.mark.amendment(7)
@pytest.mark.rest_only("imports are streams of lines")
def test_rules_sort_batches_and_lines_of_other_software(host: Host) -> None:
    with host(visibility__rules=RULES) as world:
        owner, agent = an_owner(world)
        texts = ["note: one", "a plan"]
        items = [{"op": "create", "content": text, "agent_id": agent} for text in texts]
        results = owner.post("/memories/batch", body={"items": items}).expect(200)["results"]
        assert [one["warnings"] for one in results] == [
            [{"code": "visibility_by", "message": by}] for by in ("rule:2", "default")
        ]
        lines = [a_line(f"{text} more", agent_id=agent, space=None) for text in texts]
        assert imports(owner, lines)["created"] == 2
        found = {
            row["content"]: row["visibility"] for row in owner.lists("/memories", agent_id=agent)
        }
        assert found == {
            "note: one": "private",
            "note: one more": "private",
            "a plan": "public",
            "a plan more": "public",
        }


@pytest.mark.amendment(8)
def test_only_a_write_that_left_the_visibility_open_is_told_of_it(callers: Callers) -> None:
    owner, agent = an_owner(callers.world)
    text = {"content": "The museum closes on Mondays"}
    assert placed(owner, agent, **text) == ("public", "default")
    assert placed(owner, agent, **text) == ("public", "default")
    assert placed(owner, agent, key="k", value={"a": 1}) == ("private", "record")
    assert placed(owner, agent, scope="long_term", **text) == ("private", "scope")
    assert placed(owner, agent, content="I have HIV") == ("private", "sensitivity")
    assert placed(owner, agent, content="mail zq@example.com") == ("private", "pii")
    for place in (
        {"visibility": "public"},
        {"visibility": "private"},
        {"space": {"kind": "agent_public"}},
        {"space": {"kind": "user"}},
        {"scope": "org"},
    ):
        assert placed(owner, agent, **text, **place)[1] is None


@pytest.mark.amendment(7)
def test_no_pattern_makes_a_long_text_slow(host: Host) -> None:
    rules = [{"pattern": "(x+x+)+y", "visibility": "private"}]
    with host(visibility__rules=rules) as world:
        owner, agent = an_owner(world)
        began = time.process_time()
        assert placed(owner, agent, content="x" * 90_000)[0] == "public"
        assert time.process_time() - began < 30
