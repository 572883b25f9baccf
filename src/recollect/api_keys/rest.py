"""The REST operations of API keys that the server issues."""

from typing import Annotated, ClassVar

from pydantic import Field

from recollect.api_keys.model import KeyState, ListedKey, ShownKey
from recollect.api_keys.service import IssuedKeyService, NewKey
from recollect.http.bodies import NO_CONTROL
from recollect.http.call import Call, Handler, respond_with, respond_with_page
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
    client_id: Annotated[str, Field(min_length=1, max_length=LENGTH_MAX)]
    name: Annotated[str, Field(max_length=NAME_CHARS_MAX, pattern=NO_CONTROL)] | None = None
    expires_at: Instant | None = None


class ApiKeyResource(SparseResource):
    """An API key without the key itself."""

    id: IdText = attribute("stored.id")
    client_id: str = attribute("stored.client_id")
    state: KeyState
    created_at: InstantText = attribute("stored.created_at")
    name: str | None = optional_attribute("stored.name")
    created_by: str | None = optional_attribute("stored.created_by")
    expires_at: InstantText | None = optional_attribute("stored.expires_at")
    revoked_at: InstantText | None = optional_attribute("stored.revoked_at")


class NewApiKeyResource(SparseResource):
    """A new API key. Its text is in this answer only."""

    id: IdText = attribute("stored.id")
    key: str
    client_id: str = attribute("stored.client_id")
    created_at: InstantText = attribute("stored.created_at")
    name: str | None = optional_attribute("stored.name")
    expires_at: InstantText | None = optional_attribute("stored.expires_at")


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
