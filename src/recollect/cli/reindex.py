"""`recollect reindex`: new vectors for everything. Servers search by the old ones meanwhile."""

from typing import Annotated

import typer

from recollect.cli.options import (
    Config,
    DatabaseUrl,
    load_settings,
    require_database,
)
from recollect.kernel.errors import InvalidInput

NoWait = Annotated[
    bool, typer.Option("--no-wait", help="Only queue the work; servers and workers do it.")
]


def reindex(
    config: Config = None, database_url: DatabaseUrl = None, no_wait: NoWait = False
) -> None:
    """Make the vectors of all entries and memories anew. Search goes on meanwhile."""
    settings = load_settings(config, database_url=database_url).settings
    if not settings.makes_vectors:
        raise InvalidInput(
            "there are no vectors to make: embedding.provider is `none`, "
            "or search.semantic.enabled is false"
        )
    require_database(settings)
    from recollect.cli import reindexing

    if no_wait:
        reindexing.queue_reindex(settings)
        print("Queued: running servers and workers make the vectors.")
    else:
        reindexing.reindex(settings)
