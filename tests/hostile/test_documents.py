"""The API documents against the server: whatever they allow is answered as they say, whatever
they don't is refused. The calls are Schemathesis's; a share of them name things that exist."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from schemathesis.config import PositiveDataAcceptanceConfig
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode

from recollect.api.registry import CONVERSATION_OPERATIONS
from recollect.identity.actions import NEEDS_ROLE
from tests.conftest import SoakSize
from tests.hostile.sample_tree import SampleTree, a_sample_tree
from tests.support.api import headers_of
from tests.support.world import User, World

CONTRACTS = Path(__file__).parents[2] / "contracts"
DOCUMENTS = ("openapi.json", "openapi-admin.json")
CURSORS = {"after", "afterCursor", "cursor"}
SEED = 20260131
# Cursors and the rules of history can't be said in a schema.
POSITIVE_STATUSES = ["2xx", "400", "403", "404", "409"]


def _operations(document: str) -> dict[str, Any]:
    schema = schemathesis.openapi.from_path(CONTRACTS / document)
    checks = schema.config.checks
    checks.positive_data_acceptance = PositiveDataAcceptanceConfig(
        expected_statuses=POSITIVE_STATUSES
    )
    found = [result for result in schema.get_all_operations() if isinstance(result, Ok)]
    return {result.ok().label: result.ok() for result in found}


DESCRIBED = {
    label: operation for document in DOCUMENTS for label, operation in _operations(document).items()
}


def test_both_documents_describe_every_operation() -> None:
    assert set(DESCRIBED) == {f"{row.method} {row.path}" for row in CONVERSATION_OPERATIONS}


@pytest.mark.parametrize("label", sorted(DESCRIBED))
def test_the_server_keeps_to_its_documents(world: World, soak_size: SoakSize, label: str) -> None:
    described, sample_tree = DESCRIBED[label], a_sample_tree(world)
    caller = _caller(sample_tree, label)
    if label.endswith("/restore"):
        sample_tree.owner.deletes(sample_tree.ids["id"])
    headers = headers_of(caller.credentials) | {"X-Requester-Id": caller.name}
    base_url = str(world.api.http.base_url).removesuffix("/v1/")
    answered: set[int] = set()

    def keeps_to_it(case: Any) -> None:
        response = case.call(base_url=base_url, headers=headers)
        case.validate_response(response, headers=headers)
        assert response.status_code < 500
        answered.add(response.status_code)

    bounds = settings(
        max_examples=soak_size(7, 500),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    for cases in (_about_known(described, sample_tree, caller), _any(described, sample_tree)):
        seed(SEED)(bounds(given(cases)(keeps_to_it)))()
    assert answered & {200, 201, 204}, f"no call got through: {answered}"


def _caller(sample_tree: SampleTree, label: str) -> User:
    """Who may do it. Everybody has a key: Schemathesis would invent one."""
    row = next(row for row in CONVERSATION_OPERATIONS if f"{row.method} {row.path}" == label)
    if row.action in NEEDS_ROLE:
        return sample_tree.world.admin.with_key("k1")
    if row.name == "acceptOwnershipTransfer":
        return sample_tree.manager.with_key("k1")
    if row.name == "createOwnershipTransfer":
        sample_tree.owner.call("delete_transfer", sample_tree.ids["transferId"]).expect(204)
    return sample_tree.owner


def _about_known(described: Any, sample_tree: SampleTree, caller: User) -> st.SearchStrategy[Any]:
    """As the document has it, about things that exist."""
    fed: st.SearchStrategy[Any] = described.as_strategy(
        GenerationMode.POSITIVE, path_parameters=_known(described, sample_tree)
    )
    return fed.map(lambda case: _about(case, sample_tree, caller))


def _any(described: Any, sample_tree: SampleTree) -> st.SearchStrategy[Any]:
    """As the document has it, about whatever, and what it does not allow."""
    known = _known(described, sample_tree)
    strategies = [described.as_strategy(GenerationMode.POSITIVE)]
    if known or described.body or described.query:
        strategies.append(described.as_strategy(GenerationMode.NEGATIVE))
    if described.body or described.query:
        strategies.append(described.as_strategy(GenerationMode.NEGATIVE, path_parameters=known))
    return st.one_of(strategies)


def _known(described: Any, sample_tree: SampleTree) -> dict[str, str] | None:
    names = {parameter.name for parameter in described.path_parameters}
    return {name: sample_tree.ids[name] for name in names} or None


def _about(case: Any, sample_tree: SampleTree, caller: User) -> Any:
    """The same call without its invented cursor, and with ids that exist in its body. What the
    rules tie to the caller or to the other channel would only be refused."""
    case.query = {k: v for k, v in (case.query or {}).items() if k not in CURSORS}
    # Two bodies under one key are refused, and few different keys are invented.
    case.headers = {k: v for k, v in (case.headers or {}).items() if k != "Idempotency-Key"}
    known = {
        "conversationId": sample_tree.ids["id"],
        "entryId": sample_tree.ids["entryId"],
        "newOwnerUserId": sample_tree.writer.name,
        "forkedAtConversationId": sample_tree.ids["id"],
        "forkedAtEntryId": sample_tree.ids["entryId"],
    }
    if "/entries" in case.path:
        known["userId"] = caller.name
    is_write = case.path.endswith(("/entries", "/sync"))
    dropped = {"channel", "indexedContent", "role"} if is_write else CURSORS
    if isinstance(case.body, Mapping):
        case.body = _with(known, case.body, dropped)
        if is_write:  # a caller with a key has to name it, and only its own takes any list
            case.body = {**case.body, "contentType": "notes"}
    elif isinstance(case.body, list):
        case.body = [_with(known, item, dropped) for item in case.body]
    return case


def _with(known: Mapping[str, str], sent: Mapping[str, Any], dropped: set[str]) -> dict[str, Any]:
    return {name: known.get(name, value) for name, value in sent.items() if name not in dropped}
