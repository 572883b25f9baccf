"""Response models: one declaration gives the JSON schema of a resource and its JSON.

A field takes the attribute of its own name from the object that is rendered, or the attribute that
`attribute("owner")` names. In the memory API all fields are always there, even if null, so a field
has no default. In the conversation API a field without a value is left out (`SparseResource`).

Entries are not declared here: `conversations/entries/rest.py` renders them by hand, because their
content is JSON text already.
"""

from datetime import datetime
from typing import Annotated, Any

from pydantic import (
    AliasGenerator,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema

from recollect.http.operation import OWNER
from recollect.http.params import Schema
from recollect.http.schemas import INSTANT, LEVEL, OBJECT, UNREADABLE, UUID, schema_ref
from recollect.kernel.access_level import Level
from recollect.kernel.clock import to_text
from recollect.kernel.owner import Owner
from recollect.kernel.strict_json import JsonText, dump

_SUFFIX = "Resource"
# The field that only rows which can't be decrypted have.
_MARK = "unreadable"
_DESCRIBED = ("description", "examples")

# The types of fields that are no plain JSON values. Each says how it is written and described.
IdText = Annotated[str, WithJsonSchema(UUID)]
LevelName = Annotated[Level, PlainSerializer(lambda level: level.word), WithJsonSchema(LEVEL)]
InstantText = Annotated[datetime, PlainSerializer(to_text), WithJsonSchema(INSTANT)]
OwnerText = Annotated[Owner, PlainSerializer(lambda owner: owner.spelling), WithJsonSchema(OWNER)]
JsonObject = Annotated[dict[str, Any], WithJsonSchema(OBJECT)]
UnreadableFlag = Annotated[
    bool, PlainSerializer(lambda flag: flag or None), WithJsonSchema(UNREADABLE)
]


def attribute(path: str, **described: Any) -> Any:
    """A field whose value is this attribute of the rendered object; dots lead into attributes.
    `described` are its description and its examples."""
    return Field(validation_alias=AliasPath(*path.split(".")), **described)


def optional_attribute(path: str, **described: Any) -> Any:
    """The same for a field that a `SparseResource` leaves out if it has no value."""
    return Field(default=None, validation_alias=AliasPath(*path.split(".")), **described)


class ResourcePart(BaseModel):
    """A part of a resource, described in place wherever it occurs."""

    model_config = ConfigDict(from_attributes=True, frozen=True, validate_by_name=True)

    @classmethod
    def to_fields(cls, source: object) -> dict[str, Any]:
        """The fields of an object with these attributes, as values of JSON."""
        return cls.model_validate(source).json_fields()

    @classmethod
    def render(cls, source: object) -> JsonText:
        """The JSON of an object with these attributes."""
        return cls.model_validate(source).to_json()

    def json_fields(self) -> dict[str, Any]:
        return self.model_dump()

    def to_json(self) -> JsonText:
        # Not pydantic's own JSON: it writes floats another way than the rest of the API.
        return dump(self.json_fields())


class Resource(ResourcePart):
    """A resource with a schema of its own in the document: `AgentResource` is its `Agent`."""


class SparseResource(Resource):
    """A resource of the conversation API: its JSON has camelCase names, and leaves out fields
    that are None. Such fields are declared with the default None."""

    model_config = ConfigDict(alias_generator=AliasGenerator(serialization_alias=to_camel))

    def json_fields(self) -> dict[str, Any]:
        fields = self.model_dump(by_alias=True)
        return {name: value for name, value in fields.items() if value is not None}


class MarkedResource(Resource):
    """A resource of the memory API whose text may be unreadable. The mark is there only then."""

    unreadable: UnreadableFlag | None = None

    def json_fields(self) -> dict[str, Any]:
        fields = self.model_dump()
        return {name: value for name, value in fields.items() if value or name != _MARK}


def resource_schemas(*resources: type[Resource]) -> dict[str, Schema]:
    """The schemas of these resources by name."""
    return {_schema_name(each.__name__): _build_schema(each) for each in resources}


def _schema_name(class_name: str) -> str:
    return class_name.removesuffix(_SUFFIX)


def _build_schema(resource: type[Resource]) -> Schema:
    schema = resource.model_json_schema(
        mode="serialization", schema_generator=_UntitledJsonSchema, ref_template="{model}"
    )
    definitions = schema.pop("$defs", {})
    for described in (schema, *definitions.values()):
        fields = described.get("properties", {})
        if _MARK in fields:
            fields[_MARK] = _without_null(fields[_MARK])
    if issubclass(resource, SparseResource):
        schema["properties"] = {
            name: _without_null(field) for name, field in schema["properties"].items()
        }
    return dict(_replace_refs(_without_docs(schema), definitions))


def _without_null(field: Schema) -> Schema:
    """The schema of a field that is absent rather than null."""
    if field.pop("default", ...) is not None:
        return field
    plain = {name: value for name, value in field["anyOf"][0].items() if name != "examples"}
    return plain | {name: field[name] for name in _DESCRIBED if name in field}


def _replace_refs(value: Any, definitions: Schema) -> Any:
    """The schema with references to resources alone; other definitions stand in place."""
    if isinstance(value, list):
        return [_replace_refs(item, definitions) for item in value]
    if not isinstance(value, dict):
        return value
    fields = {key: _replace_refs(inner, definitions) for key, inner in value.items()}
    name = fields.pop("$ref", None)
    if name is None:
        return fields
    if name.endswith(_SUFFIX):
        return schema_ref(_schema_name(name)) | fields
    return _replace_refs(_without_docs(definitions[name]), definitions) | fields


def _without_docs(schema: Schema) -> Schema:
    """Docstrings are for readers of the code."""
    return {key: value for key, value in schema.items() if key not in {"title", "description"}}


class _UntitledJsonSchema(GenerateJsonSchema):
    """Titles only repeat names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False
