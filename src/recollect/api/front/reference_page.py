"""The page at `/docs`: the reference of the API, made from the merged OpenAPI document."""

import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from recollect.api.front.layout import document, prose, sample

_Schema = Mapping[str, Any]


def render_reference_page(openapi: _Schema) -> str:
    """The whole reference as one page."""
    by_tag: dict[str, list[str]] = {tag["name"]: [] for tag in openapi["tags"]}
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            by_tag[operation["tags"][0]].append(_operation(path, method, operation, openapi))
    sections = "".join(
        _section(tag["name"], tag["description"], by_tag[tag["name"]]) for tag in openapi["tags"]
    )
    schemas = openapi["components"]["schemas"]
    described = [_schema_details(name, schemas[name]) for name in sorted(schemas)]
    sections += _section("schemas", "What requests and answers are made of.", described)
    counts = {name: len(found) for name, found in by_tag.items()} | {"schemas": len(described)}
    links = "".join(
        f'<li><a href="#{name}"><span>{escape(name)}</span><span>{count}</span></a></li>'
        for name, count in counts.items()
    )
    body = f"""<header class="bar"><a href="/">Recollect</a><span class="quiet">API reference</span>
<input id="filter" type="search" placeholder="Filter" aria-label="Filter operations" hidden>
</header>
<main class="reference">
<nav class="tags" aria-label="Subjects"><ul>{links}</ul></nav>
<div class="content"><h1>API reference</h1>
<p>{prose(openapi["info"]["description"])}</p>
<p>The same as <a href="/openapi-merged.json">OpenAPI</a>.</p>
{sections}</div>
</main>"""
    return document("Recollect API", body)


def _section(name: str, about: str, details: Iterable[str]) -> str:
    return (
        f'<section id="{name}"><h2>{escape(name)}</h2><p>{prose(about)}</p>{"".join(details)}'
        "</section>"
    )


def _operation(path: str, method: str, operation: _Schema, openapi: _Schema) -> str:
    name = operation["operationId"]
    parts = [f"<p>{prose(operation['description'])}</p>", _who_may(operation)]
    if operation["parameters"]:
        rows = (
            _field(
                one["name"],
                one["schema"],
                one["description"],
                must=one["required"],
                place=one["in"],
            )
            for one in operation["parameters"]
        )
        parts.append(f'<h3>Parameters</h3><dl class="fields">{"".join(rows)}</dl>')
    parts += _request(operation.get("requestBody"), openapi)
    parts += _responses(operation["responses"], openapi)
    return (
        f'<details id="{name}"><summary><span class="method {method}">{method.upper()}</span>'
        f'<code>{escape(path)}</code><span class="title">{prose(operation["summary"])} · {name}'
        f'</span></summary><div class="inside">{"".join(parts)}</div></details>'
    )


def _who_may(operation: _Schema) -> str:
    if not operation["security"]:
        return '<p class="quiet">Needs no credentials.</p>'
    return ""


def _request(body: _Schema | None, openapi: _Schema) -> Iterator[str]:
    if body is None:
        return
    for media, content in body["content"].items():
        yield f"<h3>Request</h3>{sample(media, _text(content['example']))}"
        yield _fields_of(content["schema"], openapi)


def _responses(responses: _Schema, openapi: _Schema) -> Iterator[str]:
    rows = []
    for status, response in responses.items():
        answer = _resolve(response, openapi)
        shape = next(
            (
                _type(one["schema"])
                for one in answer.get("content", {}).values()
                if "schema" in one and status[0] == "2"
            ),
            "",
        )
        rows.append(
            f"<li><code>{status}</code>{prose(answer['description'])}"
            f"{f' <span class=type>{shape}</span>' if shape else ''}</li>"
        )
    yield f'<h3>Answers</h3><ul class="statuses">{"".join(rows)}</ul>'
    for status, answer in responses.items():
        for content in answer.get("content", {}).values():
            if "example" in content:
                yield sample(f"Example of {status}", _text(content["example"]))


def _schema_details(name: str, schema: _Schema) -> str:
    inside = f"<p>{prose(schema['description'])}</p>" if "description" in schema else ""
    if "enum" in schema:
        words = ", ".join(f"<code>{escape(str(word))}</code>" for word in schema["enum"])
        inside += f"<p>One of {words}.</p>"
    inside += _fields(schema)
    return (
        f'<details class="schema" id="{name}"><summary><code>{name}</code></summary>'
        f'<div class="inside">{inside}</div></details>'
    )


def _fields_of(schema: _Schema, openapi: _Schema) -> str:
    resolved = _resolve(schema, openapi)
    if resolved.get("type") == "array":
        return f"<p>A list of {_type(resolved['items'])}.</p>"
    return _fields(resolved)


def _fields(schema: _Schema) -> str:
    must = schema.get("required", ())
    rows = [
        _field(name, field, field.get("description", ""), must=name in must)
        for name, field in schema.get("properties", {}).items()
    ]
    return f'<dl class="fields">{"".join(rows)}</dl>' if rows else ""


def _field(name: str, schema: _Schema, about: str, *, must: bool, place: str = "") -> str:
    required = ' <span class="must">required</span>' if must else ""
    where = f' <span class="type">in {place}</span>' if place else ""
    limits = _limits(schema)
    text = f"{about} {limits}" if limits else about
    return (
        f'<div><dt><code>{escape(name)}</code> <span class="type">{_type(schema)}</span>'
        f"{where}{required}</dt><dd>{prose(text)}</dd></div>"
    )


def _limits(schema: _Schema) -> str:
    """The default and the bounds of a value, as a sentence each."""
    inner = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
    words = []
    if schema.get("default") is not None:
        words.append(f"Default `{_text(schema['default'])}`.")
    for low, high, unit in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ):
        if high in inner:
            words.append(f"{inner.get(low, 0):,} to {inner[high]:,}{unit}.")
    return " ".join(words)


def _type(schema: _Schema) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "const" in schema:
        return f"<code>{escape(json.dumps(schema['const']))}</code>"
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    return escape(schema.get("format", schema.get("type", "anything")))


def _resolve(value: _Schema, openapi: _Schema) -> _Schema:
    if "$ref" not in value:
        return value
    _, _, kind, name = value["$ref"].split("/")
    found: _Schema = openapi["components"][kind][name]
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
