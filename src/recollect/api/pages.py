"""Pages of lists: which one was asked for, and how it is told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.api.bodies import SearchBody
from recollect.api.inputs import Parameters, from_query
from recollect.api.operation import Envelope, Paging
from recollect.api.params import Param
from recollect.api.params import limit as limit_param
from recollect.domain.jsontext import dump
from recollect.errors import ValidationFailed

_LIMITS: dict[int | None, Param] = {n: limit_param(n) for n in (None, 20, 50, 100)}


@dataclass(frozen=True, slots=True)
class PageAsked:
    """Which page of a list. `echo` says that the caller used the cursor's other name."""

    after: str | None
    limit: int | None
    echo: bool

    @property
    def size(self) -> int:
        """The limit of a list that always has one."""
        if self.limit is None:
            raise TypeError("the operation's table row gives no default limit")
        return self.limit


def from_paging(parameters: Parameters, paging: Paging, *, echo: bool) -> PageAsked:
    """The page that was asked for. The names of a cursor are one parameter; who uses the name
    `afterCursor`, or an `echo` for everybody, gets the next cursor under that name too."""
    echo = echo or "afterCursor" in parameters
    names = paging.envelope.cursor_names
    cursor = _one_cursor((c for name in names for c in parameters.get(name, ())), names[0])
    limit = from_query(parameters, (_LIMITS[paging.limit],))["limit"]
    return PageAsked(cursor, limit, echo)


def from_search_body(body: SearchBody, *, echo: bool) -> PageAsked:
    """The page that a search asks for, by the same rules."""
    given = [cursor for cursor in (body.after, body.after_cursor) if cursor is not None]
    echo = echo or body.after_cursor is not None
    return PageAsked(_one_cursor(given, "after"), body.limit, echo)


def to_list(
    items: Iterable[str],
    next_cursor: str | None,
    *,
    envelope: Envelope,
    echo: bool,
    degraded: Sequence[str] = (),
) -> bytes:
    """Rendered items in their envelope. `echo` repeats the cursor under its other name."""
    text = f'{{"data":[{",".join(items)}]'
    if envelope is not Envelope.B or next_cursor is not None:
        cursor = dump(next_cursor)
        text += f',"{envelope.next_cursor}":{cursor}'
        text += f',"afterCursor":{cursor}' if echo else ""
    text += f',"degraded":{dump(list(degraded))}' if degraded else ""
    return (text + "}").encode()


def _one_cursor(given: Iterable[str], field: str) -> str | None:
    cursors = {*given}
    if len(cursors) > 1:
        raise ValidationFailed.of(field, "must not be given twice with different values")
    return "".join(cursors) or None
