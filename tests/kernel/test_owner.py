"""Agent ids and owners: what is refused, what is made from a name, and how an owner is spelled."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.errors import InvalidInput, ValidationFailed
from recollect.kernel.owner import (
    Owner,
    OwnerKind,
    make_agent_id,
    parse_agent_id,
    parse_owner,
    random_suffix,
)

ID_CHARACTERS = "ABCZabcz019_-"
suffixes = st.text("abcxyz0189", min_size=5, max_size=5)
agent_ids = st.text(ID_CHARACTERS, min_size=1, max_size=64).filter(
    lambda text: not re.search("-(private|public)$|-public-(org|team)-", text)
)
user_ids = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=255).filter(
    lambda text: not text.startswith("agent:")
)


def refusal(text: str) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        parse_agent_id(text, "agent_id")
    return caught.value


@pytest.mark.parametrize(
    "text",
    ["a", "A", "0", "_", "-", "assistant-001", "Foo_Bar-9", "a" * 64, "private", "public", "-org-"],
)
def test_an_id_of_letters_digits_hyphens_and_underscores_is_taken_as_it_is(text: str) -> None:
    assert parse_agent_id(text) == text


@pytest.mark.parametrize(
    "text",
    ["", "a b", "a/b", "a.b", "a:b", "é", "a\n", "a\x00", "a" * 65, "１", "ſ", "agent:a"],
)
def test_other_characters_and_lengths_are_refused_and_the_field_is_named(text: str) -> None:
    error = refusal(text)
    assert isinstance(error, ValidationFailed)
    assert error.code == "validation_error"
    assert [violation.field for violation in error.violations] == ["agent_id"]


@pytest.mark.parametrize(
    "text",
    [
        "foo-private",
        "foo-public",
        "-public",
        "a-public-org-b",
        "a-public-team-b",
        "-public-org-",
        "a-public-org-",
        "x-private-public",
    ],
)
def test_an_id_that_could_pass_for_a_space_is_reserved(text: str) -> None:
    error = refusal(text)
    assert error.code == "agent_id_reserved"
    assert error.details is not None
    assert error.details["field"] == "agent_id"


@pytest.mark.parametrize(
    "text",
    [
        "foo-publics",
        "foopublic",
        "foo-public-x",
        "foo_public",
        "foo-Public",
        "a-public-organ",
        "a-public-org",
        "a-public-team",
        "foo-private-x",
        "a-public_org-b",
    ],
)
def test_what_only_resembles_a_reserved_form_is_taken(text: str) -> None:
    assert parse_agent_id(text) == text


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("Billing Helper", "billing-helper-a1b2c"),
        ("Dr. Who", "dr--who-a1b2c"),
        ("snake_case-ok", "snake_case-ok-a1b2c"),
        ("ÉTÉ", "-t--a1b2c"),
        ("日本", "---a1b2c"),
        ("", "agent-a1b2c"),
        (None, "agent-a1b2c"),
        ("foo-public", "foo-public-a1b2c"),
        ("x" * 100, "x" * 58 + "-a1b2c"),
        ("Our public org bot", "our-public_org-bot-a1b2c"),
        ("Our public team", "our-public_team-a1b2c"),
    ],
)
def test_an_id_is_made_from_the_name_and_a_suffix(name: str | None, made: str) -> None:
    assert make_agent_id(name, lambda: "a1b2c") == made


@given(st.none() | st.text() | st.text("-publicorgteam ", max_size=80), suffixes)
def test_a_made_id_is_always_a_good_id_in_lower_case(name: str | None, suffix: str) -> None:
    made = make_agent_id(name, lambda: suffix)
    assert parse_agent_id(made) == made
    assert made == made.lower()
    assert made.endswith(f"-{suffix}")


def test_a_random_suffix_has_five_of_a_to_z_and_digits_and_differs() -> None:
    drawn = {random_suffix() for _ in range(50)}
    assert all(re.fullmatch("[a-z0-9]{5}", suffix) for suffix in drawn)
    assert len(drawn) > 45


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("ann", Owner(OwnerKind.USER, "ann")),
        ("agent:ann", Owner(OwnerKind.AGENT, "ann")),
        ("Agent:ann", Owner(OwnerKind.USER, "Agent:ann")),
        ("user:ann", Owner(OwnerKind.USER, "user:ann")),
        ("agentann", Owner(OwnerKind.USER, "agentann")),
        ("ann@example.org", Owner(OwnerKind.USER, "ann@example.org")),
    ],
)
def test_agent_and_a_colon_name_an_agent_and_all_else_a_user(text: str, owner: Owner) -> None:
    assert parse_owner(text) == owner
    assert owner.spelling == text


def test_a_user_and_an_agent_of_one_id_are_two() -> None:
    assert Owner.user("ann") != Owner.agent("ann")
    assert Owner.user("ann") != Owner.user("Ann")


@given(st.builds(Owner.user, user_ids) | st.builds(Owner.agent, agent_ids))
def test_a_spelling_gives_its_owner_back(owner: Owner) -> None:
    assert parse_owner(owner.spelling) == owner


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a" * 256,
        "a\nb",
        "a\x00",
        "a\x85",
        "\ud800",
        "agent:",
        "agent:a b",
        "agent:agent:a",
        "agent:" + "a" * 65,
        "agent:foo-public",
    ],
)
def test_a_bad_owner_is_refused_and_the_field_is_named(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^owner_id: "):
        parse_owner(text)


def test_long_hostile_text_is_judged_at_once() -> None:
    started = time.process_time()
    for piece in ("-public-", "-public-org-", "-", "İ", "a"):
        text = piece * (100_000 // len(piece))
        made = make_agent_id(text, lambda: "a1b2c")
        assert len(made) <= 64
        refusal(text)
        with pytest.raises(InvalidInput):
            parse_owner(text)
    assert time.process_time() - started < 1
