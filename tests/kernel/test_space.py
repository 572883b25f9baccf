"""Spaces: their names in answers, how a request names one, and every refusal with its field."""

from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.errors import (
    Forbidden,
    InvalidInput,
    RecollectError,
    ValidationFailed,
)
from recollect.kernel.ids import AgentId, OrgId
from recollect.kernel.open_spaces import check_content_fits
from recollect.kernel.owner import Owner
from recollect.kernel.retention_rules import MemoryScope, PiiRisk
from recollect.kernel.space import (
    Space,
    SpaceKind,
    SpaceMode,
    SpaceName,
    SpaceRequest,
    Visibility,
    agent_spaces,
    effective_mode,
    parse_space_request,
    resolve_space,
    space_for,
    to_chat_id,
)

A = AgentId("A")
ANN = Owner.user("ann")
ACME = OrgId("acme")
SESSION, LONG_TERM, ORG = MemoryScope.SESSION, MemoryScope.LONG_TERM, MemoryScope.ORG
PUBLIC, PRIVATE = Visibility.PUBLIC, Visibility.PRIVATE
DUAL, SINGLE = SpaceMode.DUAL, SpaceMode.SINGLE
FIELDS = {"agent_id", "visibility", "scope", "run_id", "space", "space.id", "space.kind"}


def group_of(request: SpaceRequest, mode: SpaceMode = DUAL, requester: Owner = ANN) -> str:
    return space_for(request, mode, requester=requester, org_id=ACME).group_id


def refusal(
    request: SpaceRequest, mode: SpaceMode = DUAL, requester: Owner = ANN
) -> tuple[type[RecollectError], str, str]:
    """Kind, code and field of the error."""
    with pytest.raises(RecollectError) as caught:
        space_for(request, mode, requester=requester, org_id=ACME)
    return type(caught.value), caught.value.code, field_of(caught.value)


def outcome(request: SpaceRequest, mode: SpaceMode) -> Space | RecollectError:
    try:
        return space_for(request, mode, requester=ANN, org_id=ACME)
    except RecollectError as error:
        return error


def field_of(error: RecollectError) -> str:
    if isinstance(error, ValidationFailed):
        return error.violations[0].field
    assert error.details is not None
    return str(error.details["field"])


# group_id, scope and visibility of the space `X` of each kind.
KINDS = """
agent_private  agent-X-private  long_term  private
agent_public   agent-X-public   long_term  public
agent          agent-X          long_term  public
user           user-X           long_term  None
chat           chat-X           long_term  None
run            run-X            session    None
org            org-X            org        None
"""


@pytest.mark.parametrize(
    ("kind", "group_id", "scope", "visibility"),
    [line.split() for line in KINDS.split("\n") if line],
)
def test_a_space_has_a_name_a_scope_and_perhaps_a_visibility(
    kind: str, group_id: str, scope: str, visibility: str
) -> None:
    space = Space(SpaceKind(kind), "X")
    assert (space.group_id, space.scope, str(space.visibility)) == (group_id, scope, visibility)


def test_every_kind_is_in_the_table() -> None:
    assert {line.split()[0] for line in KINDS.split("\n") if line} == set(SpaceKind)


@given(st.sampled_from(SpaceKind), st.text())
def test_a_name_holds_the_id_as_it_is(kind: SpaceKind, id_: str) -> None:
    assert id_ in Space(kind, id_).group_id


# How a request names a space: visibility, scope, run, key → group_id in dual and single mode.
MEMBERS = """
-        -          -    -    agent-A-public   agent-A
public   -          -    -    agent-A-public   agent-A
public   -          -    key  agent-A-public   agent-A
public   long_term  -    -    agent-A-public   agent-A
public   long_term  -    key  agent-A-public   agent-A
private  -          -    -    agent-A-private  422
private  -          -    key  agent-A-private  422
private  long_term  -    -    agent-A-private  422
-        long_term  -    -    agent-A-private  422
-        -          -    key  agent-A-private  422
-        long_term  -    key  agent-A-private  422
-        session    run  -    run-r1           run-r1
-        session    run  key  run-r1           run-r1
-        org        -    -    org-acme         org-acme
-        org        -    key  org-acme         org-acme
-        org        run  -    org-acme         org-acme
-        long_term  run  -    agent-A-private  422
"""


