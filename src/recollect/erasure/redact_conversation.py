"""What an erasure changes in an entry and in a conversation. Nothing here reads or writes."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from recollect.conversations.entries.entry import Channel, Entry
from recollect.conversations.model import Conversation
from recollect.erasure.identifier_matcher import ERASED, IdentifierMatcher
from recollect.erasure.plan import EntryWithIndexedText, RedactionPlan
from recollect.kernel import strict_json
from recollect.kernel.ids import UserId


def redact_entry(found: EntryWithIndexedText, plan: RedactionPlan) -> EntryWithIndexedText:
    """The target's own entry becomes a marker; any other is redacted."""
    entry = found.entry
    if entry.user_id in plan.target.user_ids:
        indexed = None if found.indexed is None else ERASED
        marker = strict_json.dump(_erased_content(entry))
        return EntryWithIndexedText(replace(entry, content=marker, user_id=UserId(ERASED)), indexed)
    matcher = plan.matcher_for_entry(entry)
    content = strict_json.load(entry.content)
    fresh = [_redact_item(item, matcher, entry.channel) for item in content]
    text = entry.content if fresh == content else strict_json.dump(fresh)
    indexed = None if found.indexed is None else matcher.redact(found.indexed)
    return EntryWithIndexedText(replace(entry, content=text), indexed)


def _redact_item(item: Any, matcher: IdentifierMatcher, channel: Channel) -> Any:
    """Redact one item of an entry. In history items field names and the role stay as they are, even
    if somebody is called `text` or `user`: readers depend on them."""
    if channel is not Channel.HISTORY or not isinstance(item, dict):
        return matcher.redact_json(item)
    return {
        name: member if name == "role" else matcher.redact_json(member)
        for name, member in item.items()
    }


def _erased_content(entry: Entry) -> list[Any]:
    """Content of the same shape as before: history entries keep the role of the first item."""
    if entry.channel is not Channel.HISTORY:
        return [ERASED]
    items = strict_json.load(entry.content)
    first = items[0] if items and isinstance(items[0], dict) else {}
    return [{"role": first.get("role", "USER"), "text": ERASED}]


def redact_conversation(
    before: Conversation, plan: RedactionPlan, made_of: Collection[str | None]
) -> Conversation:
    """Titles and previews in `made_of` come from erased entries and go as a whole."""
    matcher = plan.matcher_for_chat(before.tree_id)

    def redact_text(text: str | None) -> str | None:
        return text if text is None else ERASED if text in made_of else matcher.redact(text)

    return replace(
        before,
        title=redact_text(before.title),
        last_message_preview=redact_text(before.last_message_preview),
        metadata=matcher.redact_json(before.metadata),
    )
