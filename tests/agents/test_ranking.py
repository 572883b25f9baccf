"""How well an agent fits a query."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from recollect.agents.model import Agent, match_rank
from recollect.kernel.ids import AgentId, OrgId
from recollect.kernel.owner import Owner
from recollect.text.tokens import query_tokens

AT = datetime(2030, 1, 1, tzinfo=UTC)


def rank(query: str, id_: str = "x", name: str | None = None, about: str | None = None) -> int:
    return match_rank(an_agent(id_, name, about), query_tokens(query))


def test_one_more_word_outweighs_the_place_of_a_word() -> None:
    assert rank("rail trip", about="a trip by rail") > rank("rail trip", id_="rail", name="rail")


def test_the_id_counts_most_then_the_name_then_the_description() -> None:
    assert (
        rank("rail", id_="rail")
        > rank("rail", name="Rail")
        > rank("rail", about="by rail")
        > rank("rail", about="water")
        == 0
    )


def test_a_whole_word_beats_its_beginning_in_the_same_place() -> None:
    assert rank("rail", name="rail") > rank("rail", name="railway") > 0
    assert rank("way", name="railway") == 0


def test_case_diacritics_and_repeats_make_no_difference() -> None:
    assert rank("CAFE", name="Café") == rank("café cafe", name="cafe") > 0


@given(st.text(), st.text(max_size=50), st.text(max_size=50))
def test_any_query_has_a_rank_and_an_empty_one_matches_nothing(
    query: str, name: str, about: str
) -> None:
    assert rank(query, "x", name, about) >= 0
    assert rank("", "x", name, about) == 0


def an_agent(id_: str, name: str | None, about: str | None) -> Agent:
    return Agent(
        id=AgentId(id_),
        name=name,
        description=about,
        owner=Owner.agent(id_),
        org_id=OrgId("default"),
        space_mode=None,
        created_by=Owner.user("ann"),
        created_at=AT,
        updated_at=AT,
    )
