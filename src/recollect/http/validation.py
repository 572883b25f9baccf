"""Validates request bodies and query parameters, for REST and gRPC.

All violations of a request are reported together, under the field names that the caller uses.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from recollect.http.bodies import NO_CONTROL, Body
from recollect.http.params import VALUES_MAX, Param, allowed_words
from recollect.http.suggestions import unknown_name
from recollect.kernel.errors import ValidationFailed, Violation
from recollect.kernel.strict_json import drop_unstorable

BODY_BYTES_MAX = 16 * 1024 * 1024

# What pydantic says of these is about Python.
_MESSAGES = {
    "missing": "is required",
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
}

Parameters = Mapping[str, list[str]]
M = TypeVar("M", bound=Body)


def validate_body(value: Any, model: type[M]) -> M:
    """Validate a parsed JSON value as a body model. Raises ValidationFailed."""
    try:
        return model.model_validate(_select_sent(value, model))
    except ValidationError as error:
        raise _to_validation_error(error, model) from None


def refuse_unknown_parameters(parameters: Parameters, known: Iterable[str]) -> None:
    """Refuse unknown query parameters: a misspelt filter must not be ignored silently."""
    names = sorted(known)
    unknown = [drop_unstorable(name)[:100] for name in parameters if name not in names]
    if unknown:
        raise _validation_error([unknown_name("parameter", name, names) for name in unknown])


def read_parameters(parameters: Parameters, wanted: Iterable[Param]) -> dict[str, Any]:
    """The value of each wanted parameter. Raises ValidationFailed with all violations at once."""
    values: dict[str, Any] = {}
    wrong: list[Violation] = []
    for param in wanted:
        try:
            values[param.name] = _read_parameter(parameters, param)
        except ValueError as error:
            wrong.append(Violation(param.name, str(error), allowed_words(error)))
    if wrong:
        raise _validation_error(wrong)
    return values


def _select_sent(value: Any, model: type[Body]) -> Any:
    """What the model has to check: the list, or the object's fields without those that are null.

    Null counts as absent, except in the model's `nullable` fields, where it clears.
    """
    if model.listed:
        if not isinstance(value, list):
            raise ValidationFailed.for_field("body", "must be a JSON array")
        return value
    if not isinstance(value, dict):
        raise ValidationFailed.for_field("body", "must be a JSON object")
    return {k: v for k, v in value.items() if v is not None or k in model.nullable}


def _read_parameter(parameters: Parameters, param: Param) -> Any:
    given = parameters.get(param.name)
    if given is None:
        return param.default
    if param.many:
        return _read_many(given, param)
    if len(set(given)) > 1:
        raise ValueError("must not be given twice with different values")
    return param.read(given[0])


def _read_many(given: list[str], param: Param) -> tuple[Any, ...]:
    if len(given) > VALUES_MAX:
        raise ValueError(f"must not be given more than {VALUES_MAX} times")
    return tuple(param.read(text) for text in dict.fromkeys(given))


def _to_validation_error(error: ValidationError, model: type[Body]) -> ValidationFailed:
    return _validation_error(
        [_to_violation(e, model) for e in error.errors(include_url=False, include_input=False)]
    )


def _to_violation(error: ErrorDetails, model: type[Body]) -> Violation:
    *way, last = error["loc"] or ("",)
    field = _field_path(error["loc"])
    if error["type"] == "extra_forbidden":
        known = _model_at(model, way).model_fields
        return replace(unknown_name("field", str(last), known), field=field)
    context = error.get("ctx", {})
    if error["type"] == "model_type":
        example = _model_at(model, error["loc"]).example
        return Violation(field, "must be an object" + (f" such as {example}" if example else ""))
    if context.get("pattern") == NO_CONTROL:
        return Violation(field, "must not contain control characters")
    if error["type"] in _MESSAGES:
        return Violation(field, _MESSAGES[error["type"]].format(**context))
    message = error["msg"].removeprefix("Value error, ")
    return Violation(field, message, allowed_words(context.get("error")))


def _model_at(model: type[Body], way: Iterable[int | str]) -> type[Body]:
    """The model of the nested object at a location. Only models refuse unknown fields, so there
    is one."""
    for name in way:
        if isinstance(name, str):
            model = next(_models_in(model.model_fields[name].annotation))
    return model


def _models_in(annotation: Any) -> Iterator[type[Body]]:
    """The models inside a type annotation, such as those of an optional or a list."""
    if isinstance(annotation, type) and issubclass(annotation, Body):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _field_path(location: Iterable[int | str]) -> str:
    """The path of a field, such as `aliases[0].value`; `body` for the body as a whole."""
    way = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return drop_unstorable(way.removeprefix("."))[:200] or "body"


def _validation_error(violations: list[Violation]) -> ValidationFailed:
    return ValidationFailed("; ".join(f"{v.field}: {v.message}" for v in violations), violations)
