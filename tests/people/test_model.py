"""People: how names compare, what their fields may hold, and which two may become one."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.errors import Conflict, ValidationFailed
from recollect.kernel.ids import OrgId, PersonId, UserId
from recollect.kernel.owner import Owner
from recollect.people.model import (
    MergePlan,
    Person,
    check_alias,
    check_alias_count,
    check_person_name,
    check_relationship,
    check_time_zone,
    is_address,
    is_auto_mergeable,
    is_self,
    normal_form,
    plan_merge,
)
from recollect.people.relationship_words import (
    find_relationship,
    relationship_key,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ANN = Owner.user("ann")

spelled = st.lists(
    st.sampled_from(["My", "the", "@", " ", "\t", "Bob", "ﬁ", "İ", "ß", "é", "@@", "＠", "\u0345"]),
    max_size=8,
).map("".join)
names = st.text(max_size=30) | spelled


def a_person(
    id_: str = "p1", name: str = "Bob", *users: str, by: Owner = ANN, org: str = "acme"
) -> Person:
    return Person(
        id=PersonId(id_),
        name=name,
        user_ids=tuple(map(UserId, users)),
        created_by=by,
        orgs=frozenset({OrgId(org)}),
        created_at=NOW,
        updated_at=NOW,
    )


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Bob", "bob"),
        ("  Ann \t  Lee\n", "ann lee"),
        ("my Wife", "wife"),
        ("The Boss", "boss"),
        ("@Q", "q"),
        ("@ q", "q"),
        ("＠Ｑ", "q"),
        ("my the @@q", "q"),
        ("@my bob", "bob"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ﬁona", "fiona"),
        ("Mia\u00a0Ray", "mia ray"),
        ("e\u0301va", "\u00e9va"),
        ("Theodore", "theodore"),
        ("Myra", "myra"),
        ("Tom the Cat", "tom the cat"),
        ("My", "my"),
        ("the the", "the"),
        ("@", "@"),
        ("   ", ""),
    ],
)
def test_names_are_compared_in_normal_form(name: str, form: str) -> None:
    assert normal_form(name) == form


@given(names)
def test_a_normal_form_is_its_own_and_is_never_lost(name: str) -> None:
    form = normal_form(name)
    assert normal_form(form) == form
    assert bool(form) == bool(name.split())


@given(names)
def test_spaces_and_leading_words_make_no_other_name(name: str) -> None:
    if name.split():
        form = normal_form(name)
        assert normal_form(f"  my {name}\n") == form
        assert normal_form(f"@{name}") == form


@given(st.text("abyzMTHE @", max_size=12))
def test_letter_case_makes_no_other_name(name: str) -> None:
    assert normal_form(name.upper()) == normal_form(name.lower()) == normal_form(name)


@pytest.mark.parametrize("word", ["I", "i", "me", "Me", " MYSELF ", "ｍｅ"])
def test_these_words_mean_the_speaker(word: str) -> None:
    assert is_self(word)


@pytest.mark.parametrize("word", ["@me", "my", "mine", "Ian", "my me", "me too", ""])
def test_other_words_do_not_mean_the_speaker(word: str) -> None:
    assert not is_self(word)


@pytest.mark.parametrize("name", ["@anna", "my @anna", "＠anna", "@ anna", "a@b.example"])
def test_an_at_sign_makes_an_address(name: str) -> None:
    assert is_address(name)


@pytest.mark.parametrize(
    "name", ["Anna", "J. R.", "my wife", "anna_k", "anna7", "李明", "@", "a @ b"]
)
def test_a_bare_name_is_no_address(name: str) -> None:
    assert not is_address(name)


@pytest.mark.parametrize(
    ("words", "relationship"),
    [
        ("my wife", "wife"),
        ("Mom", "mother"),
        ("our mum", "mother"),
        ("Q is my business partner", "business partner"),
        ("the partner's launch", "partner"),
        ("my best friend Ann", "best friend"),
        ("a friend", "friend"),
        ("my mother-in-law", "mother in law"),
        ("my ex-wife", "ex wife"),
        ("co-worker", "coworker"),
        ("neighbor", "neighbour"),
        ("SON", "son"),
        ("Parsons", None),
        ("Mr. Sonders", None),
        ("bossy", None),
        ("momentum", None),
        ("snow_boss", "boss"),
        ("Bob", None),
        ("", None),
    ],
)
def test_relationship_words_match_as_whole_words(words: str, relationship: str | None) -> None:
    assert find_relationship(words) == relationship


@given(st.sampled_from(["son", "boss", "mom", "friend"]), st.text("abcxyz", min_size=1))
def test_letters_around_it_make_another_word(word: str, letters: str) -> None:
    assert find_relationship(f"q{letters}{word}") is None
    assert find_relationship(f"{word}{letters}q") is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("my Mom", "mother", True),
        ("co-worker", "the coworker", True),
        ("Therapist", "my therapist", True),
        ("chess rival", "Chess  Rival", True),
        ("partner", "business partner", False),
        ("wife", "wife's mother", False),
        ("mother", "mother-in-law", False),
        ("coworker Ann", "coworker", False),
    ],
)
def test_relationships_are_equal_as_a_whole_or_not_at_all(one: str, other: str, same: bool) -> None:
    assert (relationship_key(one) == relationship_key(other)) == same


@pytest.mark.parametrize(
    ("field", "check"),
    [
        ("name", lambda: check_person_name("")),
        ("name", lambda: check_person_name("n" * 256)),
        ("name", lambda: check_person_name(" \t\x01 ")),
        ("name", lambda: check_person_name("a\x00b")),
        ("value", lambda: check_alias("", None)),
        ("value", lambda: check_alias("v" * 256, "slack")),
        ("aliases[3]", lambda: check_alias(" ", None, field_name="aliases[3]")),
        ("provider", lambda: check_alias("v", "")),
        ("provider", lambda: check_alias("v", "p" * 101)),
        ("aliases", lambda: check_alias_count(51)),
        ("relationship", lambda: check_relationship("")),
        ("relationship", lambda: check_relationship("  ")),
        ("relationship", lambda: check_relationship("r" * 101)),
        ("time_zone", lambda: check_time_zone("")),
        ("time_zone", lambda: check_time_zone("Mars/Olympus")),
        ("time_zone", lambda: check_time_zone("europe/lisbon")),
        ("time_zone", lambda: check_time_zone("../UTC")),
        ("time_zone", lambda: check_time_zone("Europe")),
        ("time_zone", lambda: check_time_zone("localtime")),
        ("time_zone", lambda: check_time_zone("UTC\x00")),
    ],
)
def test_a_field_out_of_bounds_is_named(field: str, check: Callable[[], None]) -> None:
    with pytest.raises(ValidationFailed) as caught:
        check()
    assert [violation.field for violation in caught.value.violations] == [field]


def test_what_reaches_the_bounds_is_taken() -> None:
    check_person_name("n" * 255)
    check_person_name("x")
    check_alias("@" * 255, "p" * 100)
    check_alias("x", None)
    check_alias_count(50)
    check_relationship("r" * 100)
    for zone in ("UTC", "Europe/Lisbon", "America/Argentina/Ushuaia"):
        check_time_zone(zone)


def test_a_refusal_never_repeats_the_text() -> None:
    with pytest.raises(ValidationFailed) as caught:
        check_time_zone("Hidden/Words")
    assert "Hidden" not in f"{caught.value.message}{caught.value.details}"


def test_one_person_is_not_merged_with_itself() -> None:
    assert refusal(a_person("p1"), a_person("p1")) == "same_person"
    assert refusal(a_person("p1", "Bob", "u1"), a_person("p1", "Bob", "u1")) == "same_person"


def test_people_of_two_users_stay_two() -> None:
    one, other = a_person("p1", "Bob", "u1"), a_person("p2", "Bob", "u2")
    assert refusal(one, other) == "both_users"
    assert refusal(one, other, link_users=True) == "both_users"
    assert refusal(one, other, admin=True) == "both_users"


def test_an_admin_may_say_that_two_users_are_one_human() -> None:
    one, other = a_person("p1", "Bob", "u1"), a_person("p2", "Bob", "u2", "u3")
    plan = plan_merge(one, other, link_users=True, admin=True)
    assert plan == MergePlan(one.id, other.id, (UserId("u2"), UserId("u3")))


def test_a_user_goes_along_with_the_person_who_is_merged_away() -> None:
    unlinked, linked = a_person("p1"), a_person("p2", "Rob", "u2")
    assert plan_merge(unlinked, linked).moved_user_ids == (UserId("u2"),)
    assert plan_merge(linked, unlinked).moved_user_ids == ()
    assert plan_merge(unlinked, a_person("p3")).moved_user_ids == ()


@pytest.mark.parametrize(
    ("other", "covered"),
    [
        (a_person("p2", " BOB "), True),
        (a_person("p1"), False),
        (a_person("p2", "Bobby"), False),
        (a_person("p2", "Bob", "u2"), False),
        (a_person("p2", by=Owner.agent("ann")), False),
        (a_person("p2", org="other"), False),
    ],
)
def test_only_equal_unlinked_people_of_one_creator_merge_unasked(
    other: Person, covered: bool
) -> None:
    assert is_auto_mergeable(a_person("p1"), other) == covered
    assert is_auto_mergeable(other, a_person("p1")) == covered


def refusal(
    primary: Person, secondary: Person, *, link_users: bool = False, admin: bool = False
) -> object:
    with pytest.raises(Conflict) as caught:
        plan_merge(primary, secondary, link_users=link_users, admin=admin)
    return (caught.value.details or {}).get("reason")
