"""Entries that are good JSON and still no history, or no memory."""

import json
from typing import Any

import pytest

from tests.hostile.refusals import refused
from tests.hostile.sample_tree import MARKER, SampleTree, operation
from tests.support.world import history, memory, new_id


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("content", "field"),
    [
        ([], "content"),
        (["text"], "content[0]"),
        ([{}, {}], "content"),
        ([{"text": MARKER}], "content[0].role"),
        ([{"role": "user", "text": MARKER}], "content[0].role"),
        ([{"role": ["USER"], "text": MARKER}], "content[0].role"),
        ([{"role": "USER"}], "content[0]"),
        ([{"role": "USER", "text": None, "events": None}], "content[0]"),
        ([{"role": "USER", "text": 7}], "content[0].text"),
        ([{"role": "USER", "events": {}}], "content[0].events"),
        ([{"role": "USER", "attachments": "x"}], "content[0].attachments"),
        ([{"role": "USER", "attachments": [7]}], "content[0].attachments[0]"),
        ([{"role": "USER", "attachments": [{}]}], "content[0].attachments[0]"),
        ([{"role": "USER", "attachments": [{"href": 7}]}], "content[0].attachments[0].href"),
        (
            [{"role": "USER", "attachments": [{"href": "x"}]}],
            "content[0].attachments[0].contentType",
        ),
    ],
)
def test_a_breach_of_strict_history_names_the_member(
    sample_tree: SampleTree, content: Any, field: str
) -> None:
    body = json.dumps(history("x") | {"content": content})
    for ids in ({}, {"id": new_id()}):
        details = refused(sample_tree.send(operation("appendEntry"), body, ids=ids), "bad_request")
        assert details["field"] == field


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("content", ["", "  \n", [], [" "], [{}], [{"text": ""}, None], [None]])
def test_a_user_append_with_nothing_in_it_is_an_invalid_request(
    sample_tree: SampleTree, content: Any
) -> None:
    keyless = sample_tree.world.named(sample_tree.owner.name)
    body = json.dumps({"content": content})
    refused(sample_tree.send(operation("appendEntry"), body, by=keyless), "invalid_request")


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("content", [[7], [True], [[]], [{"events": 7}], [{"attachments": {}}]])
def test_tolerant_history_still_refuses_what_it_cannot_read(
    sample_tree: SampleTree, content: Any
) -> None:
    keyless = sample_tree.world.named(sample_tree.owner.name)
    body = json.dumps({"content": content})
    details = refused(sample_tree.send(operation("appendEntry"), body, by=keyless), "bad_request")
    assert details["field"].startswith("content[0]")


@pytest.mark.usefixtures("untouched")
def test_members_that_contradict_each_other_are_refused(sample_tree: SampleTree) -> None:
    append, sync = operation("appendEntry"), operation("syncEntries")
    for row, body in (
        (append, history("x") | {"userId": "somebody else"}),
        (append, history("x") | {"contentType": "text/plain"}),
        (append, memory(["x"]) | {"indexedContent": MARKER}),
        (sync, memory(["x"]) | {"indexedContent": MARKER}),
        (sync, memory(["x"]) | {"channel": "history"}),
        (append, history("x") | {"forkedAtEntryId": new_id()}),
    ):
        response = sample_tree.send(row, json.dumps(body), ids={"id": new_id()})
        assert refused(response, "bad_request")["field"] in body
