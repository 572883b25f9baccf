"""What each client is to do, drawn before it begins: what a step is about is picked when it runs,
from what the client knows by then."""

from dataclasses import dataclass

from hypothesis import strategies as st

OWN_TREES = (
    "create",
    "say",
    "note",
    "sync",
    "fork",
    "list",
    "share",
    "change_level",
    "remove",
    "offer",
    "answer_offer",
    "rename",
    "delete",
    "friend_reads",
    "friend_says",
    "search",
)
OWN_MEMORIES = ("add", "repeat", "change", "change_stale", "forget", "find", "list_memories")
COMMON = (
    "say_in_common",
    "sync_in_common",
    "grant_in_common",
    "hand_over",
    "take_back",
    "start_in_common",
    "change_in_common",
    "repeat_in_common",
    "claim_in_common",
)
# What the rest builds on comes more often.
ACTS = (*OWN_TREES, *OWN_MEMORIES, *COMMON, "say", "say", "sync", "fork", "add", "add")


@dataclass(frozen=True, slots=True)
class Step:
    """One act, and two numbers to pick by."""

    act: str
    pick: int
    other: int


@dataclass(frozen=True, slots=True)
class Program:
    """The steps of one client, and the number from which it draws nodes and surfaces."""

    turns: int
    steps: tuple[Step, ...]


_steps = st.builds(Step, st.sampled_from(ACTS), st.integers(0, 1_000), st.integers(0, 1_000))


def programs(clients: int, steps: int) -> st.SearchStrategy[list[Program]]:
    """One for each client."""
    listed = st.lists(_steps, min_size=steps, max_size=steps).map(tuple)
    program = st.builds(Program, st.integers(0, 2**32), listed)
    # Hypothesis begins with the simplest of all: everybody does the same thing all the time.
    return st.lists(program, min_size=clients, max_size=clients).filter(_are_mixed)


def _are_mixed(drawn: list[Program]) -> bool:
    return len({step.act for program in drawn for step in program.steps}) > len(ACTS) // 2
