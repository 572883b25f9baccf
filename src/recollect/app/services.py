"""All services, family by family."""

from recollect import __version__
from recollect.app.authentication import build_issued_keys
from recollect.app.context import AppContext
from recollect.app.conversations import build_conversation_services
from recollect.app.doctor import build_doctor
from recollect.app.memories import build_memory_family
from recollect.app.people import build_people_family
from recollect.app.portability import build_portability_family
from recollect.app.retention import build_retention_family
from recollect.app.search import build_memory_search
from recollect.audit.service import EventService, EventStreamPacing
from recollect.doctor.health import StatusService
from recollect.graph.service import GraphService
from recollect.http.services import Services
from recollect.idempotency.service import IdempotencyService
from recollect.recordings.service import RecorderService
from recollect.search.memories.service import MemorySearchService


def build_services(context: AppContext, recorder: RecorderService) -> Services:
    """Every service of a server."""
    return (
        build_memory_services(context)
        | build_conversation_services(context, recorder)
        | Services(
            recorder,
            context.gate,
            build_issued_keys(context),
            StatusService(
                context,
                context.metrics,
                version=__version__,
                engine=context.database,
                model_files=context.embedding.model_files,
            ),
        )
    )


def build_memory_services(context: AppContext) -> Services:
    """The services of the memory API; they need no server."""
    events = context.settings.events
    search = build_memory_search(context)
    return (
        build_people_family(context)
        | build_memory_family(context, search[MemorySearchService])
        | search
        | build_retention_family(context)
        | build_portability_family(context)
        | Services(
            GraphService(context, context.viewers),
            IdempotencyService(context),
            EventService(
                context,
                context.gate,
                pace=EventStreamPacing(
                    poll_seconds=events.poll_ms / 1000,
                    silence_seconds=events.heartbeat_seconds,
                    streams_max=events.streams_max,
                ),
            ),
            build_doctor(context),
        )
    )
