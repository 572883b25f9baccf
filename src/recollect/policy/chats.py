"""Who may see a chat, and who may add and remove its participants. Conversation trees have
memberships instead."""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.domain.agents import Owner
from recollect.policy.decide import Decision
from recollect.policy.rules import first_holding
from recollect.policy.spaces import Caller


@dataclass(frozen=True, slots=True)
class ChatAccess:
    """A chat's creator and its current participants, who may be reduced to the caller."""

    created_by: Owner
    participants: frozenset[Owner] = frozenset()


def may_see_chat(caller: Caller, chat: ChatAccess) -> Decision:
    """Participants only. A creator who does not take part doesn't see the chat either."""
    return first_holding(_READERS, caller, chat)


def may_add(caller: Caller, chat: ChatAccess) -> Decision:
    """May the caller add a participant?"""
    return first_holding(_ADDERS, caller, chat)


def may_remove(caller: Caller, chat: ChatAccess, *, oneself: bool) -> Decision:
    """May the caller end somebody's participation? `oneself`: it is the caller's own."""
    return Decision(True, "oneself") if oneself else first_holding(_REMOVERS, caller, chat)


def _takes_part(caller: Caller, chat: ChatAccess) -> bool:
    return caller.who in chat.participants


def _created(caller: Caller, chat: ChatAccess) -> bool:
    return caller.who == chat.created_by


def _is_admin(caller: Caller, _chat: ChatAccess) -> bool:
    return caller.admin


_Rules = tuple[tuple[str, Callable[[Caller, ChatAccess], bool]], ...]

_READERS: _Rules = (("participant", _takes_part),)
_ADDERS: _Rules = (*_READERS, ("creator", _created))
_REMOVERS: _Rules = (("creator", _created), ("admin", _is_admin))
