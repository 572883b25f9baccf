"""Conversations in an erasure. Shared trees are not deleted: the target's entries become markers,
others are redacted, and the tree gets another owner. The job deletes private trees."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlalchemy import Text, and_, case, delete, literal_column, not_, or_, select, union, update

from recollect.conversations.entries.entry import Entry
from recollect.conversations.model import Conversation
from recollect.conversations.store.rows import (
    CONVERSATION_COLUMNS,
    ENTRY_COLUMNS,
    ConversationRows,
    EntryRows,
)
from recollect.db.columns import EncryptedColumn
from recollect.db.engines.expressions import InTextList, InUuidList
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import (
    conversations,
    entries,
    index,
    memberships,
    participations,
    transfers,
    trees,
)
from recollect.db.transaction import Tx
from recollect.erasure.model import ErasureTarget
from recollect.erasure.plan import EntryWithIndexedText, RedactionPlan
from recollect.erasure.redact_conversation import redact_conversation, redact_entry
from recollect.erasure.redact_text import is_found_by_name
from recollect.erasure.store.links_sql import (
    EVERYWHERE,
    USERS,
    link_params,
    sealed_clause,
)
from recollect.erasure.store.needles_sql import contains_any
from recollect.kernel import strict_json
from recollect.kernel.errors import Unreadable
from recollect.kernel.ids import TreeId
from recollect.kernel.runtime import Cipher

PAGE = 200
_c, _e, _m, _x = conversations.c, entries.c, memberships.c, transfers.c


class ConversationErasureStore:
    """Trees of conversations with their entries."""

    def __init__(self, cipher: Cipher) -> None:
        self._entries = EntryRows(cipher)
        self._terms = EncryptedColumn(cipher, index.c.terms)
        self._conversations = ConversationRows(cipher)

    def find_unlinked_trees(self, tx: Tx, plan: RedactionPlan) -> list[TreeId]:
        """Trees that contain an unambiguous identifier, linked to the target or not.

        SQL selects trees that may contain one, and all with encrypted entries; each is then read.
        """
        rows = tx.fetch(_MAY_CONTAIN, link_params(plan.target))
        return [TreeId(row[0]) for row in rows if self._needs_redaction(tx, plan, TreeId(row[0]))]

    def lock_tree(self, tx: Tx, tree_id: TreeId) -> None:
        """Lock the tree's row until the transaction ends."""
        tx.lock(_LOCK, {"tree_id": tree_id})

    def fetch_entries(
        self, tx: Tx, tree_id: TreeId, *, after_seq: int, limit: int
    ) -> list[EntryWithIndexedText]:
        """A page of a tree's entries, ordered by `seq`."""
        params = {"tree_id": tree_id, "after_seq": after_seq, "limit": limit}
        rows = tx.fetch(_ENTRIES, params)
        open_text = self._entries.indexed.open
        found = [
            EntryWithIndexedText(self._entries.from_row(row), open_text(row[-1], row[0]))
            for row in rows
        ]
        for one in found:
            _require_readable(one.entry)
        return found

    def redact_entry(
        self, tx: Tx, found: EntryWithIndexedText, plan: RedactionPlan
    ) -> EntryWithIndexedText | None:
        """Update an entry in place. Position and id stay, so cursors and forks remain valid."""
        cleaned = redact_entry(found, plan)
        if cleaned == found:
            return None
        entry = replace(cleaned.entry, indexed_content=cleaned.indexed)
        params = self._entries.to_params(entry)
        kept = ("id", "content", "indexed_content", "user_id")
        tx.run(_SET_ENTRY, {name: params[name] for name in kept})
        tx.run(_SET_SPEAKER, {"id": entry.id, "speaker": entry.user_id or ""})
        return cleaned

    def redact_conversations(
        self, tx: Tx, plan: RedactionPlan, tree_id: TreeId, made_of: Collection[str | None]
    ) -> None:
        """Redact titles, previews and metadata. Titles and previews in `made_of` are replaced."""
        self.lock_tree(tx, tree_id)
        for before in self._fetch_conversations(tx, tree_id):
            after = redact_conversation(before, plan, made_of)
            if after != before:
                params = self._conversations.to_params(after)
                tx.run(_SET_CONVERSATION, {name: params[name] for name in ("id", *_TEXT_COLUMNS)})

    def remove_from_tree(self, tx: Tx, target: ErasureTarget, tree_id: TreeId) -> None:
        """Delete memberships, participations and ownership transfers of the target.

        If they owned the tree, the owner is now the human manager who joined first, else the human
        member who joined first.
        """
        params = link_params(target) | {"tree_id": tree_id}
        self.lock_tree(tx, tree_id)
        # Asked before the memberships are deleted. The next owner is chosen after, so that it can't
        # be one of the target's users.
        owned = tx.fetch_first(_OWNED, params) is not None
        for statement in _DELETE_MEMBERSHIPS:
            tx.run(statement, params)
        heir = tx.fetch_first(_NEXT_OWNER, params) if owned else None
        if heir is not None:
            tx.run(_PROMOTE_OWNER, params | {"user_id": heir[0]})
            tx.run(_SET_OWNER, params | {"user_id": heir[0]})
            tx.run(_CONFIRM_OWNER, params | {"user_id": heir[0]})

    def count_unredacted(self, tx: Tx, plan: RedactionPlan) -> dict[str, int]:
        """How many entries and conversations a redaction would change, and how many entries have an
        out-of-date row in the full-text index."""
        target, found = plan.target, Counter[str]()
        for id_ in target.trees:
            self._count_in_tree(tx, plan, TreeId(id_), found)
        narrow = plan.for_unlinked_rows()
        for tree_id in (
            self.find_unlinked_trees(tx, narrow) if target.unambiguous_identifiers else ()
        ):
            if tree_id not in target.trees:
                self._count_in_tree(tx, narrow, tree_id, found)
        return {name: found[name] for name in ("entries", "conversations", "fulltext")}

    def _needs_redaction(self, tx: Tx, plan: RedactionPlan, tree_id: TreeId) -> bool:
        found = Counter[str]()
        self._count_in_tree(tx, plan, tree_id, found)
        return found.total() > 0

    def _count_in_tree(
        self, tx: Tx, plan: RedactionPlan, tree_id: TreeId, found: Counter[str]
    ) -> None:
        branches, after = self._fetch_conversations(tx, tree_id), -1
        found["conversations"] += sum(redact_conversation(one, plan, ()) != one for one in branches)
        while page := self.fetch_entries(tx, tree_id, after_seq=after, limit=PAGE):
            found["entries"] += sum(redact_entry(one, plan) != one for one in page)
            found["fulltext"] += self._count_stale(tx, page, plan)
            after = page[-1].entry.seq

    def _fetch_conversations(self, tx: Tx, tree_id: TreeId) -> list[Conversation]:
        rows = tx.fetch(_BRANCHES, {"tree_id": tree_id})
        found = [self._conversations.from_row(row) for row in rows]
        for one in found:
            _require_readable(one)
        return found

    def _count_stale(
        self, tx: Tx, page: Sequence[EntryWithIndexedText], plan: RedactionPlan
    ) -> int:
        """How many entries have an identifier in their indexed text or an out-of-date index row."""
        texts = {one.entry.id: one for one in page if one.indexed is not None}
        rows = tx.fetch(_TERMS, {"ids": strict_json.dump(list(texts))}) if texts else ()
        return sum(
            is_found_by_name(
                plan.matcher_for_entry(texts[id_].entry),
                texts[id_].indexed or "",
                self._terms.open(terms, id_) or "",
            )
            for id_, terms in rows
        )


