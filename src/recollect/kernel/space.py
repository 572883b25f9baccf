"""Spaces: where a memory is stored, and how a request names its space.

A space is stored as its kind and id. `group_id` is built for responses and never parsed. Who may
read and write a space is decided in `identity/space_policy.py`.

The space of a request is resolved in two steps, because other checks come in between:
`parse_space_request` looks at the request alone (422); then the agent is looked up (404) and the
right to write is checked (403); then `resolve_space` uses the agent's mode and org (422, 403).
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from recollect.kernel.errors import Forbidden, InvalidInput, ValidationFailed
from recollect.kernel.ids import AgentId, ChatId, OrgId, parse_uuid
from recollect.kernel.owner import Owner, OwnerKind
from recollect.kernel.retention_rules import MemoryScope

DEFAULT_ORG = OrgId("default")


class SpaceKind(StrEnum):
    """The kinds of spaces."""

    AGENT_PRIVATE = "agent_private"
    AGENT_PUBLIC = "agent_public"
    AGENT = "agent"
    USER = "user"
    CHAT = "chat"
    RUN = "run"
    ORG = "org"


class Visibility(StrEnum):
    """Whether anyone may read an agent's space. Other spaces have no visibility."""

    PUBLIC = "public"
    PRIVATE = "private"


class SpaceMode(StrEnum):
    """An agent has a private and a public space, or a single one that anyone may read."""

    DUAL = "dual"
    SINGLE = "single"


AGENT_KINDS = frozenset({SpaceKind.AGENT_PRIVATE, SpaceKind.AGENT_PUBLIC, SpaceKind.AGENT})
# Spaces whose readers the writer can't know: nothing personal, sensitive or critical goes there.
OPEN_KINDS = frozenset({SpaceKind.AGENT_PUBLIC, SpaceKind.AGENT, SpaceKind.ORG})
# Ways to say where a memory is kept, for a caller who said nothing.
_PLACES = (
    'space: {"kind": "user"}',
    'space: {"kind": "chat", "id": "…"}',
    "agent_id",
    'agent_id, run_id and scope: "session"',
    'agent_id and scope: "org"',
)
_NO_PLACE = (
    f"is missing: where is it kept? `{_PLACES[0]}` is your own space; others are a chat's, an"
    " agent's, a run's and an org's: " + ", ".join(f"`{place}`" for place in _PLACES[1:])
)
_NEED_AGENT = AGENT_KINDS | {SpaceKind.RUN, SpaceKind.ORG}

_GROUP_IDS = {
    SpaceKind.AGENT_PRIVATE: "agent-{}-private",
    SpaceKind.AGENT_PUBLIC: "agent-{}-public",
    SpaceKind.AGENT: "agent-{}",
    SpaceKind.USER: "user-{}",
    SpaceKind.CHAT: "chat-{}",
    SpaceKind.RUN: "run-{}",
    SpaceKind.ORG: "org-{}",
}
_SCOPES = {SpaceKind.RUN: MemoryScope.SESSION, SpaceKind.ORG: MemoryScope.ORG}
_KINDS_OF_DUAL_MODE = {
    Visibility.PRIVATE: SpaceKind.AGENT_PRIVATE,
    Visibility.PUBLIC: SpaceKind.AGENT_PUBLIC,
}
DEFAULT_VISIBILITY = "default"
_VISIBILITIES = {
    SpaceKind.AGENT_PRIVATE: Visibility.PRIVATE,
    SpaceKind.AGENT_PUBLIC: Visibility.PUBLIC,
    SpaceKind.AGENT: Visibility.PUBLIC,
}


@dataclass(frozen=True, slots=True)
class Space:
    """A space of memories. The id is that of its agent, user, chat, run or org."""

    kind: SpaceKind
    id: str

    @property
    def group_id(self) -> str:
        """The name in responses. Two spaces may share one, so nothing is looked up by it."""
        return _GROUP_IDS[self.kind].format(self.id)

    @property
    def scope(self) -> MemoryScope:
        return scope_for_kind(self.kind)

    @property
    def visibility(self) -> Visibility | None:
        """The visibility of an agent's space; None for other spaces."""
        return _VISIBILITIES.get(self.kind)


@dataclass(frozen=True, slots=True)
class SpaceName:
    """The field `space` of a request. The id of a chat is normalized."""

    kind: SpaceKind
    id: str | None = None

    def __post_init__(self) -> None:
        if self.kind is SpaceKind.CHAT and self.id is not None:
            object.__setattr__(self, "id", to_chat_id(self.id))


@dataclass(frozen=True, slots=True)
class SpaceRequest:
    """The fields of a write that decide its space. `has_key` marks a record."""

    agent_id: AgentId | None = None
    visibility: Visibility | None = None
    scope: MemoryScope | None = None
    run_id: str | None = None
    space: SpaceName | None = None
    has_key: bool = False

    @property
    def names_no_place(self) -> bool:
        """Whether nothing in it says where to write."""
        sent = (self.space, self.agent_id, self.visibility, self.scope, self.run_id)
        return all(one is None for one in sent)


