"""What lies exactly at a limit is accepted, and comes back as it was sent."""

import json

import pytest

from recollect.api.registry import CONVERSATION_OPERATIONS
from recollect.http.bodies import Body
from recollect.http.operation import Operation
from recollect.search.requests import IndexBatch
from tests.hostile.field_values import (
    ITEMS,
    LIMITS,
    METADATA_BYTES_MAX,
    alternatives,
    an_object_of,
    baseline,
    properties,
)
from tests.hostile.refusals import refused
from tests.hostile.sample_tree import SampleTree, operation
from tests.support.api import reply_of
from tests.support.world import new_id

MIB = 1024 * 1024
BODIES: list[tuple[Operation, type[Body]]] = [
    (row, row.body) for row in CONVERSATION_OPERATIONS if row.body
]


def test_the_schemas_repeat_the_limits_of_the_contract() -> None:
    seen = set()
    for _, model in BODIES:
        for name, schema in properties(model).items():
            for each in alternatives(schema):
                if name in LIMITS and each.get("format") != "uuid":
                    assert each["maxLength"] == LIMITS[name]
                    seen.add(name)
                if "maxItems" in each:
                    assert each["maxItems"] == ITEMS[model]
        if model.listed:
            assert model.model_json_schema()["maxItems"] == ITEMS[model]
    assert seen == set(LIMITS)


def test_exactly_at_the_limit_is_accepted(sample_tree: SampleTree) -> None:
    ann, title = sample_tree.owner, "\U0001f389" * LIMITS["title"]
    conversation = ann.starts(title, an_object_of(METADATA_BYTES_MAX))
    entry = ann.says(conversation, "x", indexedContent="i" * LIMITS["indexedContent"])
    assert ann.forks(conversation, entry, title)["title"] == title
    ann.call("update_conversation", conversation, body={"title": title[:-1]}).expect(200)
    heir = sample_tree.world.named("h" * LIMITS["userId"])
    ann.shares(conversation, heir, "writer")
    heir.says(conversation, "y", userId=heir.name)
    ann.offers(conversation, heir)
    ann.notes(conversation, *range(1_000), contentType="c" * LIMITS["contentType"])
    ann.syncs(new_id(), list(range(10_000)))
    ann.call("search", body={"query": "\U0001f389" * LIMITS["query"], "limit": 1_000}).expect(200)
    text = "i" * LIMITS["indexedContent"]
    item = {"conversationId": conversation["id"], "entryId": entry["id"], "indexedContent": text}
    short = [item | {"indexedContent": "i"}] * (ITEMS[IndexBatch] - 1)
    sample_tree.world.admin.call("index", body=[*short, item]).expect(200)
    justified = json.dumps({"justification": "j" * 1_000})
    assert sample_tree.send(operation("adminListEvents"), justified).status_code == 200


def test_exactly_16_mib_are_accepted(sample_tree: SampleTree) -> None:
    body = b"{}" + b" " * (16 * MIB - 2)
    assert sample_tree.send(operation("createConversation"), body).status_code == 201
    refused(sample_tree.send(operation("createConversation"), body + b" "), "payload_too_large")


@pytest.mark.parametrize("digits", [20, 4_300])
def test_long_integers_come_back_exactly(sample_tree: SampleTree, digits: int) -> None:
    number = "9" * digits
    ids = {"id": new_id()}
    content = f'{{"contentType":"x","content":[{number},{{"n":-{number}}}]}}'
    assert sample_tree.send(operation("appendEntry"), content, ids=ids).status_code == 201
    listed = sample_tree.send(operation("listEntries"), ids=ids)
    assert f'"content":[{number},{{"n":-{number}}}]' in listed.text


def test_64_levels_are_accepted(sample_tree: SampleTree) -> None:
    content = '{"contentType":"x","content":' + "[" * 63 + "]" * 63 + "}"
    ids = {"id": new_id()}
    assert sample_tree.send(operation("appendEntry"), content, ids=ids).status_code == 201
    assert sample_tree.send(operation("listEntries"), ids=ids).status_code == 200


@pytest.mark.parametrize(("row", "model"), BODIES, ids=[row.name for row, _ in BODIES])
def test_words_of_a_list_come_in_any_letter_case(
    sample_tree: SampleTree, row: Operation, model: type[Body]
) -> None:
    for name, schema in properties(model).items():
        words = [w for each in alternatives(schema) for w in each.get("enum", ())]
        for word in words:
            for shown in (word.upper(), word.title()):
                body = baseline(model) | {name: shown}
                response = sample_tree.send(
                    row, json.dumps(body), ids={"id": new_id(), "userId": "nobody"}
                )
                assert response.status_code != 400 or response.json()["code"] == "bad_request"


def test_an_answer_is_whole_json_whatever_the_title_holds(sample_tree: SampleTree) -> None:
    title = '"\\/</script>\u2028\u2029\ufeff\u202e\U0010ffff\ue000 {0} %s $1'
    sample_tree.owner.starts(title)
    listed = reply_of(sample_tree.send(operation("listConversations"))).expect(200)
    assert title in [c.get("title") for c in listed["data"]]
