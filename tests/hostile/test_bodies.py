"""Request bodies that are no JSON, or not the JSON that was asked for; of every operation."""

import json

import pytest

from recollect.api.registry import CONVERSATION_OPERATIONS
from recollect.http.bodies import Body
from recollect.http.operation import Operation
from tests.hostile.field_values import (
    baseline,
    beyond_limits,
    member_model,
    properties,
    to_content,
    wrong_types,
)
from tests.hostile.refusals import refused, violated
from tests.hostile.sample_tree import MARKER, SampleTree

MIB = 1024 * 1024
WITH_BODY = [row for row in CONVERSATION_OPERATIONS if row.body is not None]
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
    "NaN and no JSON": b'{"a":NaN',
    "a leading zero": b'{"a":01}',
    "a hexadecimal number": b'{"a":0x1}',
    "65 levels": b'{"a":' + b"[" * 64 + b"]" * 64 + b"}",
    "100000 levels": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100000 open levels": b"[" * 100_000,
    "100000 objects deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
}
NO_NUMBER: dict[str, bytes] = {
    "NaN": b'{"a":NaN}',
    "Infinity": b'{"a":[Infinity]}',
    "-Infinity": b'{"a":{"b":-Infinity}}',
    "beyond a double": b'{"a":1e999}',
    "5000 digits": b'{"a":' + b"9" * 5000 + b"}",
}
NO_OBJECT = (b"[]", b"[{}]")
NEITHER = (b"7", b"-0.5", b"true", b"null", b'"' + _M + b'"')
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
def test_what_is_no_json_is_a_validation_error_of_the_body(
    sample_tree: SampleTree, row: Operation
) -> None:
    for name, content in UNPARSEABLE.items():
        assert violated(sample_tree.send(row, content)) == {"body"}, name
    for name, content in NO_NUMBER.items():
        assert violated(sample_tree.send(row, content)) == {"a"}, name
    for content in (*NEITHER, *((b"[]", b"{}") if _model(row).listed else NO_OBJECT)):
        assert violated(sample_tree.send(row, content)) == {"body"}, content


@pytest.mark.usefixtures("untouched")
@every_body
def test_a_member_of_the_wrong_type_is_named(sample_tree: SampleTree, row: Operation) -> None:
    for name, schema in properties(_model(row)).items():
        for value in wrong_types(schema):
            content = to_content(_model(row), baseline(_model(row)) | {name: value})
            assert violated(sample_tree.send(row, content)) == {name}, content


@pytest.mark.usefixtures("untouched")
@every_body
def test_a_member_beyond_its_limit_is_named(sample_tree: SampleTree, row: Operation) -> None:
    for name, schema in properties(_model(row)).items():
        for value in beyond_limits(name, schema):
            content = to_content(_model(row), baseline(_model(row)) | {name: value})
            assert violated(sample_tree.send(row, content)) == {name}, content


@pytest.mark.usefixtures("untouched")
@every_body
def test_texts_that_no_engine_can_hold_are_refused_in_every_member(
    sample_tree: SampleTree, row: Operation
) -> None:
    model = _model(row)
    for name in properties(model):
        for text in STRANGE_TEXTS:
            plain = () if name in model.queries else (f'"{text}"',)
            for value in (*plain, f'["{text}"]', f'{{"{text}":1}}', f'[{{"a":["{text}"]}}]'):
                body = to_content(model, baseline(model) | {name: MARKER})
                content = body.replace(f'"{MARKER}"', value)
                violated(sample_tree.send(row, content))


@pytest.mark.usefixtures("untouched")
@every_body
def test_a_required_body_and_its_required_members_are_asked_for(
    sample_tree: SampleTree, row: Operation
) -> None:
    model = _model(row)
    fields = member_model(model).model_fields.values()
    required = {str(field.alias) for field in fields if field.is_required()}
    if not model.optional:
        assert violated(sample_tree.send(row, b"")) == {"body"}
    if required:
        assert violated(sample_tree.send(row, to_content(model, {}))) == required
    for name in required:
        content = to_content(model, baseline(model) | {name: None})
        assert violated(sample_tree.send(row, content)) == {name}, "null counts as absent"


@pytest.mark.usefixtures("untouched")
@every_body
def test_of_duplicate_members_the_last_is_the_one_that_is_judged(
    sample_tree: SampleTree, row: Operation
) -> None:
    name = next(iter(properties(_model(row))))
    good = baseline(_model(row))
    pairs = [*good.items(), (name, "ok"), (name, {"not": "a text"})]
    members = "{" + ",".join(f"{json.dumps(n)}:{json.dumps(v)}" for n, v in pairs) + "}"
    content = f"[{members}]" if _model(row).listed else members
    assert violated(sample_tree.send(row, content)) == {name}


@pytest.mark.usefixtures("untouched")
@every_body
def test_a_body_that_is_not_declared_as_json_is_415(
    sample_tree: SampleTree, row: Operation
) -> None:
    content = to_content(_model(row), baseline(_model(row)) | {"x": MARKER})
    for media in OTHER_MEDIA:
        refused(
            sample_tree.send(row, content, headers={"Content-Type": media}),
            "unsupported_media_type",
        )


@pytest.mark.usefixtures("untouched")
@every_body
def test_17_mib_are_too_large_declared_or_not(sample_tree: SampleTree, row: Operation) -> None:
    content = b'{"content":"' + _M + b" " * (17 * MIB) + b'"}'
    refused(sample_tree.send(row, content), "payload_too_large")
    chunks = iter([content[:MIB]] * 17)
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    refused(sample_tree.send(row, chunks, headers=headers), "payload_too_large")


def _model(row: Operation) -> type[Body]:
    assert row.body is not None
    return row.body
