"""The document of the whole API: everything that a generator of clients names has a name."""

from collections.abc import Iterator
from typing import Any

from recollect.api.openapi.document import merged_document
from recollect.api.registry import OPERATIONS

METHODS = {"get", "post", "put", "patch", "delete"}


def test_it_has_every_operation_once_with_the_tag_of_its_noun() -> None:
    document = merged_document()
    described = [
        operation
        for methods in document["paths"].values()
        for method, operation in methods.items()
        if method in METHODS
    ]
    assert sorted(one["operationId"] for one in described) == sorted(row.name for row in OPERATIONS)
    named = {tag["name"] for tag in document["tags"]}
    assert {tag for one in described for tag in one["tags"]} <= named


def test_every_reference_leads_somewhere() -> None:
    document = merged_document()
    for name in references(document["paths"]) | references(document["components"]):
        _, _, part, kind, target = (
            name.split("/") if name.count("/") == 4 else ("", *name.split("/"))
        )
        assert target in document[part][kind], name


def test_every_enum_and_every_part_of_a_resource_has_a_name() -> None:
    document = merged_document()
    schemas = document["components"]["schemas"]
    of_errors = {one.rpartition("/")[2] for one in references(document["components"]["responses"])}
    for name, schema in schemas.items():
        if name not in of_errors:
            assert not list(unnamed(schema, top=True)), name
    assert not list(unnamed(document["paths"], top=False))


def references(value: Any) -> set[str]:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = {one for part in parts for one in references(part)}
    return found | ({value["$ref"]} if isinstance(value, dict) and "$ref" in value else set())


def unnamed(value: Any, *, top: bool) -> Iterator[Any]:
    """Words and objects that stand in place. A lone word is no enum."""
    if isinstance(value, list):
        for part in value:
            yield from unnamed(part, top=False)
    if not isinstance(value, dict):
        return
    if not top and (len(value.get("enum", ())) > 1 or "properties" in value):
        yield value
    for part in value.values():
        yield from unnamed(part, top=False)
