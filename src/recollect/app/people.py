"""Builds the services of people, chats, agents and runs."""

from recollect.agents.requesters import RequesterLookup, UserRegistrar
from recollect.agents.service import AgentService
from recollect.app.context import AppContext
from recollect.http.services import Services
from recollect.identity.orgs import OrgMemberships
from recollect.memories.agent_removal import AgentWithMemoriesRemoval
from recollect.memories.merge_counter import MergeCounter
from recollect.people.chats_service import ChatService
from recollect.people.claims_service import ClaimService
from recollect.people.merge_service import MergeService
from recollect.people.participants_service import ParticipantService
from recollect.people.service import PeopleService


def build_people_family(context: AppContext) -> Services:
    settings, stores, audit = context.settings, context.stores, context.audit
    local = settings.auth.mode == "local"
    orgs = OrgMemberships(settings.orgs.members, local=local)
    merging = MergeService(
        context, audit, count_visible=MergeCounter(stores, context.viewers).count_visible
    )
    registrar = UserRegistrar(stores, context.runtime, merging)
    return Services(
        RequesterLookup(context, registrar),
        AgentService(
            context, audit, removal=AgentWithMemoriesRemoval(stores, context.runtime, audit)
        ),
        context.runs,
        PeopleService(
            context,
            audit,
            names=context.names,
            merging=merging,
            auto_merge=settings.people.auto_merge,
        ),
        ClaimService(context, audit, names=context.names),
        merging,
        ChatService(context, audit),
        ParticipantService(
            context, audit, registrar=registrar, orgs_of=orgs.find_orgs, local=local
        ),
    )