@dataclass(frozen=True, slots=True)
class MatchedRule:
    """The rule of the server that matched a text. Rules are counted from 1."""

    number: int
    visibility: Visibility


@dataclass(frozen=True, slots=True)
class RequestedSpace:
    """The space that a request asks for, before its agent is looked up.

    `kind` is that of dual mode. `named` means that the caller wrote the kind in `space`. `id` is
    the sent `space.id`, or the run's id; empty if there was none, but never for a chat or run.

    `visibility_by` says what decided the visibility of an agent's space if the request did not:
    `default`, `record` or `scope`. `rule` matched the text; it counts in dual mode only.
    """

    kind: SpaceKind
    id: str = ""
    agent_id: AgentId | None = None
    named: bool = False
    visibility_by: str | None = None
    rule: MatchedRule | None = None

    def with_visibility(
        self, default: Visibility, rule: MatchedRule | None = None
    ) -> "RequestedSpace":
        """The space by the server's default and by the rule that matched. Unchanged unless the
        default decides."""
        if self.visibility_by != DEFAULT_VISIBILITY:
            return self
        return replace(self, kind=_KINDS_OF_DUAL_MODE[default], rule=rule)

    def visibility_reason(self, mode: SpaceMode) -> str | None:
        """What decided the visibility, as writers are told it; None if the request did, or if the
        space has none."""
        if self.rule is not None and mode is SpaceMode.DUAL:
            return f"rule:{self.rule.number}"
        return self.visibility_by


def to_chat_id(text: str) -> ChatId:
    """The normalized id of a chat. Conversations are chats, and their UUIDs come in any letter
    case, so no two chats may have ids that differ in letter case alone."""
    return ChatId(parse_uuid(text) or text)


def effective_mode(own: SpaceMode | None, default: SpaceMode) -> SpaceMode:
    """An agent's own mode, else the server's. It decides where new writes go; stored rows stay."""
    return own or default


def agent_spaces(agent_id: AgentId) -> tuple[Space, ...]:
    """All spaces that may hold rows of an agent: changing the mode moves none, so reads try all."""
    return tuple(Space(kind, agent_id) for kind in SpaceKind if kind in AGENT_KINDS)


def space_for(
    request: SpaceRequest, mode: SpaceMode, *, requester: Owner, org_id: OrgId | None = None
) -> Space:
    """Both steps in one, for callers with nothing to check in between."""
    return resolve_space(parse_space_request(request), mode, requester=requester, org_id=org_id)


def parse_space_request(request: SpaceRequest) -> RequestedSpace:
    """The space that a request asks for. ValidationFailed if its fields contradict each other or
    one is missing."""
    requested = (
        _space_from_fields(request)
        if request.space is None
        else _space_from_name(request, request.space)
    )
    if requested.kind in _NEED_AGENT and requested.agent_id is None:
        if request.names_no_place:
            raise ValidationFailed.for_field("space", _NO_PLACE, allowed=_PLACES)
        raise ValidationFailed.for_field(
            "agent_id", f"is needed for a space of kind `{requested.kind}`"
        )
    return requested


def resolve_space(
    requested: RequestedSpace, mode: SpaceMode, *, requester: Owner, org_id: OrgId | None = None
) -> Space:
    """The space of a write. `mode` and `org_id` are those of the agent that the request names.

    Whether the requester may write to a chat is not checked here: that needs its participants.
    """
    if requested.kind in AGENT_KINDS and requested.agent_id is not None:
        return _agent_space(requested, requested.agent_id, mode)
    if requested.kind is SpaceKind.USER:
        return _user_space(requested, requester)
    if requested.kind is SpaceKind.ORG:
        return _org_space(requested, org_id)
    return Space(requested.kind, requested.id)


# Without `space`, the fields decide in this order:
#   scope `session`                     the run's space (needs run_id and agent_id)
#   scope `org`                         the space of the agent's org
#   visibility `private`                the agent's private space
#   visibility `public`                 the agent's public space
#   a scope or a key, no visibility     the agent's private space
#   none of them                        the agent's public space, or what `with_visibility` says
def _space_from_fields(request: SpaceRequest) -> RequestedSpace:
    """The space of a request without `space`: visibility, scope, run and key decide."""
    if request.run_id is not None and request.scope is None:
        # A run id alone may mean the run's own space or a lasting one: we don't guess.
        scopes = list(MemoryScope)
        raise ValidationFailed.for_field("scope", "is required with `run_id`", allowed=scopes)
    if request.scope is MemoryScope.SESSION:
        _refuse_visibility(request, SpaceKind.RUN)
        return RequestedSpace(SpaceKind.RUN, _require_run_id(request), request.agent_id)
    if request.scope is MemoryScope.ORG:
        _refuse_visibility(request, SpaceKind.ORG)
        return RequestedSpace(SpaceKind.ORG, agent_id=request.agent_id)
    if request.visibility is not None:
        kind = _KINDS_OF_DUAL_MODE[request.visibility]
        return RequestedSpace(kind, agent_id=request.agent_id)
    by = "scope" if request.scope is not None else "record" if request.has_key else None
    kind = SpaceKind.AGENT_PRIVATE if by else SpaceKind.AGENT_PUBLIC
    return RequestedSpace(kind, agent_id=request.agent_id, visibility_by=by or DEFAULT_VISIBILITY)


