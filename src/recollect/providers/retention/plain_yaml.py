"""A small, plain part of YAML, in which every member has a line.

Decimal whole numbers, true, false and null are what they look like; all else is text. YAML's other
ways to write numbers, dates and truth are easy to mistake (`010`, `1:30`, `no`). Aliases and tags
are refused: a few lines of them can stand for a document that no memory holds.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

Place = tuple[str | int, ...]

# The rules need six; the composer recurses, and must not run out of stack.
_DEPTH_MAX = 20
# Python refuses to read very long numbers.
_DIGITS_MAX = 18
_BOOL, _INT, _NULL = (f"tag:yaml.org,2002:{kind}" for kind in ("bool", "int", "null"))


class YamlFault(Exception):
    """The text is not of this part of YAML: where, and what would be right."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class Document:
    """A value of mappings, lists, texts, numbers, truths and None; `lines` counts from 1.

    A member stands where its name stands, an item of a list where it begins. A name that is no
    text is written as text in a place.
    """

    value: object
    lines: Mapping[Place, int]


def read_yaml(text: str) -> Document:
    """The one document in the text. Raises YamlFault for the first thing that is wrong."""
    root = _composed(text)
    lines: dict[Place, int] = {(): 1}
    return Document(None if root is None else _Reading(lines).value((), root), lines)


class _Loader(yaml.SafeLoader):
    """Composes nodes; which scalars are not texts is told below."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - overrides what the library shares between loaders
    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise YamlFault(line, "must not refer to an anchor; write the value out")
        if getattr(event, "tag", None) is not None:
            raise YamlFault(line, "must not have a YAML tag (`!…`); write the value alone")
        if self._depth == _DEPTH_MAX:
            raise YamlFault(line, f"must be nested at most {_DEPTH_MAX} deep")
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


_Loader.add_implicit_resolver(_BOOL, re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), "tTfF")
_Loader.add_implicit_resolver(_INT, re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z"), "-+0123456789")
_Loader.add_implicit_resolver(_NULL, re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""])


def _composed(text: str) -> yaml.Node | None:
    loader = None
    try:
        loader = _Loader(text)
        return loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise _told(error) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlFault(line, "must be printable text; a character here is not") from None
    except (ValueError, OverflowError):
        # The library takes some numbers in escapes and directives as they come.
        line = loader.line + 1 if loader else 1
        raise YamlFault(
            line, "must be YAML; a number in an escape or directive is too large"
        ) from None


def _told(error: yaml.MarkedYAMLError) -> YamlFault:
    told = error.problem or "it can't be read"
    if error.context and error.context_mark:
        told = f"{error.context} (line {error.context_mark.line + 1}), {told}"
    line = error.problem_mark.line + 1 if error.problem_mark else 1
    return YamlFault(line, f"must be one YAML document: {told}")


@dataclass(frozen=True, slots=True)
class _Reading:
    """Makes values of nodes, and notes where they stand."""

    lines: dict[Place, int]

    def value(self, place: Place, node: yaml.Node) -> object:
        if isinstance(node, yaml.MappingNode):
            return self._mapping(place, node)
        if isinstance(node, yaml.SequenceNode):
            return [self._inner((*place, at), item, item) for at, item in enumerate(node.value)]
        return _scalar(node)

    def _mapping(self, place: Place, node: yaml.MappingNode) -> dict[object, object]:
        members: dict[object, object] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise YamlFault(_line(key), "the name of a member must be a text")
            name = _scalar(key)
            inner = (*place, str(name))
            first = self.lines.get(inner)
            if first is not None:
                raise YamlFault(_line(key), f"{_dotted(inner)} stands in line {first} already")
            members[name] = self._inner(inner, value, key)
        return members

    def _inner(self, place: Place, node: yaml.Node, stands: yaml.Node) -> object:
        self.lines[place] = _line(stands)
        return self.value(place, node)


def _scalar(node: yaml.Node) -> object:
    text: str = node.value
    if node.tag == _NULL:
        return None
    if node.tag == _BOOL:
        return text.lower() == "true"
    if node.tag != _INT:
        return text
    if len(text) > _DIGITS_MAX:
        raise YamlFault(_line(node), f"a number must have at most {_DIGITS_MAX} digits")
    return int(text)


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1


def _dotted(place: Place) -> str:
    return ".".join(map(str, place))
