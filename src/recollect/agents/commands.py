"""Typed commands: what a caller sends to register and change agents, and to start and end runs.

One declaration gives the OpenAPI schema, the parsing of REST and gRPC, and what the services take.
"""

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field

from recollect.agents.model import DESCRIPTION_CHARS_MAX
from recollect.agents.run import ERROR_CHARS_MAX
from recollect.http.bodies import StrictBody, exact_word
from recollect.http.operation import Id
from recollect.kernel.space import SpaceMode
from recollect.kernel.validation import NAME_CHARS_MAX

AgentName = Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX)]
Description = Annotated[str, Field(min_length=1, max_length=DESCRIPTION_CHARS_MAX)]
Mode = Annotated[SpaceMode, exact_word(SpaceMode)]


class RegisterAgent(StrictBody, title="NewAgent"):
    """An agent to register; without an id one is made from its name."""

    id: Id | None = None
    name: AgentName | None = None
    description: Description | None = None
    owner_id: Id | None = None
    org_id: Id | None = None
    space_mode: Mode | None = None
    metadata: dict[str, Any] | None = None


class UpdateAgent(StrictBody, title="AgentPatch"):
    """What changes of an agent; null clears."""

    nullable: ClassVar[frozenset[str]] = frozenset({"name", "description", "space_mode"})
    name: AgentName | None = None
    description: Description | None = None
    space_mode: Mode | None = None
    metadata: dict[str, Any] | None = None


class SetAgentOwner(StrictBody, title="NewOwner"):
    """Who shall own the agent."""

    owner_id: Id


class RunEnding(StrEnum):
    """The ways in which a run ends."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StartRun(StrictBody, title="NewRunBody"):
    """A run to start; without `parent_run_id` it is a root."""

    id: Id | None = None
    agent_id: Id
    parent_run_id: Id | None = None
    metadata: dict[str, Any] | None = None


class CompleteRun(StrictBody, title="RunEnd"):
    """How a run ended."""

    status: Annotated[RunEnding, exact_word(RunEnding)]
    error: Annotated[str, Field(min_length=1, max_length=ERROR_CHARS_MAX)] | None = None
