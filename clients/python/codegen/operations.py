"""Writes `table.py` with all operations and their arguments, and `_async/operations.py` with one
method for each of them."""

from collections.abc import Iterator

from .document import Argument, ClientOperation, Document

_TABLE_HEADER = '''"""The operations of the server and their arguments. Generated from the OpenAPI
document: do not edit.

An argument that is left out is not sent. In a change, None clears a field.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Required, TypedDict

from recollect_client import models
from recollect_client.values import Operation
'''
# Arguments that a verb of a handle takes apart from its options.
_APART = {
    "createMemory": {"content", "messages", "key", "value"},
    "recallMemories": {"query"},
    "searchMemories": {"query"},
    "putChat": {"kind"},
    "putParticipant": {"kind"},
    "appendEntry": {"content", "role"},
    "syncEntries": {"content"},
    "searchConversations": {"query"},
    "importMemories": {"dry_run"},
}
_METHODS_HEADER = '''"""Every operation of the server as a method. Generated from the OpenAPI
document: do not edit."""

from collections.abc import AsyncIterator
from typing import Unpack

from recollect_client import models, table
from recollect_client._async.call import AsyncCaller


class AsyncOperations:
    """The operations, called as one requester; none means who the credential names."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
'''


def write_table(document: Document) -> str:
    """The text of `table.py`."""
    operations = list(document.operations())
    parts = [_TABLE_HEADER]
    parts += ["\n".join(_argument_lines(one)) for one in operations if _sent_by_name(one)]
    rows = "\n".join(f"    {one.id!r}: {_row(one)}," for one in operations)
    parts.append(f"OPERATIONS: dict[str, Operation] = {{\n{rows}\n}}")
    return "\n\n\n".join(parts) + "\n"


def write_methods(document: Document) -> str:
    """The text of `_async/operations.py`. Streams and texts are in `_async/streams.py`."""
    operations = [one for one in document.operations() if one.is_json]
    parts = [_METHODS_HEADER]
    parts += ["\n".join(_method_lines(one)) + "\n" for one in operations]
    parts += ["\n".join(_iterator_lines(one)) + "\n" for one in operations if one.item]
    return "\n".join(parts)


def _sent_by_name(operation: ClientOperation) -> list[Argument]:
    """The arguments that are sent by name: all but the ids of the path."""
    return [one for one in operation.arguments if one.place != "path"]


def _arguments_class(operation: ClientOperation) -> str:
    return f"{operation.id[0].upper()}{operation.id[1:]}Arguments"


def _argument_lines(operation: ClientOperation) -> Iterator[str]:
    apart = _APART.get(operation.id, set())
    name = _arguments_class(operation)
    options = [one for one in _sent_by_name(operation) if one.name not in apart]
    if not apart:
        yield f"class {name}(TypedDict, total=False):"
        yield f'    """{operation.summary}."""\n'
        yield from map(_argument_line, options)
        return
    base = name.removesuffix("Arguments") + "Options"
    yield f"class {base}(TypedDict, total=False):"
    yield f'    """{operation.summary}: what may be said beside {_listed(apart)}."""\n'
    yield from map(_argument_line, options)
    yield f"\n\nclass {name}({base}, total=False):"
    yield f'    """{operation.summary}."""\n'
    yield from (_argument_line(one) for one in _sent_by_name(operation) if one.name in apart)


def _argument_line(argument: Argument) -> str:
    type_ = f"{argument.type} | None" if argument.nullable else argument.type
    return f"    {argument.name}: {f'Required[{type_}]' if argument.required else type_}"


def _listed(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _row(operation: ClientOperation) -> str:
    fields = [repr(operation.id), repr(operation.method), repr(operation.path)]
    if operation.response:
        fields.append(f"response={operation.response}")
    for place in ("query", "body"):
        names = {one.name: one.wire_name for one in _sent_by_name(operation) if one.place == place}
        if names:
            fields.append(f"{place}={names!r}")
    for flag in ("takes_key", "only_reads", "body_is_list"):
        if getattr(operation, flag):
            fields.append(f"{flag}=True")
    return f"Operation({', '.join(fields)})"


def _signature(operation: ClientOperation) -> str:
    ids = [f"{one.name}: {one.type}" for one in operation.arguments if one.place == "path"]
    parts = ["self", *ids]
    if _sent_by_name(operation):
        parts.append(f"**arguments: Unpack[table.{_arguments_class(operation)}]")
    return ", ".join(parts)


def _call(operation: ClientOperation) -> str:
    ids = {one.wire_name: one.name for one in operation.arguments if one.place == "path"}
    pairs = ", ".join(f"{wire!r}: {name}" for wire, name in ids.items())
    parts = [f"table.OPERATIONS[{operation.id!r}]", f"{{{pairs}}}"]
    parts.append("arguments" if _sent_by_name(operation) else "{}")
    return ", ".join(parts)


def _method_lines(operation: ClientOperation) -> Iterator[str]:
    answer = operation.response or "None"
    yield f"    async def {operation.name}({_signature(operation)}) -> {answer}:"
    yield f'        """{operation.summary}."""'
    if operation.response is None:
        yield f"        await self._caller.call({_call(operation)})"
        return
    yield f"        answer: {answer} = await self._caller.call({_call(operation)})"
    yield "        return answer"


def _iterator_lines(operation: ClientOperation) -> Iterator[str]:
    """A method that walks over all pages of a list."""
    yield (
        f"    def iterate_{operation.name}({_signature(operation)}) "
        f"-> AsyncIterator[{operation.item}]:"
    )
    yield f'        """{operation.summary}: page by page, all of them."""'
    yield f"        return self._caller.iterate({_call(operation)})"
