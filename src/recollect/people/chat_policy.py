"""Who may see a chat, and who may add and remove its participants. Conversation trees have
memberships instead."""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.identity.decide import AccessDecision
from recollect.identity.model import Caller
from recollect.identity.rules import decide_by_rules
from recollect.kernel.owner import Owner


@dataclass(frozen=True, slots=True)
class ChatAccess:
    """A chat's creator and its current participants, who may be reduced to the caller."""

    created_by: Owner
    participants: frozenset[Owner] = frozenset()


def may_see_chat(caller: Caller, chat: ChatAccess) -> AccessDecision:
    """Participants only. A creator who does not take part doesn't see the chat either."""
    return decide_by_rules(_READERS, caller, chat)


def may_add_participant(caller: Caller, chat: ChatAccess) -> AccessDecision:
    """May the caller add a participant?"""
    return decide_by_rules(_ADDERS, caller, chat)


def may_remove_participant(caller: Caller, chat: ChatAccess, *, oneself: bool) -> AccessDecision:
    """May the caller end somebody's participation? `oneself`: it is the caller's own."""
    return AccessDecision(True, "oneself") if oneself else decide_by_rules(_REMOVERS, caller, chat)


def _is_participant(caller: Caller, chat: ChatAccess) -> bool:
    return caller.who in chat.participants


def _is_creator(caller: Caller, chat: ChatAccess) -> bool:
    return caller.who == chat.created_by


def _is_admin(caller: Caller, _chat: ChatAccess) -> bool:
    return caller.admin


_ChatRules = tuple[tuple[str, Callable[[Caller, ChatAccess], bool]], ...]

_READERS: _ChatRules = (("participant", _is_participant),)
_ADDERS: _ChatRules = (*_READERS, ("creator", _is_creator))
_REMOVERS: _ChatRules = (("creator", _is_creator), ("admin", _is_admin))
