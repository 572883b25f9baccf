"""Builds the authenticator: who a caller is, and which roles it has."""

from recollect.identity.authenticator import CredentialAuthenticator
from recollect.identity.settings import BoundAgent, IdentitySettings
from recollect.identity.tokens.local_key import signing_secret
from recollect.kernel.clock import Clock
from recollect.kernel.errors import InvalidInput
from recollect.settings import Settings


def build_authenticator(settings: Settings, clock: Clock) -> CredentialAuthenticator:
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
        )
    except ValueError as error:
        raise InvalidInput(str(error)) from error
