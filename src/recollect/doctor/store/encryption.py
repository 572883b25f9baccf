"""What the doctor says of encryption: which stored values do not open, and what lies plain."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, and_, func, literal_column, not_, select
from sqlalchemy.sql.selectable import FromClause

from recollect.db.encrypted_columns import ENCRYPTED_COLUMNS, is_readable, sample_values
from recollect.db.statements import Query
from recollect.db.tables.conversations import embeddings, entries, index
from recollect.db.tables.memories import memories, memory_embeddings, memory_index
from recollect.db.tables.people import named_chats, people, person_aliases
from recollect.db.transaction import Tx
from recollect.kernel.runtime import SEALED_MARKER, Cipher

_SAMPLE = 200
_IDS_MAX = 10


@dataclass(slots=True)
class KeySamples:
    """By key id: how many values were opened, and how many did not open. `places` names a few of
    these, as `table.column id`."""

    opened: Counter[str] = field(default_factory=Counter)
    unreadable: Counter[str] = field(default_factory=Counter)
    places: list[str] = field(default_factory=list)

    def add(self, key_id: str, place: str, *, readable: bool) -> None:
        """Count one value."""
        (self.opened if readable else self.unreadable)[key_id] += 1
        if not readable and len(self.places) < _IDS_MAX:
            self.places.append(place)


class EncryptionReportStore:
    """Reads samples and counts; writes nothing."""

    def __init__(self, cipher: Cipher) -> None:
        self._cipher = cipher

    def sample(self, tx: Tx) -> KeySamples:
        """Open some values of each column under each configured key."""
        found = KeySamples()
        for key_id in self._cipher.key_ids():
            for name in ENCRYPTED_COLUMNS:
                values = sample_values(tx, name, key_id, self._cipher, limit=_SAMPLE)
                for row_id, stored in values:
                    readable = is_readable(self._cipher, name, row_id, stored)
                    found.add(key_id, f"{name} {row_id}", readable=readable)
        return found

    def count_plain(self, tx: Tx) -> Mapping[str, int]:
        """How many rows have something in the clear, by what it is; nothing without keys."""
        if not self._cipher.is_enabled:
            return {}
        return {
            name: sum(int(tx.fetch(query, {})[0][0]) for query in queries)
            for name, queries in _PLAIN.items()
        }


def _is_plain(text: ColumnElement[str]) -> ColumnElement[bool]:
    """Is there a text that is not encrypted?"""
    encrypted = func.substr(text, 1, 1) == literal_column(f"'{SEALED_MARKER[0]}'")
    return and_(text.is_not(None), text != literal_column("''"), not_(encrypted))


def _count(source: FromClause, *conditions: ColumnElement[bool]) -> Query:
    return Query(select(func.count()).select_from(source).where(*conditions))


_NO_LIST: ColumnElement[str] = literal_column("'[]'")
_PLAIN: Mapping[str, tuple[Query, ...]] = {
    "index_words": (
        _count(index, _is_plain(index.c.terms)),
        _count(memory_index, _is_plain(memory_index.c.terms)),
    ),
    "indexed_texts": (_count(entries, _is_plain(entries.c.indexed_content)),),
    "tags": (_count(memories, memories.c.tags != _NO_LIST),),
    "record_keys": (_count(memories, memories.c.key.is_not(None)),),
    "names": (_count(people, _is_plain(people.c.name)),),
    "aliases": (_count(person_aliases, _is_plain(person_aliases.c.value)),),
    "chat_titles": (_count(named_chats, _is_plain(named_chats.c.title)),),
    "vectors": (_count(embeddings), _count(memory_embeddings)),
}