@pytest.mark.parametrize(
    ("visibility", "scope", "run", "key", "dual", "single"),
    [line.split() for line in MEMBERS.split("\n") if line],
)
def test_visibility_scope_run_and_key_name_a_space(
    visibility: str, scope: str, run: str, key: str, dual: str, single: str
) -> None:
    request = SpaceRequest(
        A,
        None if visibility == "-" else Visibility(visibility),
        None if scope == "-" else MemoryScope(scope),
        None if run == "-" else "r1",
        has_key=key == "key",
    )
    assert group_of(request, DUAL) == dual
    if single == "422":
        assert refusal(request, SINGLE) == (InvalidInput, "private_unavailable", "visibility")
    else:
        assert group_of(request, SINGLE) == single


@pytest.mark.parametrize(
    "request_", [SpaceRequest(A, scope=LONG_TERM), SpaceRequest(A, has_key=True)]
)
def test_who_did_not_speak_of_privacy_is_asked_for_an_explicit_public(
    request_: SpaceRequest,
) -> None:
    with pytest.raises(InvalidInput, match='`visibility: "public"`'):
        space_for(request_, SINGLE, requester=ANN)


@pytest.mark.parametrize("run_id", [None, ""])
@pytest.mark.parametrize("mode", SpaceMode)
def test_a_session_needs_a_run(run_id: str | None, mode: SpaceMode) -> None:
    by_scope = SpaceRequest(A, scope=SESSION, run_id=run_id)
    by_name = SpaceRequest(A, run_id=run_id, space=SpaceName(SpaceKind.RUN))
    for request in (by_scope, by_name):
        assert refusal(request, mode) == (ValidationFailed, "validation_error", "run_id")


@pytest.mark.parametrize(
    "request_",
    [
        SpaceRequest(visibility=PRIVATE),
        SpaceRequest(scope=ORG),
        SpaceRequest(scope=SESSION, run_id="r1"),
        SpaceRequest(space=SpaceName(SpaceKind.AGENT_PUBLIC)),
        SpaceRequest(space=SpaceName(SpaceKind.ORG, "acme")),
        SpaceRequest(space=SpaceName(SpaceKind.RUN, "r1")),
    ],
)
def test_agent_run_and_org_spaces_need_an_agent(request_: SpaceRequest) -> None:
    assert refusal(request_) == (ValidationFailed, "validation_error", "agent_id")


@pytest.mark.parametrize("request_", [SpaceRequest(), SpaceRequest(has_key=True)])
def test_a_request_without_any_place_is_told_the_places(request_: SpaceRequest) -> None:
    assert refusal(request_) == (ValidationFailed, "validation_error", "space")


