"""Warnings in the answer to a write that succeeded. Their codes are part of the API."""

from collections.abc import Iterator
from dataclasses import dataclass

from recollect.memories.write.target_space import TargetSpace
from recollect.people.model import Person


@dataclass(frozen=True, slots=True)
class WriteWarning:
    """A warning in the answer to a write that succeeded. `code` is part of the API."""

    code: str
    message: str


EXPIRY_IGNORED = WriteWarning(
    "term_ignored",
    "the text seems to say how long to remember it, but no future time was understood; it was"
    " stored as sent: to set an expiry send `ttl_seconds` or `expires_at`",
)
_DIVERTED_BY = {
    "sensitivity": "its sensitivity is not `public`",
    "pii": "it holds personal data of high or critical risk",
}


def person_created(person: Person) -> WriteWarning:
    """The warning that a subject meant nobody who is known."""
    message = (
        f"{person.name} ({person.id}) is a new person, since the name means nobody known here; to"
        " mean somebody else send their id as the subject, or `@` and their user id"
    )
    return WriteWarning("person_created", message)


def visibility_warnings(place: TargetSpace) -> Iterator[WriteWarning]:
    """What decided the visibility, if the request did not. The message of `visibility_by` is one
    word for programs: `default`, `record`, `scope`, `rule:<n>`, `sensitivity` or `pii`."""
    by = place.visibility_by
    if by is None:
        return
    yield WriteWarning("visibility_by", by)
    if by in _DIVERTED_BY:
        message = (
            f"{by}: stored in the agent's private space, since {_DIVERTED_BY[by]} and anybody can"
            ' read the public one; send `visibility: "private"` to say so yourself'
        )
        yield WriteWarning("stored_private", message)
