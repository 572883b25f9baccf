"""Who may confirm that somebody else takes part in a chat.

The presence of a participant opens memories to the others in a chat. So whoever is put into one by
somebody else is only invited, unless a caller who answers for the users of the server confirms it.
"""

from recollect.identity.model import Principal, ServerRole
from recollect.kernel.errors import Forbidden


def may_confirm_others(principal: Principal, *, local: bool) -> bool:
    """An admin may, a trusted client, and in `local` mode anyone."""
    return local or principal.trusted or ServerRole.ADMIN in principal.roles


def check_may_confirm(principal: Principal, *, local: bool) -> None:
    """Forbidden unless the caller may confirm others."""
    if not may_confirm_others(principal, local=local):
        message = "only an admin or a trusted client may send `confirmed`; leave it out to invite"
        raise Forbidden(message)