# Space kind and id, other members → group_id in dual mode, or the field of the refusal.
NAMED: list[tuple[SpaceRequest, str]] = [
    (SpaceRequest(space=SpaceName(SpaceKind.USER)), "user-ann"),
    (SpaceRequest(space=SpaceName(SpaceKind.USER, "ann")), "user-ann"),
    (SpaceRequest(A, space=SpaceName(SpaceKind.USER)), "user-ann"),
    (SpaceRequest(scope=LONG_TERM, has_key=True, space=SpaceName(SpaceKind.USER)), "user-ann"),
    (SpaceRequest(space=SpaceName(SpaceKind.CHAT, "g1")), "chat-g1"),
    (SpaceRequest(A, scope=LONG_TERM, space=SpaceName(SpaceKind.CHAT, "g1")), "chat-g1"),
    (SpaceRequest(A, space=SpaceName(SpaceKind.AGENT_PRIVATE)), "agent-A-private"),
    (SpaceRequest(A, PRIVATE, space=SpaceName(SpaceKind.AGENT_PRIVATE, "A")), "agent-A-private"),
    (SpaceRequest(A, PUBLIC, space=SpaceName(SpaceKind.AGENT_PUBLIC)), "agent-A-public"),
    (SpaceRequest(A, has_key=True, space=SpaceName(SpaceKind.AGENT_PUBLIC)), "agent-A-public"),
    (SpaceRequest(A, space=SpaceName(SpaceKind.RUN, "r1")), "run-r1"),
    (SpaceRequest(A, run_id="r1", space=SpaceName(SpaceKind.RUN)), "run-r1"),
    (SpaceRequest(A, None, SESSION, "r1", SpaceName(SpaceKind.RUN, "r1")), "run-r1"),
    (SpaceRequest(A, space=SpaceName(SpaceKind.ORG)), "org-acme"),
    (SpaceRequest(A, None, ORG, space=SpaceName(SpaceKind.ORG, "acme")), "org-acme"),
]
CONTRADICTIONS: list[tuple[SpaceRequest, str]] = [
    (SpaceRequest(A, run_id="r1"), "scope"),
    (SpaceRequest(A, PUBLIC, run_id="r1"), "scope"),
    (SpaceRequest(A, PRIVATE, run_id="r1", has_key=True), "scope"),
    (SpaceRequest(visibility=PRIVATE, space=SpaceName(SpaceKind.USER)), "visibility"),
    (SpaceRequest(visibility=PUBLIC, space=SpaceName(SpaceKind.CHAT, "g1")), "visibility"),
    (SpaceRequest(A, PUBLIC, space=SpaceName(SpaceKind.AGENT_PRIVATE)), "visibility"),
    (SpaceRequest(A, PRIVATE, space=SpaceName(SpaceKind.AGENT_PUBLIC)), "visibility"),
    (SpaceRequest(A, PUBLIC, space=SpaceName(SpaceKind.ORG)), "visibility"),
    (SpaceRequest(A, PRIVATE, SESSION, "r1"), "visibility"),
    (SpaceRequest(A, PUBLIC, ORG), "visibility"),
    (SpaceRequest(A, None, SESSION, space=SpaceName(SpaceKind.USER)), "scope"),
    (SpaceRequest(A, None, ORG, space=SpaceName(SpaceKind.AGENT_PUBLIC)), "scope"),
    (SpaceRequest(A, None, LONG_TERM, space=SpaceName(SpaceKind.RUN, "r1")), "scope"),
    (SpaceRequest(A, None, LONG_TERM, space=SpaceName(SpaceKind.ORG)), "scope"),
    (SpaceRequest(A, run_id="r1", space=SpaceName(SpaceKind.CHAT, "g1")), "run_id"),
    (SpaceRequest(A, run_id="r2", space=SpaceName(SpaceKind.RUN, "r1")), "run_id"),
    (SpaceRequest(A, run_id="", space=SpaceName(SpaceKind.RUN, "r1")), "run_id"),
    (SpaceRequest(A, space=SpaceName(SpaceKind.AGENT_PUBLIC, "B")), "space.id"),
    (SpaceRequest(A, space=SpaceName(SpaceKind.ORG, "other")), "space.id"),
    (SpaceRequest(space=SpaceName(SpaceKind.CHAT)), "space.id"),
    (SpaceRequest(space=SpaceName(SpaceKind.USER, "")), "space.id"),
    (SpaceRequest(A, space=SpaceName(SpaceKind.AGENT)), "space.kind"),
]


@pytest.mark.parametrize(("request_", "group_id"), NAMED)
def test_space_names_a_space_and_the_other_members_may_say_the_same(
    request_: SpaceRequest, group_id: str
) -> None:
    assert group_of(request_) == group_id


@pytest.mark.parametrize(("request_", "field"), CONTRADICTIONS)
def test_a_request_that_says_two_things_is_refused(request_: SpaceRequest, field: str) -> None:
    assert refusal(request_) == (ValidationFailed, "validation_error", field)


def test_in_single_mode_a_spelled_out_kind_is_that_kind_or_refused() -> None:
    single = SpaceRequest(A, space=SpaceName(SpaceKind.AGENT))
    public = SpaceRequest(A, space=SpaceName(SpaceKind.AGENT_PUBLIC))
    private = SpaceRequest(A, space=SpaceName(SpaceKind.AGENT_PRIVATE))
    assert group_of(single, SINGLE) == "agent-A"
    assert refusal(public, SINGLE) == (ValidationFailed, "validation_error", "space.kind")
    assert refusal(private, SINGLE) == (InvalidInput, "private_unavailable", "space.kind")


def test_the_user_space_of_somebody_else_is_forbidden() -> None:
    other = SpaceRequest(space=SpaceName(SpaceKind.USER, "bob"))
    own = SpaceRequest(space=SpaceName(SpaceKind.USER))
    assert refusal(other) == (Forbidden, "not_owner", "space.id")
    assert refusal(own, requester=Owner.agent("ann")) == (Forbidden, "not_owner", "space.kind")


def test_an_agent_without_an_org_has_no_org_space() -> None:
    with pytest.raises(ValidationFailed, match=r"^scope: "):
        space_for(SpaceRequest(A, scope=ORG), DUAL, requester=ANN, org_id=None)


