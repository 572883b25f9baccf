"""Builds the authenticator, which says who a caller is, and the service of API keys."""

from recollect.api_keys.service import IssuedKeyService
from recollect.app.context import AppContext
from recollect.identity.authenticator import CredentialAuthenticator
from recollect.identity.ports import KeyHolders
from recollect.identity.settings import BoundAgent, IdentitySettings
from recollect.identity.tokens.local_key import signing_secret
from recollect.kernel.clock import Clock
from recollect.kernel.errors import InvalidInput
from recollect.settings import Settings


def build_authenticator(
    settings: Settings, clock: Clock, issued_keys: KeyHolders
) -> CredentialAuthenticator:
    auth = settings.auth
    try:
        return CredentialAuthenticator(
            IdentitySettings(
                mode=auth.mode,
                secret=signing_secret(settings),
                jwks_url=auth.jwks_url,
                issuer=auth.issuer,
                audience=auth.audience,
                roles_claim=auth.roles_claim or None,
                failures_max=auth.failures_per_minute,
                api_keys={
                    client: [key.get_secret_value() for key in keys]
                    for client, keys in auth.api_keys.items()
                },
                trusted_clients=auth.trusted_clients,
                bound_agents={
                    client: BoundAgent(grant.agent, grant.act_for_owner)
                    for client, grant in auth.agents.items()
                },
                org_members=settings.orgs.members,
                role_users={role: grant.users for role, grant in auth.roles.items()},
                role_clients={role: grant.clients for role, grant in auth.roles.items()},
                role_tokens={role: grant.token_roles for role, grant in auth.roles.items()},
            ),
            clock=clock,
            issued_keys=issued_keys,
        )
    except ValueError as error:
        raise InvalidInput(str(error)) from error


def build_issued_keys(context: AppContext) -> IssuedKeyService:
    """The service of API keys. Clients that the settings give more than their name to are
    privileged."""
    auth = context.settings.auth
    roles = {client for grant in auth.roles.values() for client in grant.clients}
    return IssuedKeyService(context, privileged={*auth.trusted_clients, *auth.agents, *roles})
