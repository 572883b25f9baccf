"""Refuses a start with encryption keys that do not fit the stored values.

The database keeps a check value for each key id: a fixed text that the key encrypted. A server
records the check values of its keys before it encrypts anything, so every key id of a stored value
has one. The text is empty where values of a key id were found and the key was never seen.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sqlalchemy import delete, func, select, update

from recollect.db.encrypted_columns import (
    ENCRYPTED_COLUMNS,
    is_readable,
    sample_values,
    used_key_ids,
)
from recollect.db.engines.base import Engine
from recollect.db.engines.expressions import insert_if_absent
from recollect.db.statements import Query, param
from recollect.db.tables.conversations import state
from recollect.db.transaction import Tx
from recollect.kernel.errors import Internal, InvalidInput
from recollect.kernel.runtime import Cipher

CHECK_PREFIX = "encryption_check:"
# Written with the first check values, also where there are none: from then on the values themselves
# need not be searched for keys.
RECORDED = "encryption_checks_recorded"

_TEXT = "recollect"
_SAMPLE = 20


@dataclass(frozen=True, slots=True)
class KeyFindings:
    """What a database says of the configured keys: ids of keys that are not those that encrypted
    its values, ids that its values need and that are not configured, ids that lack a check value,
    and ids of check values that no value needs any more."""

    wrong: Collection[str] = ()
    missing: Collection[str] = ()
    unrecorded: Collection[str] = ()
    unused: Collection[str] = ()
    recorded: bool = False


@dataclass(slots=True)
class KeyCheck:
    """Compares the keys of a process with its database: `verify` before the schema is touched,
    `record` once it is there."""

    engine: Engine
    cipher: Cipher
    allow_missing: Collection[str] = ()
    _findings: KeyFindings = field(default_factory=KeyFindings)

    async def verify(self, tables: Collection[str]) -> None:
        """Raises InvalidInput for a wrong key, and for a key that is missing. Writes nothing.

        `tables` are those that exist.
        """
        if state.name in tables:
            self._findings = await self.engine.inspect(lambda tx: self._examine(tx, tables))
        self._refuse(self._findings)

    async def record(self) -> None:
        """Store the check values that are missing, and remove those that nothing needs. Raises
        InvalidInput if another process recorded another key under the same id meanwhile."""
        found = self._findings
        unrecorded = [id_ for id_ in self.cipher.key_ids() if id_ not in found.wrong]
        if found.recorded and not found.unused and not found.unrecorded:
            return
        await self.engine.write(lambda tx: self._write(tx, found, unrecorded))
        checks = await self.engine.read(_read_checks)
        self._refuse(KeyFindings(wrong=self._find_wrong(checks)))

    def _examine(self, tx: Tx, tables: Collection[str]) -> KeyFindings:
        checks = _read_checks(tx)
        recorded = RECORDED in checks
        configured = self.cipher.key_ids()
        wrong = self._find_wrong(checks)
        unproven = [id_ for id_ in configured if not checks.get(CHECK_PREFIX + id_)]
        unknown = {name.removeprefix(CHECK_PREFIX) for name in checks if name != RECORDED}
        unknown -= {*configured}
        if recorded and not unproven and not unknown:
            return KeyFindings(wrong=wrong, recorded=True)
        columns = [name for name in ENCRYPTED_COLUMNS if name.partition(".")[0] in tables]
        used = {name: used_key_ids(tx, name, self.cipher) for name in columns}
        needed = {id_ for ids in used.values() for id_ in ids}
        fails = [id_ for id_ in unproven if id_ in needed and not self._opens_any(tx, id_, used)]
        missing = needed - {*configured}
        return KeyFindings(
            wrong=[*wrong, *fails],
            missing=sorted(missing),
            unrecorded=[*unproven, *(missing - unknown)],
            unused=sorted(unknown - needed),
            recorded=recorded,
        )

    def _find_wrong(self, checks: Mapping[str, str]) -> list[str]:
        """The configured keys whose check value does not open."""
        return [
            id_
            for id_ in self.cipher.key_ids()
            if (stored := checks.get(CHECK_PREFIX + id_)) and not self._opens_check(id_, stored)
        ]

    def _opens_check(self, key_id: str, stored: str) -> bool:
        name = f"{state.name}.{state.c.value.name}"
        try:
            sealed_by = self.cipher.key_id(stored)
        except Internal:
            return False
        return sealed_by == key_id and is_readable(self.cipher, name, _bound_to(key_id), stored)

    def _opens_any(self, tx: Tx, key_id: str, used: Mapping[str, Collection[str]]) -> bool:
        """Does one of a few values open? Not all of them: a damaged value says nothing of a key."""
        return any(
            is_readable(self.cipher, name, id_, stored)
            for name, ids in used.items()
            if key_id in ids
            for id_, stored in sample_values(tx, name, key_id, self.cipher, limit=_SAMPLE)
        )

    def _write(self, tx: Tx, found: KeyFindings, key_ids: Collection[str]) -> None:
        for key_id in key_ids:
            value = self.cipher.seal(
                _TEXT,
                table=state.name,
                column=state.c.value.name,
                row_id=_bound_to(key_id),
                key_id=key_id,
            )
            params = {"name": CHECK_PREFIX + key_id, "value": value}
            tx.run(_INSERT, params)
            tx.run(_FILL, params)
        for key_id in {*found.missing, *found.wrong}:
            tx.run(_INSERT, {"name": CHECK_PREFIX + key_id, "value": ""})
        for key_id in found.unused:
            tx.run(_DELETE, {"name": CHECK_PREFIX + key_id})
        tx.run(_INSERT, {"name": RECORDED, "value": "1"})

    def _refuse(self, found: KeyFindings) -> None:
        current = next(iter(self.cipher.key_ids()), None)
        for key_id in found.wrong:
            if key_id == current:
                # Values under one id must not need two keys: no later start could tell them apart.
                raise InvalidInput(
                    f"encryption.keys: {key_id!r} is not the key that encrypted the stored values "
                    "of this id; give the right key, or a new key an id of its own"
                )
            if key_id not in self.allow_missing:
                raise InvalidInput(
                    f"encryption.keys: {key_id!r} is not the key that encrypted the stored values "
                    "of this id; give the right key, or name the id in encryption.allow_missing "
                    "to start without these values"
                )
        for key_id in found.missing:
            if key_id not in self.allow_missing:
                raise InvalidInput(
                    f"encryption.keys: stored values need the key {key_id!r}, which is not there; "
                    "add it, or name the id in encryption.allow_missing to start without these "
                    "values"
                )


def _read_checks(tx: Tx) -> dict[str, str]:
    return {str(name): str(value) for name, value in tx.fetch(_CHECKS, {"start": CHECK_PREFIX})}


def _bound_to(key_id: str) -> str:
    return CHECK_PREFIX + key_id


_NAME, _VALUE = param("name", state.c.name), param("value", state.c.value)
_IS_CHECK = func.substr(state.c.name, 1, len(CHECK_PREFIX)) == param("start", state.c.name)
_CHECKS = Query(select(state.c.name, state.c.value).where(_IS_CHECK | (state.c.name == RECORDED)))
_INSERT = Query(insert_if_absent(state, "name").values(name=_NAME, value=_VALUE))
_FILL = Query(update(state).where(state.c.name == _NAME, state.c.value == "").values(value=_VALUE))
_DELETE = Query(delete(state).where(state.c.name == _NAME))