def _require_readable(one: Entry | Conversation) -> None:
    """Raises Unreadable: an erasure that can't read a text must not report that there are no traces
    in it."""
    if one.unreadable:
        raise Unreadable(f"{one.id} can't be decrypted")


_TREE = param("tree_id", trees.c.id)
_USER = param("user_id", _m.user_id)
_LOCK = Query(select(trees.c.id).where(trees.c.id == _TREE).with_for_update())
_MAY_CONTAIN = Query(
    union(
        select(_e.conversation_group_id).where(
            or_(
                sealed_clause(_e.content),
                sealed_clause(_e.indexed_content),
                contains_any(_e.content, EVERYWHERE),
                contains_any(_e.indexed_content, EVERYWHERE),
            )
        ),
        select(_c.conversation_group_id).where(
            or_(
                sealed_clause(_c.title),
                contains_any(_c.title, EVERYWHERE),
                contains_any(_c.metadata, EVERYWHERE),
            )
        ),
    )
)
_ENTRIES = Query(
    select(*ENTRY_COLUMNS, _e.indexed_content)
    .where(_e.conversation_group_id == _TREE, _e.seq > param("after_seq", _e.seq))
    .order_by(_e.seq)
    .limit(param("limit"))
)
_SET_ENTRY = Query(
    update(entries)
    .where(_e.id == param("id", _e.id))
    .values({n: param(n, _e[n]) for n in ("content", "indexed_content", "user_id")})
)
_TERMS = Query(
    select(index.c.entry_id, index.c.terms).where(InUuidList(index.c.entry_id, param("ids")))
)
_SET_SPEAKER = Query(
    update(index)
    .where(index.c.entry_id == param("id", index.c.entry_id))
    .values(speaker=param("speaker", index.c.speaker))
)
_TEXT_COLUMNS = ("title", "last_message_preview", "metadata")
_BRANCHES = Query(select(*CONVERSATION_COLUMNS).where(_c.conversation_group_id == _TREE))
_SET_CONVERSATION = Query(
    update(conversations)
    .where(_c.id == param("id", _c.id))
    .values({name: param(name, _c[name]) for name in _TEXT_COLUMNS})
)
_TARGET_MEMBERSHIPS = (_m.conversation_group_id == _TREE, InTextList(_m.user_id, USERS))
_OWNED = Query(
    select(_m.user_id)
    .where(*_TARGET_MEMBERSHIPS, _m.access_level == literal_word("owner"))
    .limit(1)
)
_DELETE_MEMBERSHIPS = (
    Query(delete(memberships).where(*_TARGET_MEMBERSHIPS)),
    Query(
        delete(participations).where(
            participations.c.conversation_group_id == _TREE,
            InTextList(participations.c.user_id, USERS),
        )
    ),
    Query(
        delete(transfers).where(
            _x.conversation_group_id == _TREE,
            or_(InTextList(_x.from_user_id, USERS), InTextList(_x.to_user_id, USERS)),
        )
    ),
)
_IS_AGENT = and_(
    _m.user_id >= literal_column("'agent:'", Text), _m.user_id < literal_column("'agent;'", Text)
)
_RANK = case(
    (_m.access_level == literal_word("manager"), literal_column("0")), else_=literal_column("1")
)
_NEXT_OWNER = Query(
    select(_m.user_id)
    .where(_m.conversation_group_id == _TREE, not_(_IS_AGENT))
    .order_by(_RANK, _m.created_at, _m.user_id)
    .limit(1)
)
_PROMOTE_OWNER = Query(
    update(memberships)
    .where(_m.conversation_group_id == _TREE, _m.user_id == _USER)
    .values(access_level=literal_word("owner"))
)
# An owner takes part, whether or not they have written anything.
_CONFIRM_OWNER = Query(
    update(participations)
    .where(
        participations.c.conversation_group_id == _TREE,
        participations.c.user_id == _USER,
        participations.c.left_at.is_(None),
        participations.c.confirmed_at.is_(None),
    )
    .values(confirmed_at=participations.c.joined_at)
)
_SET_OWNER = Query(
    update(conversations)
    .where(_c.conversation_group_id == _TREE)
    .values(owner_user_id=param("user_id", _c.owner_user_id))
)
