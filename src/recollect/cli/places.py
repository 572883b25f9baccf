"""Options that say where memories are kept and looked for, and which are meant."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from recollect.cli.connection import Session
from recollect.kernel.errors import InvalidInput

_WHERE = "Which space"
_WHICH = "Which memories"
_AGENT_PREFIX = "agent:"


@dataclass(frozen=True)
class Place:
    """A space: the own one of who asks, or that of an agent, a chat or a run."""

    agent: Annotated[
        str | None,
        typer.Option("--agent", metavar="ID", help="An agent's spaces.", rich_help_panel=_WHERE),
    ] = None
    chat: Annotated[
        str | None,
        typer.Option(
            "--chat", metavar="ID", help="A chat or conversation.", rich_help_panel=_WHERE
        ),
    ] = None
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="ID", help="A run; needs --agent.", rich_help_panel=_WHERE),
    ] = None
    private: Annotated[
        bool,
        typer.Option("--private", help="The agent's private space.", rich_help_panel=_WHERE),
    ] = False

    def write_arguments(self, session: Session) -> dict[str, Any]:
        """The arguments of a write to this place."""
        agent = self._agent(session)
        if self.chat is not None:
            return {"space": {"kind": "chat", "id": self.chat}}
        if agent is None:
            return {"space": {"kind": "user"}}
        return self._in_agent(agent)

    def read_arguments(self, session: Session) -> dict[str, Any]:
        """The arguments of a search here."""
        agent = self._agent(session)
        if self.chat is not None:
            return {"chat_id": self.chat}
        return {"spaces": [{"kind": "user"}]} if agent is None else self._in_agent(agent)

    def list_filters(self, session: Session) -> dict[str, Any]:
        """The filters of a list, which names spaces as words."""
        found = self.read_arguments(session)
        if "spaces" in found:
            found["spaces"] = [one["kind"] for one in found["spaces"]]
        return found

    def move_target(self, session: Session) -> dict[str, str]:
        """The space to which a memory moves."""
        agent = self._agent(session)
        if self.run is not None:
            raise InvalidInput("a memory can't move to a run")
        if self.chat is not None:
            return {"kind": "chat", "id": self.chat}
        if agent is None:
            return {"kind": "user"}
        return {"kind": "agent_private" if self.private else "agent_public", "id": agent}

    def title(self, session: Session) -> str:
        """The place for a sentence."""
        agent = self._agent(session)
        if self.chat is not None:
            return f"chat {self.chat}"
        if self.run is not None:
            return f"run {self.run}"
        if agent is None:
            return f"the space of {session.owner}"
        return f"the {'private' if self.private else 'public'} space of agent {agent}"

    def _agent(self, session: Session) -> str | None:
        """The agent of the options, else of the profile, else the one that asks."""
        if self.chat is not None and (self.agent is not None or self.run is not None):
            raise InvalidInput("--chat excludes --agent and --run")
        asks = session.asker or ""
        own = asks.removeprefix(_AGENT_PREFIX) if asks.startswith(_AGENT_PREFIX) else None
        agent = self.agent or session.agent or own
        if agent is None and (self.run is not None or self.private):
            raise InvalidInput("--run and --private need --agent")
        return agent

    def _in_agent(self, agent: str) -> dict[str, Any]:
        place: dict[str, Any] = {"agent_id": agent}
        if self.run is not None:
            place |= {"run_id": self.run, "scope": "session"}
        elif self.private:
            place |= {"visibility": "private"}
        return place


Everywhere = Annotated[
    bool,
    typer.Option("--all", help="All spaces that you may read.", rich_help_panel=_WHERE),
]


@dataclass(frozen=True)
class Which:
    """Filters of memories."""

    types: Annotated[
        list[str] | None,
        typer.Option("--type", help="Such as preference; may be repeated.", rich_help_panel=_WHICH),
    ] = None
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", help="With this tag; may be repeated.", rich_help_panel=_WHICH),
    ] = None
    since: Annotated[
        str | None,
        typer.Option("--since", help="Written at this instant or later.", rich_help_panel=_WHICH),
    ] = None
    before: Annotated[
        str | None,
        typer.Option("--before", help="Written before this instant.", rich_help_panel=_WHICH),
    ] = None
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", help="As it was known at this instant.", rich_help_panel=_WHICH),
    ] = None

    def filters(self) -> dict[str, Any]:
        """The filters that were given, by the names of the API."""
        given: Mapping[str, Any] = {
            "types": self.types,
            "tags": self.tags,
            "created_after": self.since,
            "created_before": self.before,
            "as_of": self.as_of,
        }
        return {name: value for name, value in given.items() if value}


def search_arguments(
    session: Session, place: Place, which: Which, *, everywhere: bool
) -> dict[str, Any]:
    """Where and what a search or recall looks for. In a chat its rules decide what is shown."""
    where = place.read_arguments(session)
    if everywhere:
        where["spaces"] = "all"
    return where | which.filters()
