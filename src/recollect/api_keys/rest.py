"""The REST operations of API keys that the server issues."""

from typing import Annotated, ClassVar

from pydantic import Field

from recollect.api_keys.model import KeyState, ListedKey, ShownKey
from recollect.api_keys.service import IssuedKeyService, NewKey
from recollect.http.bodies import NO_CONTROL
from recollect.http.call import Call, Handler, respond_with, respond_with_page
from recollect.http.examples import API_KEY_ID, CLIENT_ID
from recollect.http.operation import (
    Envelope,
    Instant,
    Justified,
    Operation,
    Paging,
    admin_operation,
)
from recollect.http.resource import (
    IdText,
    InstantText,
    SparseResource,
    attribute,
    optional_attribute,
    resource_schemas,
)
from recollect.identity.user_ids import LENGTH_MAX
from recollect.kernel.pages import Page

NAME_CHARS_MAX = 100


class IssueApiKey(Justified):
    """A key to make for a client."""

    optional: ClassVar[bool] = False
    client_id: Annotated[str, Field(min_length=1, max_length=LENGTH_MAX)] = Field(
        description="The client that the key is for.", examples=[CLIENT_ID]
    )
    name: Annotated[str, Field(max_length=NAME_CHARS_MAX, pattern=NO_CONTROL)] | None = Field(
        default=None, description="What to call the key.", examples=["staging"]
    )
    expires_at: Instant | None = Field(default=None, description="When it ends; never if absent.")


class ApiKeyResource(SparseResource):
    """An API key without the key itself."""

    id: IdText = attribute("stored.id", description="The id of the key.", examples=[API_KEY_ID])
    client_id: str = attribute(
        "stored.client_id", description="The client that it is for.", examples=[CLIENT_ID]
    )
    state: KeyState = Field(description="Whether it works.", examples=["active"])
    created_at: InstantText = attribute("stored.created_at", description="When it was made.")
    name: str | None = optional_attribute(
        "stored.name", description="What it is called.", examples=["staging"]
    )
    created_by: str | None = optional_attribute(
        "stored.created_by",
        description="Who made it; absent if the command line did.",
        examples=["root"],
    )
    expires_at: InstantText | None = optional_attribute(
        "stored.expires_at", description="When it ends; absent for never."
    )
    revoked_at: InstantText | None = optional_attribute(
        "stored.revoked_at", description="When it was revoked; absent while it was not."
    )


class NewApiKeyResource(SparseResource):
    """A new API key. Its text is in this answer only."""

    id: IdText = attribute("stored.id", description="The id of the key.", examples=[API_KEY_ID])
    key: str = Field(
        description="The key itself. No other answer has it.",
        examples=["rck_this-is-where-the-key-is"],
    )
    client_id: str = attribute(
        "stored.client_id", description="The client that it is for.", examples=[CLIENT_ID]
    )
    created_at: InstantText = attribute("stored.created_at", description="When it was made.")
    name: str | None = optional_attribute(
        "stored.name", description="What it is called.", examples=["staging"]
    )
    expires_at: InstantText | None = optional_attribute(
        "stored.expires_at", description="When it ends; absent for never."
    )


RESOURCES = resource_schemas(ApiKeyResource, NewApiKeyResource)

OPERATIONS: tuple[Operation, ...] = (
    admin_operation(
        "adminCreateApiKey",
        "POST /v1/admin/api-keys",
        201,
        "Make an API key for a client. The answer alone has the key: only a hash is stored. A "
        "client that the settings trust, or that has a role or an agent there, is 403.",
        response="NewApiKey",
        audit="createApiKey",
        body=IssueApiKey,
    ),
    admin_operation(
        "adminListApiKeys",
        "GET /v1/admin/api-keys",
        200,
        "List the API keys that were made, the newest first, without the keys themselves. Those "
        "of the settings are not listed.",
        response="ApiKey",
        audit="listApiKeys",
        paging=Paging(Envelope.A, 100),
    ),
    admin_operation(
        "adminRevokeApiKey",
        "DELETE /v1/admin/api-keys/{keyId}",
        204,
        "Revoke an API key. It ends at once, on every node.",
        audit="revokeApiKey",
    ),
)


async def _create(call: Call) -> ShownKey:
    body: IssueApiKey = call.body
    new = NewKey(body.client_id, body.name, body.expires_at)
    return await call.services[IssuedKeyService].create(
        call.principal, new, justification=call.justification
    )


async def _list(call: Call) -> Page[ListedKey]:
    return await call.services[IssuedKeyService].list(
        call.principal,
        after=call.page.after,
        limit=call.page.size,
        justification=call.justification,
    )


async def _revoke(call: Call) -> None:
    await call.services[IssuedKeyService].revoke(
        call.principal, call.path["keyId"], justification=call.justification
    )


HANDLERS: dict[str, Handler] = {
    "adminCreateApiKey": respond_with(_create, NewApiKeyResource.render),
    "adminListApiKeys": respond_with_page(_list, ApiKeyResource.render),
    "adminRevokeApiKey": _revoke,
}
