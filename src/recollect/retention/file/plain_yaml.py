"""A parser for a small subset of YAML that knows the line of every field.

Decimal integers, true, false and null have their type; everything else is a string. YAML's other
notations for numbers, dates and booleans are easy to mistake (`010`, `1:30`, `no`). Aliases and
tags are refused: a few lines of nested aliases can expand to gigabytes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

NodePath = tuple[str | int, ...]

# The retention file needs six levels. The composer recurses and must not exhaust the stack.
_DEPTH_MAX = 20
# Python refuses to convert very long numbers.
_DIGITS_MAX = 18
_BOOL, _INT, _NULL = (f"tag:yaml.org,2002:{kind}" for kind in ("bool", "int", "null"))


class PlainYamlError(Exception):
    """The text is not in this subset of YAML: the line, and what would be right."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """The value, and the line of every field and item, counted from 1.

    The line of a field is that of its name. In paths every field name is a string, even one that
    YAML reads as a number.
    """

    value: object
    lines: Mapping[NodePath, int]


def read_yaml(text: str) -> YamlDocument:
    """The one document in the text. Raises YamlFault for the first thing that is wrong."""
    root = _compose(text)
    lines: dict[NodePath, int] = {(): 1}
    return YamlDocument(None if root is None else _ValueBuilder(lines).build_value((), root), lines)


class _Loader(yaml.SafeLoader):
    """Composes nodes. The resolvers below say which scalars are not strings."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - overrides what the library shares between loaders
    _depth = 0

    # Composing is where aliases are resolved and nesting recurses, so both are refused here, before
    # they can cost memory or stack.
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise PlainYamlError(line, "must not refer to an anchor; write the value out")
        if getattr(event, "tag", None) is not None:
            raise PlainYamlError(line, "must not have a YAML tag (`!…`); write the value alone")
        if self._depth == _DEPTH_MAX:
            raise PlainYamlError(line, f"must be nested at most {_DEPTH_MAX} deep")
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


_Loader.add_implicit_resolver(_BOOL, re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), "tTfF")
_Loader.add_implicit_resolver(_INT, re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z"), "-+0123456789")
_Loader.add_implicit_resolver(_NULL, re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""])


def _compose(text: str) -> yaml.Node | None:
    loader = None
    try:
        loader = _Loader(text)
        return loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise PlainYamlError(line, "must be printable text; a character here is not") from None
    except (ValueError, OverflowError):
        # The library converts numbers in escapes and directives without a check.
        line = loader.line + 1 if loader else 1
        raise PlainYamlError(
            line, "must be YAML; a number in an escape or directive is too large"
        ) from None


def _syntax_error(error: yaml.MarkedYAMLError) -> PlainYamlError:
    problem = error.problem or "it can't be read"
    if error.context and error.context_mark:
        problem = f"{error.context} (line {error.context_mark.line + 1}), {problem}"
    line = error.problem_mark.line + 1 if error.problem_mark else 1
    return PlainYamlError(line, f"must be one YAML document: {problem}")


@dataclass(frozen=True, slots=True)
class _ValueBuilder:
    """Builds values of nodes and records their lines."""

    lines: dict[NodePath, int]

    def build_value(self, place: NodePath, node: yaml.Node) -> object:
        if isinstance(node, yaml.MappingNode):
            return self._build_mapping(place, node)
        if isinstance(node, yaml.SequenceNode):
            return [
                self._build_child((*place, at), item, item) for at, item in enumerate(node.value)
            ]
        return _parse_scalar(node)

    def _build_mapping(self, place: NodePath, node: yaml.MappingNode) -> dict[object, object]:
        members: dict[object, object] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise PlainYamlError(_line_number(key), "a field name must be a string")
            name = _parse_scalar(key)
            inner = (*place, str(name))
            first = self.lines.get(inner)
            if first is not None:
                path = ".".join(map(str, inner))
                raise PlainYamlError(
                    _line_number(key), f"{path} is defined in line {first} already"
                )
            members[name] = self._build_child(inner, value, key)
        return members

    def _build_child(self, place: NodePath, node: yaml.Node, stands: yaml.Node) -> object:
        self.lines[place] = _line_number(stands)
        return self.build_value(place, node)


def _parse_scalar(node: yaml.Node) -> object:
    text: str = node.value
    if node.tag == _NULL:
        return None
    if node.tag == _BOOL:
        return text.lower() == "true"
    if node.tag != _INT:
        return text
    if len(text) > _DIGITS_MAX:
        raise PlainYamlError(_line_number(node), f"a number must have at most {_DIGITS_MAX} digits")
    return int(text)


def _line_number(node: yaml.Node) -> int:
    return node.start_mark.line + 1