def test_what_the_request_alone_gets_wrong_is_refused_before_the_agent_is_known() -> None:
    contradiction = SpaceRequest(A, PUBLIC, space=SpaceName(SpaceKind.AGENT_PRIVATE))
    with pytest.raises(ValidationFailed):
        parse_space_request(contradiction)
    private = parse_space_request(SpaceRequest(A, PRIVATE))
    with pytest.raises(InvalidInput):
        resolve_space(private, SINGLE, requester=ANN)


visibilities = st.none() | st.sampled_from(Visibility)
requests = st.builds(
    SpaceRequest,
    agent_id=st.sampled_from([None, A]),
    visibility=visibilities,
    scope=st.none() | st.sampled_from(MemoryScope),
    run_id=st.sampled_from([None, "", "r1", "r2"]),
    space=st.none()
    | st.builds(
        SpaceName,
        st.sampled_from(SpaceKind),
        st.sampled_from([None, "", "A", "B", "ann", "r1", "acme"]),
    ),
    has_key=st.booleans(),
)
modes = st.sampled_from(SpaceMode)


@given(requests, modes)
def test_a_request_gets_one_space_that_says_what_it_said_or_a_refusal_with_a_field(
    request: SpaceRequest, mode: SpaceMode
) -> None:
    space = outcome(request, mode)
    if isinstance(space, RecollectError):
        assert field_of(space) in FIELDS
        return
    assert space.id
    assert request.visibility in (None, space.visibility)
    assert request.scope in (None, space.scope)
    if request.space is not None:
        assert request.space.kind is space.kind
        assert request.space.id in (None, space.id)


@given(requests, modes)
def test_nothing_is_public_unless_asked_or_a_plain_text(
    request: SpaceRequest, mode: SpaceMode
) -> None:
    space = outcome(request, mode)
    silent = request.space is None and request.visibility is None
    if silent and isinstance(space, Space) and space.visibility is PUBLIC:
        assert not request.has_key
        assert request.scope is None


def test_an_agents_own_mode_wins_over_the_servers() -> None:
    for own, default in product(SpaceMode, SpaceMode):
        assert effective_mode(own, default) is own
        assert effective_mode(None, default) is default


def test_a_switch_of_the_mode_leaves_old_rows_under_their_old_names() -> None:
    old = {space.group_id for space in agent_spaces(A)}
    assert old == {"agent-A-private", "agent-A-public", "agent-A"}


# The least risk of personal data that a space refuses.
REFUSED = {
    SpaceKind.AGENT_PUBLIC: PiiRisk.HIGH,
    SpaceKind.AGENT: PiiRisk.HIGH,
    SpaceKind.ORG: PiiRisk.CRITICAL,
}


@pytest.mark.parametrize("risk", [None, *PiiRisk])
@pytest.mark.parametrize("kind", SpaceKind)
def test_open_spaces_take_nothing_personal_and_no_risky_pii(
    kind: SpaceKind, risk: PiiRisk | None
) -> None:
    if kind not in REFUSED:
        check_content_fits(kind, public=False, risk=risk)
        return
    if risk is None or risk < REFUSED[kind]:
        check_content_fits(kind, public=True, risk=risk)
        with pytest.raises(InvalidInput) as personal:
            check_content_fits(kind, public=False, risk=risk)
        told = personal.value.code, field_of(personal.value)
        assert told == ("sensitivity_not_allowed", "sensitivity")
        return
    for public in (True, False):
        with pytest.raises(InvalidInput) as risky:
            check_content_fits(kind, public=public, risk=risk)
        assert (risky.value.code, field_of(risky.value)) == ("pii_not_allowed", "pii_tags")


@given(st.uuids().map(str), st.randoms())
def test_a_uuid_in_any_letter_case_names_one_chat(chat_id: str, random: Random) -> None:
    spelled = "".join(random.choice([one.lower(), one.upper()]) for one in chat_id)
    assert to_chat_id(spelled) == SpaceName(SpaceKind.CHAT, spelled).id == chat_id
    assert SpaceName(SpaceKind.USER, spelled).id == spelled


@pytest.mark.parametrize("chat_id", ["Room", "room", "A" * 32, "{A}", "agent:X"])
def test_other_ids_of_chats_stay_as_they_are(chat_id: str) -> None:
    assert to_chat_id(chat_id) == SpaceName(SpaceKind.CHAT, chat_id).id == chat_id
