"""SQL clauses: does a text column contain one of several strings, ignoring case?"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Text, cast, func, literal_column, select

from recollect.db.engines.expressions import JsonTextRows
from recollect.kernel import strict_json

_WILDCARD: ColumnElement[str] = literal_column("'%'", Text)


def contains_any(column: ColumnElement[Any], needles: ColumnElement[Any]) -> ColumnElement[bool]:
    """Does the text contain one of the strings of the parameter (see `needle_list`)?"""
    listed = JsonTextRows(needles).table_valued("value", "place")
    found = contains(column, cast(listed.c.value, Text))
    return select(listed.c.value).where(found).exists()


def contains(column: ColumnElement[Any], needle: ColumnElement[Any]) -> ColumnElement[bool]:
    """Does the text contain a needle? It must be in lower case and escaped for LIKE."""
    pattern = _WILDCARD.concat(needle).concat(_WILDCARD)
    return func.lower(column).like(pattern, escape="/")


def needle_list(texts: Iterable[str]) -> str:
    """The JSON parameter of `contains_any`.

    SQLite's lower() changes ASCII letters only. A needle with other letters is therefore listed
    twice: in lower case, and with only its ASCII letters in lower case.
    """
    spelled = {form for one in texts for form in (one.lower(), _ascii_lower(one))}
    return strict_json.dump(sorted(map(escape_like, spelled - {""})))


def escape_like(text: str) -> str:
    """Escape the wildcards of LIKE."""
    for char in "/%_":
        text = text.replace(char, f"/{char}")
    return text


def _ascii_lower(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)
