"""Typed commands: what a caller sends to register and change agents, and to start and end runs.

One declaration gives the OpenAPI schema, the parsing of REST and gRPC, and what the services take.
"""

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field

from recollect.agents.model import DESCRIPTION_CHARS_MAX
from recollect.agents.run import ERROR_CHARS_MAX
from recollect.http.bodies import StrictBody, exact_word
from recollect.http.examples import AGENT_ID, OTHER_USER_ID, RUN_ID, USER_ID
from recollect.http.operation import Id
from recollect.kernel.space import SpaceMode
from recollect.kernel.validation import NAME_CHARS_MAX

AgentName = Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX)]
Description = Annotated[str, Field(min_length=1, max_length=DESCRIPTION_CHARS_MAX)]
Mode = Annotated[SpaceMode, exact_word(SpaceMode)]


class RegisterAgent(StrictBody, title="NewAgent"):
    """An agent to register; without an id one is made from its name."""

    id: Id | None = Field(
        default=None,
        description="The id of the agent; made from its name if it is absent.",
        examples=[AGENT_ID],
    )
    name: AgentName | None = Field(
        default=None, description="Its name for people.", examples=["Helper"]
    )
    description: Description | None = Field(default=None, description="What it is for.")
    owner_id: Id | None = Field(
        default=None,
        description="Who owns it: a user id, or `agent:` and the id of an agent. Without one it "
        "owns itself.",
        examples=[USER_ID],
    )
    org_id: Id | None = Field(
        default=None, description="The org that it belongs to; the caller's if it is absent."
    )
    space_mode: Mode | None = Field(
        default=None,
        description="Whether it has one space or two; the server's default if it is absent.",
    )
    metadata: dict[str, Any] | None = Field(default=None, description="Your own data.")


class UpdateAgent(StrictBody, title="AgentPatch"):
    """What changes of an agent; null clears."""

    nullable: ClassVar[frozenset[str]] = frozenset({"name", "description", "space_mode"})
    name: AgentName | None = Field(default=None, description="Its name for people.")
    description: Description | None = Field(
        default=None, description="What it is for.", examples=["Answers questions about orders."]
    )
    space_mode: Mode | None = Field(default=None, description="Whether it has one space or two.")
    metadata: dict[str, Any] | None = Field(
        default=None, description="Your own data; replaced as a whole."
    )


class SetAgentOwner(StrictBody, title="NewOwner"):
    """Who shall own the agent."""

    owner_id: Id = Field(
        description="The new owner: a user id, or `agent:` and the id of an agent.",
        examples=[OTHER_USER_ID],
    )


class RunEnding(StrEnum):
    """The ways in which a run ends."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StartRun(StrictBody, title="NewRunBody"):
    """A run to start; without `parent_run_id` it is a root."""

    id: Id | None = Field(
        default=None,
        description="The id of the run; one is made if it is absent.",
        examples=[RUN_ID],
    )
    agent_id: Id = Field(description="The agent that runs.", examples=[AGENT_ID])
    parent_run_id: Id | None = Field(default=None, description="The run that started this one.")
    metadata: dict[str, Any] | None = Field(default=None, description="Your own data.")


class CompleteRun(StrictBody, title="RunEnd"):
    """How a run ended."""

    status: Annotated[RunEnding, exact_word(RunEnding)] = Field(
        description="How it ended.", examples=["succeeded"]
    )
    error: Annotated[str, Field(min_length=1, max_length=ERROR_CHARS_MAX)] | None = Field(
        default=None, description="What went wrong, for a run that failed."
    )
