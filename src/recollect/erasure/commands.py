"""Typed commands: what a caller sends to erase somebody, and to verify an erasure.

One declaration gives the OpenAPI schema, the parsing of REST and gRPC, and what the services take.
"""

from typing import Annotated

from pydantic import Field, model_validator

from recollect.erasure.model import IDENTIFIERS_MAX
from recollect.http.bodies import StrictBody
from recollect.http.examples import USER_ID
from recollect.http.operation import Id, JustifiedStrict


class StartErasure(JustifiedStrict, title="EraseBody"):
    """Whom to erase: a person or a user. What would go is seen with `dry_run`."""

    person_id: Id | None = Field(default=None, description="The person to erase.")
    user_id: Id | None = Field(
        default=None,
        description="The user to erase. Send either this or `person_id`.",
        examples=[USER_ID],
    )
    dry_run: bool = Field(description="Whether to tell only what would go.", examples=[True])
    block_relearn: bool = Field(
        default=False, description="Whether later writes about them are refused."
    )

    @model_validator(mode="after")
    def _require_one(self) -> "StartErasure":
        if (self.person_id is None) == (self.user_id is None):
            raise ValueError("exactly one of person_id and user_id must be given")
        return self


class VerifyErasure(StrictBody, title="VerifyBody"):
    """Names, handles, addresses and ids to look for. They are not kept."""

    identifiers: Annotated[list[Id], Field(min_length=1, max_length=IDENTIFIERS_MAX)] = Field(
        description="What to look for: names, handles, addresses, ids. They are not kept.",
        examples=[["carol"]],
    )
