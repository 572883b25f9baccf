"""Opens the database of a process: keys are checked first, then the schema is prepared."""

import asyncio

from recollect.app.context import AppContext
from recollect.app.stores import prepare_schema
from recollect.db.encrypted_columns import ENCRYPTED_COLUMNS
from recollect.db.engines.base import Engine
from recollect.db.key_check import KeyCheck
from recollect.db.tables.conversations import state


async def open_database(context: AppContext, *, migrate: bool) -> None:
    """Open the database for work. Nothing in it is changed if a key is wrong or missing, which
    raises InvalidInput."""
    engine = context.database
    keys = KeyCheck(engine, context.runtime.cipher, context.settings.encryption.allow_missing)
    await keys.verify(await asyncio.to_thread(_existing_tables, engine))
    await open_to_examine(context, migrate=migrate)
    await keys.record()


async def open_to_examine(context: AppContext, *, migrate: bool = False) -> None:
    """Open the database whichever keys it needs: a doctor says what is wrong with them."""
    await asyncio.to_thread(prepare_schema, context.database, migrate=migrate)
    context.database.start()


def _existing_tables(engine: Engine) -> list[str]:
    encrypted = {name.partition(".")[0] for name in ENCRYPTED_COLUMNS}
    return [name for name in (state.name, *sorted(encrypted)) if engine.has_table(name)]
