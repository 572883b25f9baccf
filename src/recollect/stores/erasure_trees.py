"""Conversations in an erasure. Shared trees stay: the target's entries become markers, others are
redacted, and the tree gets another owner. The job deletes private trees."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Text, and_, case, delete, literal_column, not_, or_, select, union, update

from recollect.domain import jsontext
from recollect.domain.conversations import Conversation
from recollect.domain.entries import Channel, Entry
from recollect.domain.erasure import Target
from recollect.domain.ids import TreeId, UserId
from recollect.domain.search import index_words
from recollect.domain.traces import ERASED, Traces
from recollect.ports.database import Tx
from recollect.ports.erasures import Cleaning, TextOfEntry
from recollect.ports.runtime import Cipher
from recollect.stores.engines.expressions import AmongIds, AmongTexts
from recollect.stores.erasure_links import EVERYWHERE, USERS, is_sealed, link_params
from recollect.stores.erasure_needles import holds_any
from recollect.stores.rows import CONVERSATION, ENTRY, ConversationRows, EntryRows
from recollect.stores.statements import Statement, param, word
from recollect.stores.tables import (
    conversations,
    entries,
    index,
    memberships,
    participations,
    transfers,
    trees,
)

PAGE = 200
_c, _e, _m, _x = conversations.c, entries.c, memberships.c, transfers.c


class ErasedTrees:
    """The port's ConversationErasureStore, with the counts that verification needs."""

    def __init__(self, cipher: Cipher) -> None:
        self._entries = EntryRows(cipher)
        self._conversations = ConversationRows(cipher)

    def dirty_elsewhere(self, tx: Tx, cleaning: Cleaning) -> list[TreeId]:
        """Trees that contain an unambiguous identifier, linked to the target or not.

        SQL selects trees that may contain one, and all with encrypted entries; each is then read.
        """
        rows = tx.fetch(_MAY_HOLD, link_params(cleaning.target))
        return [TreeId(row[0]) for row in rows if self._is_dirty(tx, cleaning, TreeId(row[0]))]

    def lock(self, tx: Tx, tree_id: TreeId) -> None:
        tx.lock(_LOCK, {"tree_id": tree_id})

    def entries(self, tx: Tx, tree_id: TreeId, *, after_seq: int, limit: int) -> list[TextOfEntry]:
        params = {"tree_id": tree_id, "after_seq": after_seq, "limit": limit}
        rows = tx.fetch(_ENTRIES, params)
        return [TextOfEntry(self._entries.from_row(row), row[-1]) for row in rows]

    def clean_entry(self, tx: Tx, found: TextOfEntry, cleaning: Cleaning) -> TextOfEntry | None:
        """Update an entry in place. Position and id stay, so cursors and forks remain valid."""
        cleaned = cleaned_entry(found, cleaning)
        if cleaned == found:
            return None
        entry = replace(cleaned.entry, indexed_content=cleaned.indexed)
        params = self._entries.to_params(entry)
        kept = ("id", "content", "indexed_content", "user_id")
        tx.run(_SET_ENTRY, {name: params[name] for name in kept})
        tx.run(_SET_SPEAKER, {"id": entry.id, "speaker": entry.user_id or ""})
        return cleaned

    def clean_conversations(
        self, tx: Tx, cleaning: Cleaning, tree_id: TreeId, made_of: Collection[str | None]
    ) -> None:
        self.lock(tx, tree_id)
        for before in self._branches(tx, tree_id):
            after = _cleaned(before, cleaning, made_of)
            if after != before:
                params = self._conversations.to_params(after)
                tx.run(_SET_CONVERSATION, {name: params[name] for name in ("id", *_TEXTS)})

    def leave_tree(self, tx: Tx, target: Target, tree_id: TreeId) -> None:
        """Delete memberships, participations and ownership transfers of the target.

        If they owned the tree, the owner is now the human manager who joined first, else the human
        member who joined first.
        """
        params = link_params(target) | {"tree_id": tree_id}
        self.lock(tx, tree_id)
        # Asked before the memberships are deleted. The next owner is chosen after, so that it can't
        # be one of the target's users.
        owned = tx.first(_OWNED, params) is not None
        for statement in _LEAVE:
            tx.run(statement, params)
        heir = tx.first(_HEIR, params) if owned else None
        if heir is not None:
            tx.run(_ENTHRONE, params | {"user_id": heir[0]})
            tx.run(_SET_OWNER, params | {"user_id": heir[0]})

    def dirty_trees(self, tx: Tx, cleaning: Cleaning) -> dict[str, int]:
        """How many entries and conversations a redaction would change, and how many entries have an
        out-of-date row in the full-text index."""
        target, found = cleaning.target, Counter[str]()
        for id_ in target.trees:
            self._count_dirty(tx, cleaning, TreeId(id_), found)
        narrow = cleaning.elsewhere()
        for tree_id in self.dirty_elsewhere(tx, narrow) if target.everywhere else ():
            if tree_id not in target.trees:
                self._count_dirty(tx, narrow, tree_id, found)
        return {name: found[name] for name in ("entries", "conversations", "fulltext")}

    def _is_dirty(self, tx: Tx, cleaning: Cleaning, tree_id: TreeId) -> bool:
        found = Counter[str]()
        self._count_dirty(tx, cleaning, tree_id, found)
        return found.total() > 0

    def _count_dirty(
        self, tx: Tx, cleaning: Cleaning, tree_id: TreeId, found: Counter[str]
    ) -> None:
        branches, after = self._branches(tx, tree_id), -1
        found["conversations"] += sum(_cleaned(one, cleaning, ()) != one for one in branches)
        while page := self.entries(tx, tree_id, after_seq=after, limit=PAGE):
            found["entries"] += sum(cleaned_entry(one, cleaning) != one for one in page)
            found["fulltext"] += _stale(tx, page, cleaning)
            after = page[-1].entry.seq

    def _branches(self, tx: Tx, tree_id: TreeId) -> list[Conversation]:
        rows = tx.fetch(_BRANCHES, {"tree_id": tree_id})
        return [self._conversations.from_row(row) for row in rows]


