"""What spaces with unknown readers take: an agent's public space, its only one, and an org's."""

from recollect.kernel.errors import InvalidInput
from recollect.kernel.retention_rules import PiiRisk
from recollect.kernel.space import OPEN_KINDS, SpaceKind

# Spaces that strangers read. They are looked at hardest.
PUBLIC_KINDS = frozenset({SpaceKind.AGENT_PUBLIC, SpaceKind.AGENT})

_PRIVATE_SPACE = 'the agent\'s private space (`visibility: "private"`)'
_USER_SPACE = 'a user\'s own (`space: {"kind": "user"}`) takes it'
# An agent in single mode has no private space.
_ADVICE = {
    SpaceKind.AGENT_PUBLIC: f"{_PRIVATE_SPACE} or {_USER_SPACE}",
    SpaceKind.AGENT: _USER_SPACE,
    SpaceKind.ORG: f"{_PRIVATE_SPACE} or {_USER_SPACE}",
}


def refused_risk(kind: SpaceKind) -> PiiRisk | None:
    """The risk of personal data from which on a space of this kind refuses it; None: it takes
    all."""
    if kind in PUBLIC_KINDS:
        return PiiRisk.HIGH
    return PiiRisk.CRITICAL if kind in OPEN_KINDS else None


def check_content_fits(kind: SpaceKind, *, public: bool, risk: PiiRisk | None) -> None:
    """Raise InvalidInput if the content may not go to an open space.

    Such a space takes no personal data from `refused_risk` on, and only memories of sensitivity
    `public`. `risk` is the highest of the memory; None without personal data. It comes first, since
    it often is the reason why a memory is not public.
    """
    least = refused_risk(kind)
    if least is None:
        return
    if risk is not None and risk >= least:
        raise InvalidInput(
            f"pii_tags: personal data of {risk.label} risk does not go to a space of kind `{kind}`;"
            f" {_ADVICE[kind]}",
            field="pii_tags",
            code="pii_not_allowed",
        )
    if not public:
        raise InvalidInput(
            f"sensitivity: only `public` memories go to a space of kind `{kind}`; {_ADVICE[kind]}",
            field="sensitivity",
            code="sensitivity_not_allowed",
        )
