"""Request bodies that are no JSON, or not the JSON that was asked for; of every operation."""

import json
from typing import Any

import pytest

from recollect.api.bodies import Body
from recollect.api.operations import OPERATIONS, Operation
from tests.hostile.members import (
    ITEMS,
    LIMITS,
    METADATA_BYTES_MAX,
    alternatives,
    an_object_of,
    baseline,
    beyond_limits,
    properties,
    wrong_types,
)
from tests.hostile.refusals import refused, violated
from tests.hostile.stage import MARKER, Stage, operation
from tests.support.api import reply_of
from tests.support.world import history, memory, new_id

MIB = 1024 * 1024
WITH_BODY = [row for row in OPERATIONS if row.body is not None]
every_body = pytest.mark.parametrize("row", WITH_BODY, ids=[row.name for row in WITH_BODY])

_M = MARKER.encode()
UNPARSEABLE: dict[str, bytes] = {
    "no JSON": _M,
    "open object": b'{"title":"' + _M + b'"',
    "open string": b'{"title":"' + _M,
    "open array": b"[" + _M,
    "a closing bracket alone": b"}",
    "half a literal": b'{"a":tru',
    "two values": b"{}{}",
    "a trailing comma": b'{"a":1,}',
    "single quotes": b"{'a':1}",
    "a comment": b"{} // " + _M,
    "a bare member": b'{title:"x"}',
    "white space alone": b" \r\n\t",
    "a raw control character": b'{"a":"\x01"}',
    "a raw NUL": b'{"a":"\x00"}',
    "a bad escape": b'{"a":"\\x"}',
    "half an escape": b'{"a":"\\u12',
    "bytes that are no UTF-8": b'{"a":"\xff' + _M + b'"}',
    "an overlong NUL": b'{"a":"\xc0\x80"}',
    "an encoded surrogate": b'{"a":"\xed\xa0\x80"}',
    "UTF-16": ('{"a":"' + MARKER + '"}').encode("utf-16"),
    "UTF-16 without a mark": b'{"a":1}'.decode().encode("utf-16-le"),
    "UTF-32": b'{"a":1}'.decode().encode("utf-32"),
    "NaN": b'{"a":NaN}',
    "Infinity": b'{"a":[Infinity]}',
    "-Infinity": b'{"a":{"b":-Infinity}}',
    "beyond a double": b'{"a":1e999}',
    "5000 digits": b'{"a":' + b"9" * 5000 + b"}",
    "a leading zero": b'{"a":01}',
    "a hexadecimal number": b'{"a":0x1}',
    "65 levels": b'{"a":' + b"[" * 64 + b"]" * 64 + b"}",
    "100000 levels": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100000 open levels": b"[" * 100_000,
    "100000 objects deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
}
NO_OBJECT = (b"[]", b"[{}]", b"7", b"-0.5", b"true", b"null", b'"' + _M + b'"')
STRANGE_TEXTS = (r"\u0000", r"a\ud800", r"\udfff\ud800", r"\ud83dx")
OTHER_MEDIA = (
    "text/plain",
    "text/json",
    "application/xml",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json; charset=utf-16",
    "application/json, text/plain",
    "",
    "*/*",
)


@pytest.mark.usefixtures("untouched")
@every_body
def test_what_is_no_json_is_a_validation_error_of_the_body(stage: Stage, row: Operation) -> None:
    for name, content in UNPARSEABLE.items():
        assert violated(stage.send(row, content)) == {"body"}, name
    for content in NO_OBJECT:
        assert violated(stage.send(row, content)) == {"body"}, content


@pytest.mark.usefixtures("untouched")
@every_body
def test_a_member_of_the_wrong_type_is_named(stage: Stage, row: Operation) -> None:
    for name, schema in properties(_model(row)).items():
        for value in wrong_types(schema):
            body = baseline(_model(row)) | {name: value}
            assert violated(stage.send(row, json.dumps(body))) == {name}, body


@pytest.mark.usefixtures("untouched")
@every_body
def test_a_member_beyond_its_limit_is_named(stage: Stage, row: Operation) -> None:
    for name, schema in properties(_model(row)).items():
        for value in beyond_limits(name, schema):
            body = baseline(_model(row)) | {name: value}
            assert violated(stage.send(row, json.dumps(body))) == {name}, body


@pytest.mark.usefixtures("untouched")
@every_body
def test_texts_that_no_engine_can_hold_are_refused_in_every_member(
    stage: Stage, row: Operation
) -> None:
    for name in properties(_model(row)):
        for text in STRANGE_TEXTS:
            for value in (f'"{text}"', f'["{text}"]', f'{{"{text}":1}}', f'[{{"a":["{text}"]}}]'):
                body = json.dumps(baseline(_model(row)) | {name: MARKER})
                content = body.replace(f'"{MARKER}"', value)
                violated(stage.send(row, content))


@pytest.mark.usefixtures("untouched")
@every_body
def test_a_required_body_and_its_required_members_are_asked_for(
    stage: Stage, row: Operation
) -> None:
    model = _model(row)
    required = {f.alias for f in model.model_fields.values() if f.is_required()}
    if not model.optional:
        assert violated(stage.send(row, b"")) == {"body"}
    if required:
        assert violated(stage.send(row, b"{}")) == required
    for name in required:
        body = baseline(model) | {name: None}
        assert violated(stage.send(row, json.dumps(body))) == {name}, "null counts as absent"


@pytest.mark.usefixtures("untouched")
@every_body
def test_of_duplicate_members_the_last_is_the_one_that_is_judged(
    stage: Stage, row: Operation
) -> None:
    name = next(iter(properties(_model(row))))
    good = baseline(_model(row))
    pairs = [*good.items(), (name, "ok"), (name, {"not": "a text"})]
    content = "{" + ",".join(f"{json.dumps(n)}:{json.dumps(v)}" for n, v in pairs) + "}"
    assert violated(stage.send(row, content)) == {name}


@pytest.mark.usefixtures("untouched")
@every_body
def test_a_body_that_is_not_declared_as_json_is_415(stage: Stage, row: Operation) -> None:
    content = json.dumps(baseline(_model(row)) | {"x": MARKER})
    for media in OTHER_MEDIA:
        refused(stage.send(row, content, headers={"Content-Type": media}), "unsupported_media_type")


@pytest.mark.usefixtures("untouched")
@every_body
def test_17_mib_are_too_large_declared_or_not(stage: Stage, row: Operation) -> None:
    content = b'{"content":"' + _M + b" " * (17 * MIB) + b'"}'
    refused(stage.send(row, content), "payload_too_large")
    chunks = iter([content[:MIB]] * 17)
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    refused(stage.send(row, chunks, headers=headers), "payload_too_large")  # type: ignore[arg-type]


def test_the_schemas_repeat_the_limits_of_the_contract() -> None:
    seen = set()
    for row in WITH_BODY:
        for name, schema in properties(_model(row)).items():
            for each in alternatives(schema):
                if name in LIMITS and each.get("format") != "uuid":
                    assert each["maxLength"] == LIMITS[name]
                    seen.add(name)
                if "maxItems" in each:
                    assert each["maxItems"] == ITEMS[_model(row)]
    assert seen == set(LIMITS)


def test_exactly_at_the_limit_is_accepted(stage: Stage) -> None:
    ann, title = stage.owner, "\U0001f389" * LIMITS["title"]
    conversation = ann.starts(title, an_object_of(METADATA_BYTES_MAX))
    entry = ann.says(conversation, "x", indexedContent="i" * LIMITS["indexedContent"])
    assert ann.forks(conversation, entry, title)["title"] == title
    ann.call("update_conversation", conversation, body={"title": title[:-1]}).expect(200)
    heir = stage.world.named("h" * LIMITS["userId"])
    ann.shares(conversation, heir, "writer")
    heir.says(conversation, "y", userId=heir.name)
    ann.offers(conversation, heir)
    ann.notes(conversation, *range(1_000), contentType="c" * LIMITS["contentType"])
    ann.syncs(new_id(), list(range(10_000)))
    justified = json.dumps({"justification": "j" * 1_000})
    assert stage.send(operation("adminListEvents"), justified).status_code == 200


def test_exactly_16_mib_are_accepted(stage: Stage) -> None:
    body = b"{}" + b" " * (16 * MIB - 2)
    assert stage.send(operation("createConversation"), body).status_code == 201
    refused(stage.send(operation("createConversation"), body + b" "), "payload_too_large")


@pytest.mark.parametrize("digits", [20, 4_300])
def test_long_integers_come_back_exactly(stage: Stage, digits: int) -> None:
    number = "9" * digits
    ids = {"id": new_id()}
    content = f'{{"contentType":"x","content":[{number},{{"n":-{number}}}]}}'
    assert stage.send(operation("appendEntry"), content, **ids).status_code == 201
    listed = stage.send(operation("listEntries"), **ids)
    assert f'"content":[{number},{{"n":-{number}}}]' in listed.text


def test_64_levels_are_accepted(stage: Stage) -> None:
    content = '{"contentType":"x","content":' + "[" * 63 + "]" * 63 + "}"
    ids = {"id": new_id()}
    assert stage.send(operation("appendEntry"), content, **ids).status_code == 201
    assert stage.send(operation("listEntries"), **ids).status_code == 200


@every_body
def test_words_of_a_list_come_in_any_letter_case(stage: Stage, row: Operation) -> None:
    for name, schema in properties(_model(row)).items():
        words = [w for each in alternatives(schema) for w in each.get("enum", ())]
        for word in words:
            for shown in (word.upper(), word.title()):
                body = baseline(_model(row)) | {name: shown}
                response = stage.send(row, json.dumps(body), id=new_id(), userId="nobody")
                assert response.status_code != 400 or response.json()["code"] == "bad_request"


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
    stage: Stage, content: Any, field: str
) -> None:
    body = json.dumps(history("x") | {"content": content})
    for ids in ({}, {"id": new_id()}):
        details = refused(stage.send(operation("appendEntry"), body, **ids), "bad_request")
        assert details["field"] == field


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("content", ["", "  \n", [], [" "], [{}], [{"text": ""}, None], [None]])
def test_a_user_append_with_nothing_in_it_is_an_invalid_request(stage: Stage, content: Any) -> None:
    keyless = stage.world.named(stage.owner.name)
    body = json.dumps({"content": content})
    refused(stage.send(operation("appendEntry"), body, by=keyless), "invalid_request")


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("content", [[7], [True], [[]], [{"events": 7}], [{"attachments": {}}]])
def test_tolerant_history_still_refuses_what_it_cannot_read(stage: Stage, content: Any) -> None:
    keyless = stage.world.named(stage.owner.name)
    body = json.dumps({"content": content})
    details = refused(stage.send(operation("appendEntry"), body, by=keyless), "bad_request")
    assert details["field"].startswith("content[0]")


@pytest.mark.usefixtures("untouched")
def test_members_that_contradict_each_other_are_refused(stage: Stage) -> None:
    append, sync = operation("appendEntry"), operation("syncEntries")
    for row, body in (
        (append, history("x") | {"userId": "somebody else"}),
        (append, history("x") | {"contentType": "text/plain"}),
        (append, memory(["x"]) | {"indexedContent": MARKER}),
        (sync, memory(["x"]) | {"indexedContent": MARKER}),
        (sync, memory(["x"]) | {"channel": "history"}),
        (append, history("x") | {"forkedAtEntryId": new_id()}),
    ):
        response = stage.send(row, json.dumps(body), id=new_id())
        assert refused(response, "bad_request")["field"] in body


def test_an_answer_is_whole_json_whatever_the_title_holds(stage: Stage) -> None:
    title = '"\\/</script>\u2028\u2029\ufeff\u202e\U0010ffff\ue000 {0} %s $1'
    stage.owner.starts(title)
    listed = reply_of(stage.send(operation("listConversations"))).expect(200)
    assert title in [c.get("title") for c in listed["data"]]


def _model(row: Operation) -> type[Body]:
    assert row.body is not None
    return row.body
