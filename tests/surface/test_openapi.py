"""The committed API documents: up to date, valid, complete."""

import json
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from jsonschema_rs import Draft202012Validator
from schemathesis.core.result import Ok

from recollect.api.openapi import document as openapi
from recollect.api.registry import OPERATIONS
from recollect.http.operation import OperationFamily

CONTRACTS = Path(__file__).parents[2] / "contracts"
DOCUMENTS = openapi.build_documents()
FAMILIES = {
    "openapi.json": {OperationFamily.CONVERSATIONS, OperationFamily.SYSTEM},
    "openapi-admin.json": {OperationFamily.ADMIN},
    "openapi-memories.json": {OperationFamily.MEMORIES},
    "openapi-merged.json": set(OperationFamily),
}
named_documents = pytest.mark.parametrize("name", DOCUMENTS)


@named_documents
def test_the_committed_file_is_the_generated_document(name: str) -> None:
    assert (CONTRACTS / name).read_text(encoding="utf-8") == openapi.to_text(DOCUMENTS[name])


def test_check_tells_a_stale_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(openapi, "_CONTRACTS", tmp_path / "contracts")
    assert openapi.main(["--check"]) == 1
    assert openapi.main([]) == 0
    assert openapi.main(["--check"]) == 0
    (tmp_path / "contracts" / "openapi.json").write_text("{}")
    capsys.readouterr()
    assert openapi.main(["--check"]) == 1
    assert capsys.readouterr().err.startswith("contracts/openapi.json is out of date")


@named_documents
def test_a_reader_of_openapi_finds_every_operation(name: str) -> None:
    rows = OPERATIONS
    wanted = {o.name for o in rows if o.family in FAMILIES[name]}
    schema = schemathesis.openapi.from_dict(DOCUMENTS[name])
    read = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    assert {operation.definition.raw["operationId"] for operation in read} == wanted


@named_documents
def test_every_schema_is_valid_and_every_reference_leads_somewhere(name: str) -> None:
    document = DOCUMENTS[name]
    schemas = document["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator(schema | {"components": document["components"]})
    references = set(find(document, "$ref"))
    for reference in references:
        _, _, kind, target = reference.split("/")
        assert target in document["components"][kind], reference
    used = {reference.rsplit("/", 1)[1] for reference in references}
    assert set(schemas) <= used


@named_documents
def test_every_operation_tells_its_errors_and_who_may_call(name: str) -> None:
    document = DOCUMENTS[name]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            responses = set(operation["responses"])
            assert "500" in responses, (method, path)
            assert bool(operation["security"]) == ("401" in responses), (method, path)
            assert ("requestBody" in operation) <= {"400", "413", "415"}.issubset(responses)
            assert all(
                "description" in response or "$ref" in response
                for response in operation["responses"].values()
            )


def test_a_get_has_no_request_body() -> None:
    for document in DOCUMENTS.values():
        assert not [p for p, m in document["paths"].items() if "requestBody" in m.get("get", {})]


def test_nothing_but_valid_json_is_written() -> None:
    for document in DOCUMENTS.values():
        assert json.loads(openapi.to_text(document)) == document


def find(value: Any, name: str) -> list[Any]:
    """Every value of a member with this name, at any depth."""
    if isinstance(value, list):
        return [found for item in value for found in find(item, name)]
    if not isinstance(value, dict):
        return []
    own = [value[name]] if isinstance(value.get(name), str) else []
    return own + [found for member in value.values() for found in find(member, name)]
