"""What an erasure changes in audit events, and which jobs and answers mention the target. Nothing
here reads or writes."""

from collections.abc import Sequence

from recollect.erasure.model import replace_ids
from recollect.erasure.plan import RedactionPlan
from recollect.kernel import strict_json


def redact_event(
    payload: str,
    reason: str | None,
    space_id: str | None,
    plan: RedactionPlan,
    gone: Sequence[str] = (),
) -> tuple[str, str | None]:
    """The redacted payload and justification of an event; `gone` are further ids to replace.

    Ids are replaced wherever they are a whole value. Of the payload only `key` is free text of a
    caller; other fields are our own words, in which a name would match by chance.
    """
    target, matcher = plan.target, plan.matcher_for_chat(space_id)
    lost = (*gone, *plan.filter_matching_ids(target.gone_chats))
    ids = dict.fromkeys((*target.person_ids, *target.user_ids, *lost), target.stand_in)
    before = strict_json.load(payload)
    after = replace_ids(before, ids)
    if isinstance(after.get("key"), str):
        after = after | {"key": matcher.redact(after["key"])}
    fresh = payload if after == before else strict_json.dump(after)
    return fresh, reason and matcher.redact(reason)


def mentions_target(texts: Sequence[str | None], plan: RedactionPlan) -> bool:
    """These rows are linked to no chat, so names that others share don't count here."""
    target = plan.target
    given = [text for text in texts if text]
    named = any(id_ in text for text in given for id_ in target.person_ids)
    return named or not set(given).isdisjoint(target.user_ids) or plan.rare.has_match(given)
