"""The registry of agents."""

from tests.support.town import Town


def test_an_agent_without_owner_owns_itself(town: Town) -> None:
    ann = town.person("ann")
    agent = ann.post("/agents", body={"name": "Travel Guide"}).expect(201)
    assert agent["owner_id"] == f"agent:{agent['id']}"
    assert agent["id"].startswith("travel-guide-")
    assert agent["created_by"] == ann.name
    assert ann.get("/agents/{}", agent["id"]).expect(200) == agent


def test_a_misspelt_member_is_refused_by_name(town: Town) -> None:
    ann = town.person("ann")
    details = ann.post("/agents", body={"nmae": "x"}).refused(422, "validation_error")
    (violation,) = details["violations"]
    assert violation["field"] == "nmae"
    assert "known are id, name" in violation["message"]
    ann.get("/agents", nmae="x").refused(422, "validation_error")
