"""Who may see, change, alias, merge and erase a person.

Anybody who may see a person may state a relationship or name them as a subject of a memory, so
there is no rule for that. An agent that acts for its owner has the owner's rights in its own spaces
only, not here. The role admin counts only where a rule names it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.identity.decide import AccessDecision
from recollect.identity.model import Caller
from recollect.identity.rules import decide_by_rules
from recollect.kernel.ids import OrgId, UserId
from recollect.kernel.owner import Owner


@dataclass(frozen=True, slots=True)
class PersonView:
    """A canonical person. `in_common_chat`: does the person take part, confirmed, in a chat where
    the caller takes part now? An invitation is not enough: anybody may invite anybody. `awaited`:
    the person stands for the bearer of a handle, who did not call yet."""

    created_by: Owner
    user_ids: frozenset[UserId] = frozenset()
    orgs: frozenset[OrgId] = frozenset()
    in_common_chat: bool = False
    awaited: bool = False

    @property
    def is_linked(self) -> bool:
        """Is the person linked to a user?"""
        return bool(self.user_ids)

    @property
    def is_users(self) -> bool:
        """Is the person that of a user, or of one who is awaited?"""
        return self.is_linked or self.awaited


@dataclass(frozen=True, slots=True)
class ClaimView:
    """An alias or a relationship: who stated it, the users of the person, and the current
    participants of the chat where it was stated, who may be reduced to the caller."""

    stated_by: Owner
    person_user_ids: frozenset[UserId] = frozenset()
    chat_participants: frozenset[Owner] = frozenset()


def may_see_name(caller: Caller, view: PersonView) -> AccessDecision:
    """May the caller know that the person exists, and their name?"""
    return decide_by_rules(_NAME_READERS, caller, view)


def may_see_user(caller: Caller, view: PersonView, *, auditor: bool = False) -> AccessDecision:
    """May the caller know which user the person is?"""
    return (
        AccessDecision(True, "auditor") if auditor else decide_by_rules(_USER_READERS, caller, view)
    )


def may_see_claim(caller: Caller, claim: ClaimView) -> AccessDecision:
    """May the caller know what was claimed, and by whom?"""
    return decide_by_rules(_CLAIM_READERS, caller, claim)


def may_change(caller: Caller, view: PersonView) -> AccessDecision:
    """May the caller change the person, or undo a merge into it?"""
    return decide_by_rules(_WRITERS, caller, view)


def may_set_time_zone(caller: Caller, view: PersonView) -> AccessDecision:
    """May the caller set the person's time zone? Only one's own."""
    return decide_by_rules(_SELF_RULES, caller, view)


def may_add_alias(caller: Caller, view: PersonView, *, handle: bool = False) -> AccessDecision:
    """May the caller add an alias? A handle resolves to its person for everybody, so a handle of a
    user's person needs that user or an admin."""
    return decide_by_rules(_HANDLE_WRITERS if handle and view.is_users else _WRITERS, caller, view)


def may_merge(
    caller: Caller, primary: PersonView, secondary: PersonView, *, link_users: bool = False
) -> AccessDecision:
    """May the caller merge the two? It needs the right to change both.

    An admin who sends `link_users` needs no other right if one of the two is linked: nobody can
    change the people of two users, so otherwise nobody could ever merge them.
    """
    if link_users and caller.admin and (primary.is_linked or secondary.is_linked):
        return AccessDecision(True, "admin")
    first = may_change(caller, primary)
    return may_change(caller, secondary) if first.allowed else first


def may_link_user(
    caller: Caller, primary: PersonView, secondary: PersonView, *, others_refer: bool
) -> AccessDecision:
    """May an unlinked person be merged with a user's person, by a caller who may merge the two?

    The user may then read and erase everything that was said about the unlinked person. Anybody may
    create a person, wait until others refer to that person, and then claim to be them. So if
    `others_refer` to the unlinked person, only an admin may link the two.
    """
    if primary.is_linked == secondary.is_linked:
        return AccessDecision(True, "no user comes to anybody")
    if not others_refer:
        return AccessDecision(True, "nobody else refers to the person")
    return AccessDecision(caller.admin, "admin" if caller.admin else "needs admin")


def may_take_handle(caller: Caller, *, of_another: bool) -> AccessDecision:
    """May the caller state a handle? `of_another`: the handle equals the id of another user, in
    whose place it would be found."""
    if not of_another:
        return AccessDecision(True, "nobody else's")
    return AccessDecision(caller.admin, "admin" if caller.admin else "needs that user or admin")


def may_withdraw(caller: Caller, claim: ClaimView) -> AccessDecision:
    """May the caller withdraw the claim?"""
    return decide_by_rules(_STATER_RULES, caller, claim)


def may_erase(caller: Caller, view: PersonView) -> AccessDecision:
    """May the caller have every trace of the person removed?"""
    return decide_by_rules(_ERASERS, caller, view)


def may_delete(caller: Caller, view: PersonView) -> AccessDecision:
    """May the caller delete the person? A user's person is erased instead."""
    if view.is_linked:
        return AccessDecision(False, "needs a person without a user")
    return may_change(caller, view)


def _is_one_of(caller: Caller, user_ids: frozenset[UserId]) -> bool:
    return any(caller.who == Owner.user(user_id) for user_id in user_ids)


def _is_creator(caller: Caller, view: PersonView) -> bool:
    return caller.who == view.created_by


def _is_maker(caller: Caller, view: PersonView) -> bool:
    """Who was first to say `@bob` has no rights over bob: as a creator they could merge that person
    with their own, and hear everything that others say about bob."""
    return _is_creator(caller, view) and not view.awaited


def _is_the_person(caller: Caller, view: PersonView) -> bool:
    return _is_one_of(caller, view.user_ids)


def _shares_org(caller: Caller, view: PersonView) -> bool:
    return not view.orgs.isdisjoint(caller.orgs)


def _shares_chat(_caller: Caller, view: PersonView) -> bool:
    return view.in_common_chat


def _is_admin(caller: Caller, _view: PersonView) -> bool:
    return caller.admin


def _is_stater(caller: Caller, claim: ClaimView) -> bool:
    return caller.who == claim.stated_by


def _is_claim_subject(caller: Caller, claim: ClaimView) -> bool:
    return _is_one_of(caller, claim.person_user_ids)


def _is_participant(caller: Caller, claim: ClaimView) -> bool:
    return caller.who in claim.chat_participants


# Each right lists the rules of which one is enough. An agent is never "that user": it has no user.
_PersonRules = tuple[tuple[str, Callable[[Caller, PersonView], bool]], ...]
_ClaimRules = tuple[tuple[str, Callable[[Caller, ClaimView], bool]], ...]

_SELF_RULES: _PersonRules = (("that user", _is_the_person),)
_WRITERS: _PersonRules = (("creator", _is_maker), *_SELF_RULES)
_HANDLE_WRITERS: _PersonRules = (*_SELF_RULES, ("admin", _is_admin))
_ERASERS: _PersonRules = _HANDLE_WRITERS
_USER_READERS: _PersonRules = (*_SELF_RULES, ("somebody in a common chat", _shares_chat))
_NAME_READERS: _PersonRules = (
    ("member of the org", _shares_org),
    ("creator", _is_creator),
    *_USER_READERS,
)
_STATER_RULES: _ClaimRules = (("stater", _is_stater),)
_CLAIM_READERS: _ClaimRules = (
    *_STATER_RULES,
    ("that user", _is_claim_subject),
    ("participant", _is_participant),
)
