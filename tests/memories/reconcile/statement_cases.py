"""Statements for the tests of reconciliation. Q is spoken of; P and S are others."""

from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import TrustLevel
from recollect.memories.reconcile.rules import StatementNeighbour
from recollect.memories.supersede.rules import StatementFacts

P, Q, S = "person-p", "person-q", "person-s"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
IN_P, IN_Q = Space(SpaceKind.USER, "p"), Space(SpaceKind.USER, "q")
IN_G1, IN_G2 = Space(SpaceKind.CHAT, "g1"), Space(SpaceKind.CHAT, "g2")
IN_PUBLIC = Space(SpaceKind.AGENT_PUBLIC, "a")


def said(
    content: str, *, by: str | None = Q, about: tuple[str, ...] = (Q,), **facts: Any
) -> StatementFacts:
    """A new statement of today in G1, by default of Q about Q, with the trust that follows."""
    subjects = frozenset(about)
    heard = TrustLevel.FACT if by in subjects or not subjects else TrustLevel.HEARSAY
    given: dict[str, Any] = {
        "id": "new",
        "space": IN_G1,
        "observed_at": NOW,
        "trust": heard if by else TrustLevel.UNKNOWN,
    }
    return StatementFacts(content=content, stated_by=by, subjects=subjects, **{**given, **facts})


def known(content: str, similarity: float = 0.9, **facts: Any) -> StatementNeighbour:
    """A neighbour of yesterday."""
    return StatementNeighbour(
        said(content, **{"id": "old", "observed_at": NOW - DAY, **facts}), similarity
    )
