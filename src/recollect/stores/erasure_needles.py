"""Whether a text holds one of a list of texts, as a part of a statement."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Text, cast, func, literal_column, select

from recollect.domain import jsontext
from recollect.stores.engines.expressions import ListedTexts

_ANY: ColumnElement[str] = literal_column("'%'", Text)


def holds_any(column: ColumnElement[Any], needles: ColumnElement[Any]) -> ColumnElement[bool]:
    """Is one of the needles (see `needles_of`) part of the text, whatever the case?"""
    listed = ListedTexts(needles).table_valued("value", "place")
    found = contains(column, cast(listed.c.value, Text))
    return select(listed.c.value).where(found).exists()


def contains(column: ColumnElement[Any], needle: ColumnElement[Any]) -> ColumnElement[bool]:
    """Is an escaped needle in lower case part of the text?"""
    pattern = _ANY.concat(needle).concat(_ANY)
    return func.lower(column).like(pattern, escape="/")


def needles_of(texts: Iterable[str]) -> str:
    """The parameter of `holds_any`. Engines lower ASCII alone, so other letters come twice."""
    spelled = {form for one in texts for form in (one.lower(), _ascii_lower(one))}
    return jsontext.dump(sorted(map(escaped, spelled - {""})))


def escaped(text: str) -> str:
    """A text in which nothing stands for something else."""
    for char in "/%_":
        text = text.replace(char, f"/{char}")
    return text


def _ascii_lower(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)
