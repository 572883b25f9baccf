"""Pages of entry search results: cursors, and what is shown of each match."""

import asyncio
import base64
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from recollect.kernel.ids import ConversationId, EntryId
from recollect.kernel.pages import unknown_cursor_error
from recollect.search.commands import SearchEntries
from recollect.search.entries.corpus import Corpus
from recollect.search.highlights import highlight, text_opening
from recollect.search.model import EntryHit, SearchType
from recollect.search.ports import FoundEntry
from recollect.search.ranking.order import RankedRows
from recollect.text import tokens as words

# Highlights of more text than this are made on a worker thread.
_LIGHT_CHARS = 20_000
# Score, scale, with a vector or not, entry id, fingerprint.
_POSITION = struct.Struct(">dd?16s8s")


@dataclass(frozen=True, slots=True)
class EntryPosition:
    """The last match of a page. The next page is scored in the same way, with the same scale, and
    with a query vector or without. Else its scores could not be compared with this one."""

    score: float
    entry_id: str
    scale: float
    with_meaning: bool

    def to_cursor(self, fingerprint: bytes) -> str:
        """Encode the position as an opaque cursor, bound to the search by its fingerprint."""
        id_ = UUID(self.entry_id).bytes
        raw = _POSITION.pack(self.score, self.scale, self.with_meaning, id_, fingerprint)
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    @classmethod
    def from_cursor(cls, cursor: str, fingerprint: bytes) -> "EntryPosition":
        """Decode a cursor. Raises the error for unknown cursors if it is malformed or belongs to
        another search."""
        try:
            padded = cursor + "=" * (-len(cursor) % 4)
            raw = base64.b64decode(padded, altchars=b"-_", validate=True)
            score, scale, with_meaning, id_, made_for = _POSITION.unpack(raw)
        except (ValueError, struct.error):
            raise unknown_cursor_error() from None
        if made_for != fingerprint or not math.isfinite(score) or not 0 < scale < math.inf:
            raise unknown_cursor_error()
        return cls(score, str(UUID(bytes=id_)), scale, with_meaning)


@dataclass(frozen=True, slots=True)
class EntryMatch:
    """One result before its entry is read."""

    score: float
    entry_id: EntryId
    conversation_id: ConversationId
    matched: bool


def matches_after(
    corpus: Corpus, ranked: RankedRows, after: EntryPosition | None, command: SearchEntries
) -> list[EntryMatch]:
    """The matches behind a position: those of the page and, if there is one, the next, which tells
    that another page exists.

    With `group_by_conversation` only the best match of each conversation counts. Matches before the
    position must be looked at too, since they decide which conversations were already shown.
    """
    seen: set[str] = set()
    found: list[EntryMatch] = []
    for row, score, matched in zip(
        ranked.rows.tolist(), ranked.scores.tolist(), ranked.matched.tolist(), strict=True
    ):
        conversation_id = corpus.conversation_ids[row]
        if command.group_by_conversation:
            if conversation_id in seen:
                continue
            seen.add(conversation_id)
        entry_id = corpus.entry_ids[row]
        # Not an offset: compared by value, a page continues at the right match even if entries were
        # added or deleted since the page before.
        if after is not None and (score, entry_id) >= (after.score, after.entry_id):
            continue
        found.append(EntryMatch(score, EntryId(entry_id), ConversationId(conversation_id), matched))
        if len(found) > command.limit:
            break
    return found


async def to_hits(
    places: Sequence[EntryMatch],
    found: Mapping[EntryId, FoundEntry],
    command: SearchEntries,
    query: str,
    *,
    whole_words: bool,
) -> list[EntryHit]:
    """Hits of the matches whose entries could still be read."""
    marked = _words_to_mark(command.type, query)
    prefix = command.type is SearchType.FULLTEXT and not whole_words

    def work() -> list[EntryHit]:
        return [
            _to_hit(place, found[place.entry_id], command, marked, prefix=prefix)
            for place in places
            if place.entry_id in found
        ]

    chars = sum(len(one.text) for one in found.values())
    return work() if chars <= _LIGHT_CHARS else await asyncio.to_thread(work)


def _words_to_mark(type_: SearchType, text: str) -> list[str]:
    """The words that highlights mark: without stop words, unless the query has no others. Full
    text matches stop words too, so it marks them."""
    tokens = words.query_tokens(text)
    if type_ is SearchType.FULLTEXT:
        return tokens
    return [token for token in tokens if token not in words.STOP_WORDS] or tokens


def _to_hit(
    place: EntryMatch,
    found: FoundEntry,
    command: SearchEntries,
    marked: Sequence[str],
    *,
    prefix: bool,
) -> EntryHit:
    excerpt = None
    if place.matched:
        excerpt = highlight(found.text, marked, prefix=prefix)
    return EntryHit(
        conversation_id=place.conversation_id,
        entry_id=place.entry_id,
        score=place.score,
        conversation_title=found.title,
        highlights=excerpt or text_opening(found.text),
        entry=found.entry if command.include_entry else None,
        unreadable=found.unreadable,
    )
