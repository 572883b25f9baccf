"""Builds the database engine from the settings, and prepares its schema."""

from recollect.app.stores import open_engine
from recollect.db import migrations
from recollect.db.engines.base import Engine
from recollect.observability.metrics import Metrics
from recollect.settings import Settings


def build_engine(settings: Settings, metrics: Metrics) -> Engine:
    """The engine for the configured database URL, not started yet."""
    database = settings.database
    return open_engine(
        database.url,
        file=database.sqlite_path,
        readers=database.readers,
        connections=database.pool_size,
        metrics=metrics,
    )


def prepare_schema(engine: Engine, *, migrate: bool) -> None:
    """Migrate the schema, or raise Conflict if it is out of date."""
    if migrate:
        migrations.migrate(engine)
    else:
        migrations.require_current(engine)