def cleaned_entry(found: TextOfEntry, cleaning: Cleaning) -> TextOfEntry:
    """The target's own entry becomes a marker; any other is redacted."""
    entry = found.entry
    if entry.user_id in cleaning.target.user_ids:
        indexed = None if found.indexed is None else ERASED
        marker = jsontext.dump(_marker(entry))
        return TextOfEntry(replace(entry, content=marker, user_id=UserId(ERASED)), indexed)
    traces = cleaning.of_user(entry.user_id, entry.tree_id)
    content = jsontext.load(entry.content)
    fresh = [_cleaned_item(item, traces, entry.channel) for item in content]
    text = entry.content if fresh == content else jsontext.dump(fresh)
    indexed = None if found.indexed is None else traces.replaced(found.indexed)
    return TextOfEntry(replace(entry, content=text), indexed)


def _cleaned_item(item: Any, traces: Traces, channel: Channel) -> Any:
    """Redact one item of an entry. In history items field names and the role stay as they are, even
    if somebody is called `text` or `user`: readers depend on them."""
    if channel is not Channel.HISTORY or not isinstance(item, dict):
        return traces.cleaned(item)
    return {
        name: member if name == "role" else traces.cleaned(member) for name, member in item.items()
    }


def _stale(tx: Tx, page: Sequence[TextOfEntry], cleaning: Cleaning) -> int:
    """How many entries have an identifier in their indexed text or an out-of-date index row."""
    texts = {one.entry.id: one for one in page if one.indexed is not None}
    rows = tx.fetch(_TERMS, {"ids": jsontext.dump(list(texts))}) if texts else ()
    return sum(_is_found(texts[id_], terms, cleaning) for id_, terms in rows)


def _is_found(one: TextOfEntry, terms: str, cleaning: Cleaning) -> bool:
    text, entry = one.indexed or "", one.entry
    if cleaning.of_user(entry.user_id, entry.tree_id).are_in(text):
        return True
    return ERASED in text and index_words(text).terms != terms


