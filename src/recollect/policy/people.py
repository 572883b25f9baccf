"""Who may see, change, name, merge and erase a person. Stating a relationship, and naming somebody
as a subject, is open to anyone and has no rule here.

An agent that acts for its owner does so in its own spaces, never here. Being admin counts only
where a rule names it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.domain.agents import Owner
from recollect.domain.ids import UserId
from recollect.domain.spaces import OrgId
from recollect.policy.decide import Decision
from recollect.policy.rules import first_holding
from recollect.policy.spaces import Caller


@dataclass(frozen=True, slots=True)
class PersonView:
    """A canonical person. `in_common_chat`: do the caller and the person now take part in one?"""

    created_by: Owner
    user_ids: frozenset[UserId] = frozenset()
    orgs: frozenset[OrgId] = frozenset()
    in_common_chat: bool = False

    @property
    def linked(self) -> bool:
        """Is the person a user?"""
        return bool(self.user_ids)


@dataclass(frozen=True, slots=True)
class ClaimView:
    """An alias or a relationship: who stated it, of which users, and who takes part, at this
    moment, in the chat where it was made. The participants may be cut down to the caller."""

    stated_by: Owner
    person_user_ids: frozenset[UserId] = frozenset()
    chat_participants: frozenset[Owner] = frozenset()


def may_see_name(caller: Caller, view: PersonView) -> Decision:
    """May the caller know that the person exists, and their name?"""
    return first_holding(_NAME_READERS, caller, view)


def may_see_user(caller: Caller, view: PersonView, *, auditor: bool = False) -> Decision:
    """May the caller know which user the person is?"""
    return Decision(True, "auditor") if auditor else first_holding(_USER_READERS, caller, view)


def may_see_claim(caller: Caller, claim: ClaimView) -> Decision:
    """May the caller know what was claimed, and by whom?"""
    return first_holding(_CLAIM_READERS, caller, claim)


def may_change(caller: Caller, view: PersonView) -> Decision:
    """May the caller change the person, or undo a merge into it?"""
    return first_holding(_WRITERS, caller, view)


def may_set_time_zone(caller: Caller, view: PersonView) -> Decision:
    """May the caller say where the person lives? Only of oneself."""
    return first_holding(_SELF, caller, view)


def may_alias(caller: Caller, view: PersonView, *, handle: bool = False) -> Decision:
    """May the caller add a name? A handle finds a user from anywhere, so that user has the say."""
    return first_holding(_HANDLERS if handle and view.linked else _WRITERS, caller, view)


def may_merge(
    caller: Caller, primary: PersonView, secondary: PersonView, *, link_users: bool = False
) -> Decision:
    """May the caller make one person of the two? Nobody need have the right over two users, or over
    a user and somebody of whom others spoke, so an admin who asks to link them needs no other."""
    if link_users and caller.admin and (primary.linked or secondary.linked):
        return Decision(True, "admin")
    first = may_change(caller, primary)
    return may_change(caller, secondary) if first.allowed else first


def may_be_same(
    caller: Caller, primary: PersonView, secondary: PersonView, *, others_refer: bool
) -> Decision:
    """May a user turn out to be somebody who was none, of two whom the caller may merge?

    Whatever was said of that one becomes the user's to read and to erase. Anybody may make people
    whom others then mean, so where `others_refer` to the one without a user an admin decides.
    """
    if primary.linked == secondary.linked:
        return Decision(True, "no user comes to anybody")
    if not others_refer:
        return Decision(True, "nobody else refers to the person")
    return Decision(caller.admin, "admin" if caller.admin else "needs admin")


def may_take_handle(caller: Caller, *, of_another: bool) -> Decision:
    """May the caller state a handle? One that is the id `of_another` user would be found in that
    user's place."""
    if not of_another:
        return Decision(True, "nobody else's")
    return Decision(caller.admin, "admin" if caller.admin else "needs that user or admin")


def may_withdraw(caller: Caller, claim: ClaimView) -> Decision:
    """May the caller take a claim back?"""
    return first_holding(_STATER, caller, claim)


def may_erase(caller: Caller, view: PersonView) -> Decision:
    """May the caller have every trace of the person removed?"""
    return first_holding(_ERASERS, caller, view)


def may_delete(caller: Caller, view: PersonView) -> Decision:
    """May the caller drop the person? One who is a user is erased instead."""
    if view.linked:
        return Decision(False, "needs a person without a user")
    return may_change(caller, view)


def _is_one_of(caller: Caller, user_ids: frozenset[UserId]) -> bool:
    return any(caller.who == Owner.user(user_id) for user_id in user_ids)


def _created(caller: Caller, view: PersonView) -> bool:
    return caller.who == view.created_by


def _is_the_person(caller: Caller, view: PersonView) -> bool:
    return _is_one_of(caller, view.user_ids)


def _in_org(caller: Caller, view: PersonView) -> bool:
    return not view.orgs.isdisjoint(caller.orgs)


def _in_common_chat(_caller: Caller, view: PersonView) -> bool:
    return view.in_common_chat


def _is_admin(caller: Caller, _view: PersonView) -> bool:
    return caller.admin


def _stated(caller: Caller, claim: ClaimView) -> bool:
    return caller.who == claim.stated_by


def _is_claimed_of(caller: Caller, claim: ClaimView) -> bool:
    return _is_one_of(caller, claim.person_user_ids)


def _takes_part(caller: Caller, claim: ClaimView) -> bool:
    return caller.who in claim.chat_participants


_PersonRules = tuple[tuple[str, Callable[[Caller, PersonView], bool]], ...]
_ClaimRules = tuple[tuple[str, Callable[[Caller, ClaimView], bool]], ...]

_SELF: _PersonRules = (("that user", _is_the_person),)
_WRITERS: _PersonRules = (("creator", _created), *_SELF)
_HANDLERS: _PersonRules = (*_SELF, ("admin", _is_admin))
_ERASERS: _PersonRules = _HANDLERS
_USER_READERS: _PersonRules = (*_SELF, ("somebody in a common chat", _in_common_chat))
_NAME_READERS: _PersonRules = (
    ("member of the org", _in_org),
    ("creator", _created),
    *_USER_READERS,
)
_STATER: _ClaimRules = (("stater", _stated),)
_CLAIM_READERS: _ClaimRules = (
    *_STATER,
    ("that user", _is_claimed_of),
    ("participant", _takes_part),
)