def _space_from_name(request: SpaceRequest, name: SpaceName) -> RequestedSpace:
    """The space of a request with `space`: the other fields must not contradict it."""
    if request.visibility not in (None, _VISIBILITIES.get(name.kind)):
        raise _contradiction_error("visibility", name.kind)
    if request.scope not in (None, scope_for_kind(name.kind)):
        raise _contradiction_error("scope", name.kind)
    if request.run_id is not None and name.kind is not SpaceKind.RUN:
        raise _contradiction_error("run_id", name.kind)
    return RequestedSpace(
        name.kind, _space_id_from_name(request, name), request.agent_id, named=True
    )


def _space_id_from_name(request: SpaceRequest, name: SpaceName) -> str:
    if name.id == "":
        raise ValidationFailed.for_field("space.id", "must not be empty")
    if name.kind is SpaceKind.RUN:
        if name.id is not None and request.run_id not in (None, name.id):
            raise _contradiction_error("run_id", name.kind)
        return name.id or _require_run_id(request)
    if name.kind is SpaceKind.CHAT and name.id is None:
        raise ValidationFailed.for_field("space.id", "is needed: which chat?")
    if name.kind in AGENT_KINDS and name.id not in (None, request.agent_id):
        raise ValidationFailed.for_field(
            "space.id", "must be the `agent_id` of the request, or absent"
        )
    return name.id or ""


def _require_run_id(request: SpaceRequest) -> str:
    if not request.run_id:
        raise ValidationFailed.for_field(
            "run_id", "is needed for the scope `session`, and not empty"
        )
    return request.run_id


def _refuse_visibility(request: SpaceRequest, kind: SpaceKind) -> None:
    if request.visibility is not None:
        raise _contradiction_error("visibility", kind)


def _contradiction_error(field: str, kind: SpaceKind) -> ValidationFailed:
    return ValidationFailed.for_field(field, f"contradicts a space of kind `{kind}`")


def _agent_space(requested: RequestedSpace, agent_id: AgentId, mode: SpaceMode) -> Space:
    if mode is SpaceMode.SINGLE and requested.kind is SpaceKind.AGENT_PRIVATE:
        raise _private_unavailable_error(requested)
    if requested.named:
        _check_kind_of_mode(requested.kind, mode)
    if mode is SpaceMode.SINGLE:
        return Space(SpaceKind.AGENT, agent_id)
    rule = requested.rule
    return Space(_KINDS_OF_DUAL_MODE[rule.visibility] if rule else requested.kind, agent_id)


def _check_kind_of_mode(kind: SpaceKind, mode: SpaceMode) -> None:
    """A caller who names a kind gets that kind or an error, never a similar one."""
    if kind is SpaceKind.AGENT and mode is SpaceMode.DUAL:
        raise ValidationFailed.for_field(
            "space.kind", "this agent is in dual mode: `agent_private` or `agent_public`"
        )
    if kind is SpaceKind.AGENT_PUBLIC and mode is SpaceMode.SINGLE:
        raise ValidationFailed.for_field("space.kind", "this agent is in single mode: `agent`")


def _private_unavailable_error(requested: RequestedSpace) -> InvalidInput:
    """The error for a private write in single mode: it must not become public silently."""
    field, other = "visibility", '`visibility: "public"`'
    if requested.named:
        field, other = "space.kind", "the kind `agent`"
    text = f"an agent in single mode has no private space; send {other} if anyone may read it"
    return InvalidInput(f"{field}: {text}", field=field, code="private_unavailable")


def _user_space(requested: RequestedSpace, requester: Owner) -> Space:
    if requester.kind is not OwnerKind.USER:
        raise _not_owner_error("space.kind", "an agent has no user space")
    if requested.id not in ("", requester.id):
        raise _not_owner_error("space.id", "only the user's own space can be written")
    return Space(SpaceKind.USER, requester.id)


def _not_owner_error(field: str, message: str) -> Forbidden:
    text = f"{field}: {message}"
    return Forbidden(text, code="not_owner", details={"message": text, "field": field})


def _org_space(requested: RequestedSpace, org_id: OrgId | None) -> Space:
    if org_id is None:
        raise ValidationFailed.for_field("scope", "this agent belongs to no org")
    if requested.id not in ("", org_id):
        raise ValidationFailed.for_field("space.id", "must be the org of the agent, or absent")
    return Space(SpaceKind.ORG, org_id)


def scope_for_kind(kind: SpaceKind) -> MemoryScope:
    """Session for runs, org for orgs, long-term for all other kinds."""
    return _SCOPES.get(kind, MemoryScope.LONG_TERM)
