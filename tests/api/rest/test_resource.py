"""A resource is declared once: its schema and its JSON come from one model."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from recollect.http.resource import (
    InstantText,
    JsonObject,
    OwnerText,
    Resource,
    ResourcePart,
    attribute,
    resource_schemas,
)
from recollect.http.schemas import INSTANT
from recollect.kernel.owner import Owner

AT = datetime(2026, 4, 1, 9, tzinfo=UTC)


class Colour(StrEnum):
    """A docstring that no caller needs to read."""

    RED = "red"
    BLUE = "blue"


class CupResource(Resource):
    """A cup."""

    id: str
    colour: Colour
    owner_id: OwnerText = attribute("owner")
    made_at: InstantText | None


class ShelfPart(ResourcePart):
    """A part of a cupboard."""

    cups: list[CupResource]


class CupboardResource(Resource):
    """A cupboard."""

    top: ShelfPart
    maker: str = attribute("origin.maker")
    metadata: JsonObject


@dataclass
class Cup:
    """What a resource is rendered from."""

    id: str
    colour: Colour
    owner: Owner
    made_at: datetime | None = None


@dataclass
class Origin:
    """Where a cupboard comes from."""

    maker: str


@dataclass
class Cupboard:
    """Something with parts."""

    top: dict[str, Any]
    origin: Origin
    metadata: dict[str, Any]


def test_all_fields_are_always_there_in_their_order() -> None:
    cup = Cup("c", Colour.RED, Owner.agent("helper"))
    assert CupResource.render(cup) == (
        '{"id":"c","colour":"red","owner_id":"agent:helper","made_at":null}'
    )


def test_a_field_may_take_an_attribute_of_an_attribute() -> None:
    cups = [Cup("c", Colour.BLUE, Owner.user("ann"), AT)]
    shown = CupboardResource.to_fields(Cupboard({"cups": cups}, Origin("Ikea"), {"n": 1e-7}))
    assert shown["maker"] == "Ikea"
    assert shown["top"]["cups"][0]["made_at"] == "2026-04-01T09:00:00.000000Z"


def test_numbers_are_written_as_everywhere_in_the_api() -> None:
    cupboard = Cupboard({"cups": []}, Origin("Ikea"), {"small": 1e-7, "large": 10**30})
    assert '"small":1e-07,"large":1000000000000000000000000000000' in (
        CupboardResource.render(cupboard)
    )


def test_a_schema_requires_every_field_and_has_no_words_from_the_code() -> None:
    cup = resource_schemas(CupResource)["Cup"]
    assert cup["required"] == ["id", "colour", "owner_id", "made_at"]
    assert cup["properties"]["colour"] == {"type": "string", "enum": ["red", "blue"]}
    assert cup["properties"]["made_at"] == {"anyOf": [INSTANT, {"type": "null"}]}
    assert "title" not in cup
    assert "description" not in cup


def test_a_resource_is_referred_to_by_name_and_a_part_is_described_in_place() -> None:
    top = resource_schemas(CupboardResource)["Cupboard"]["properties"]["top"]
    assert top["properties"]["cups"]["items"] == {"$ref": "#/components/schemas/Cup"}