def _marker(entry: Entry) -> list[Any]:
    """Content of the same shape as before: history entries keep the role of the first item."""
    if entry.channel is not Channel.HISTORY:
        return [ERASED]
    items = jsontext.load(entry.content)
    first = items[0] if items and isinstance(items[0], dict) else {}
    return [{"role": first.get("role", "USER"), "text": ERASED}]


def _cleaned(
    before: Conversation, cleaning: Cleaning, made_of: Collection[str | None]
) -> Conversation:
    traces = cleaning.of_chat(before.tree_id)

    def shown(text: str | None) -> str | None:
        return text if text is None else ERASED if text in made_of else traces.replaced(text)

    return replace(
        before,
        title=shown(before.title),
        last_message_preview=shown(before.last_message_preview),
        metadata=traces.cleaned(before.metadata),
    )


_TREE = param("tree_id", trees.c.id)
_USER = param("user_id", _m.user_id)
_LOCK = Statement(select(trees.c.id).where(trees.c.id == _TREE).with_for_update())
_MAY_HOLD = Statement(
    union(
        select(_e.conversation_group_id).where(
            or_(
                is_sealed(_e.content),
                holds_any(_e.content, EVERYWHERE),
                holds_any(_e.indexed_content, EVERYWHERE),
            )
        ),
        select(_c.conversation_group_id).where(
            or_(
                is_sealed(_c.title),
                holds_any(_c.title, EVERYWHERE),
                holds_any(_c.metadata, EVERYWHERE),
            )
        ),
    )
)
_ENTRIES = Statement(
    select(*ENTRY, _e.indexed_content)
    .where(_e.conversation_group_id == _TREE, _e.seq > param("after_seq", _e.seq))
    .order_by(_e.seq)
    .limit(param("limit"))
)
_SET_ENTRY = Statement(
    update(entries)
    .where(_e.id == param("id", _e.id))
    .values({n: param(n, _e[n]) for n in ("content", "indexed_content", "user_id")})
)
_TERMS = Statement(
    select(index.c.entry_id, index.c.terms).where(AmongIds(index.c.entry_id, param("ids")))
)
_SET_SPEAKER = Statement(
    update(index)
    .where(index.c.entry_id == param("id", index.c.entry_id))
    .values(speaker=param("speaker", index.c.speaker))
)
_TEXTS = ("title", "last_message_preview", "metadata")
_BRANCHES = Statement(select(*CONVERSATION).where(_c.conversation_group_id == _TREE))
_SET_CONVERSATION = Statement(
    update(conversations)
    .where(_c.id == param("id", _c.id))
    .values({name: param(name, _c[name]) for name in _TEXTS})
)
_THEIRS = (_m.conversation_group_id == _TREE, AmongTexts(_m.user_id, USERS))
_OWNED = Statement(select(_m.user_id).where(*_THEIRS, _m.access_level == word("owner")).limit(1))
_LEAVE = (
    Statement(delete(memberships).where(*_THEIRS)),
    Statement(
        delete(participations).where(
            participations.c.conversation_group_id == _TREE,
            AmongTexts(participations.c.user_id, USERS),
        )
    ),
    Statement(
        delete(transfers).where(
            _x.conversation_group_id == _TREE,
            or_(AmongTexts(_x.from_user_id, USERS), AmongTexts(_x.to_user_id, USERS)),
        )
    ),
)
_AGENT = and_(
    _m.user_id >= literal_column("'agent:'", Text), _m.user_id < literal_column("'agent;'", Text)
)
_RANK = case((_m.access_level == word("manager"), literal_column("0")), else_=literal_column("1"))
_HEIR = Statement(
    select(_m.user_id)
    .where(_m.conversation_group_id == _TREE, not_(_AGENT))
    .order_by(_RANK, _m.created_at, _m.user_id)
    .limit(1)
)
_ENTHRONE = Statement(
    update(memberships)
    .where(_m.conversation_group_id == _TREE, _m.user_id == _USER)
    .values(access_level=word("owner"))
)
_SET_OWNER = Statement(
    update(conversations)
    .where(_c.conversation_group_id == _TREE)
    .values(owner_user_id=param("user_id", _c.owner_user_id))
)
