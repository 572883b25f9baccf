"""Builds export and import."""

from recollect.app.context import AppContext
from recollect.http.services import Services
from recollect.memories.read.history import VersionHistory
from recollect.memories.read.listing import MemoryLister
from recollect.portability.export_service import ExportService
from recollect.portability.import_links import ImportLinks
from recollect.portability.import_memories import MemoryImporter
from recollect.portability.import_others import OtherImporter
from recollect.portability.import_reader import LineReader
from recollect.portability.import_service import ImportService
from recollect.portability.import_targets import ImportTargets


def build_portability_family(context: AppContext) -> Services:
    stores, access, viewers = context.stores, context.access, context.viewers
    targets = ImportTargets(
        stores, context.facts, mode=context.settings.spaces.mode, visibility=context.visibility
    )
    return Services(
        ExportService(
            context,
            context.audit,
            viewers=viewers,
            lists=MemoryLister(stores, VersionHistory(stores, context.facts)),
            gate=context.admin_gate,
        ),
        ImportService(
            context,
            context.audit,
            reader=LineReader(context.screening, context.names),
            others=OtherImporter(stores, targets, local=context.settings.auth.mode == "local"),
            memories=MemoryImporter(
                stores,
                context.runtime,
                places=targets,
                links=ImportLinks(stores, access, viewers),
                access=access,
                screening=context.screening,
                expiry=context.expiry,
                hooks=context.hooks,
            ),
            gate=context.admin_gate,
        ),
    )
