"""Who may change an agent, as a table."""

from datetime import UTC, datetime

import pytest

from recollect.agents.model import Agent
from recollect.agents.policy import may_change, may_hand_over
from recollect.identity.model import Caller
from recollect.kernel.ids import AgentId, OrgId
from recollect.kernel.owner import Owner

NOW = datetime(2030, 1, 1, tzinfo=UTC)
OLGA, CARL, MAX = Owner.user("olga"), Owner.user("carl"), Owner.user("max")
ITSELF = Owner.agent("guide")

# caller, is admin, owner of the agent → may change, may hand over
TABLE = [
    (OLGA, False, OLGA, True, True),
    (CARL, False, OLGA, False, False),
    (MAX, False, OLGA, False, False),
    (MAX, True, OLGA, True, True),
    (ITSELF, False, OLGA, False, False),
    (ITSELF, False, ITSELF, True, True),
    (CARL, False, ITSELF, True, False),
    (CARL, True, ITSELF, True, True),
    (MAX, False, ITSELF, False, False),
    (Owner.user("guide"), False, ITSELF, False, False),
    (Owner.user("agent:guide"), False, ITSELF, False, False),
    (Owner.agent("olga"), False, OLGA, False, False),
]


@pytest.mark.parametrize(("who", "admin", "owner", "changes", "hands_over"), TABLE)
def test_owner_and_admin_change_an_agent_and_its_creator_while_it_owns_itself(
    who: Owner, admin: bool, owner: Owner, changes: bool, hands_over: bool
) -> None:
    caller = Caller(who, admin=admin)
    assert may_change(caller, an_agent(owner)).allowed is changes
    assert may_hand_over(caller, an_agent(owner)).allowed is hands_over


def test_acting_for_the_owner_gives_no_right_on_the_registration() -> None:
    acting = Caller(ITSELF, acts_for_owner=True)
    assert not may_change(acting, an_agent(OLGA)).allowed
    assert not may_hand_over(acting, an_agent(OLGA)).allowed


def an_agent(owner: Owner) -> Agent:
    return Agent(
        id=AgentId("guide"),
        name=None,
        description=None,
        owner=owner,
        org_id=OrgId("default"),
        space_mode=None,
        created_by=CARL,
        created_at=NOW,
        updated_at=NOW,
    )
