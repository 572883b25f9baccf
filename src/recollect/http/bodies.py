"""Base models of request bodies: strict types, and what an unknown or null field means."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel

from recollect.http.params import Schema, UnknownWord, read_uuid, word_reader
from recollect.kernel.ids import USER_ID_CHARS_MAX
from recollect.kernel.validation import DOT_SEGMENT, is_dot_segment
from recollect.search.model import QUERY_CHARS_MAX

NO_CONTROL = r"^[^\x00-\x1f\x7f-\x9f]*$"


def exact_word(kind: type[StrEnum]) -> PlainValidator:
    """Validator of a field that takes exactly one of an enum's words, in their letter case."""
    words = {str(member): member for member in kind}

    def convert(value: Any) -> Any:
        if isinstance(value, str) and value in words:
            return words[value]
        raise UnknownWord(words)

    return PlainValidator(convert, json_schema_input_type=Literal[tuple(words)])


def word_validator(words: dict[str, Any]) -> BeforeValidator:
    """Validator of a field that takes one of these words, in any letter case."""
    read = word_reader(words)

    def convert(value: Any) -> Any:
        if not isinstance(value, str):
            raise ValueError("must be a string")
        return read(value)

    return BeforeValidator(convert)


def default_schema(default: Any, schema: Schema) -> WithJsonSchema:
    """The schema of a field that may be left out; null counts as absent."""
    return WithJsonSchema({"anyOf": [schema, {"type": "null"}], "default": default})


def _refuse_dot_segment(text: str) -> str:
    if is_dot_segment(text):
        raise ValueError(DOT_SEGMENT)
    return text


OffByDefault = Annotated[bool, default_schema(False, {"type": "boolean"})]
UserIdText = Annotated[
    str, Field(min_length=1, max_length=USER_ID_CHARS_MAX), AfterValidator(_refuse_dot_segment)
]
UuidText = Annotated[
    str, AfterValidator(read_uuid), WithJsonSchema({"type": "string", "format": "uuid"})
]
QueryText = Annotated[str, Field(max_length=QUERY_CHARS_MAX)]


def example_config(example: Any) -> ConfigDict:
    """The configuration of a body whose example is not made of those of its fields."""
    return ConfigDict(json_schema_extra={"examples": [example]})


class Body(BaseModel):
    """Base of every request body.

    `optional`: the body may be left out. `listed`: it is an array, not an object. `nullable`:
    fields that null clears. `queries`: fields from which unstorable characters are dropped, while
    in all other fields they are refused. `example`: what an error shows to somebody who sent no
    object. A `title` names the schema in the OpenAPI document where
    the class has another name.
    """

    optional: ClassVar[bool] = False
    listed: ClassVar[bool] = False
    nullable: ClassVar[frozenset[str]] = frozenset()
    queries: ClassVar[frozenset[str]] = frozenset()
    example: ClassVar[str] = ""
    model_config = ConfigDict(strict=True, alias_generator=to_camel, frozen=True)

    @classmethod
    def schema_name(cls) -> str:
        """The name in the OpenAPI document."""
        return cls.model_config.get("title") or cls.__name__


class StrictBody(Body):
    """A body of the memory API: snake_case names, and unknown fields are refused.

    It is the command that the service takes, from REST, gRPC and other callers alike.
    """

    model_config = ConfigDict(strict=True, alias_generator=None, extra="forbid", frozen=True)

    @property
    def sent_fields(self) -> dict[str, Any]:
        """The values of the fields that were sent. A null among them clears the field."""
        return {name: getattr(self, name) for name in self.model_fields_set}
