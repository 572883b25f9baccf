"""Settings and results of visibility that packages below it name too."""

from enum import StrEnum


class SensitiveInGroups(StrEnum):
    """The setting `privacy.sensitive_in_groups`."""

    NEVER = "never"
    SUBJECT_PRESENT = "subject_present"


class PublicInGroups(StrEnum):
    """The setting `privacy.public_in_groups`: what a group hears that is public and about
    somebody. `known`: what one of those who take part has to do with. `anyone`: all of it."""

    KNOWN = "known"
    ANYONE = "anyone"


class Closeness(StrEnum):
    """How close a memory is to whom a call is answered; every memory has exactly one.

    `own`: p is a subject, or it lies in p's space. `participants`: else, and in a group a confirmed
    participant is a subject. `others`: the rest.
    """

    OWN = "own"
    PARTICIPANTS = "participants"
    OTHERS = "others"


class UnknownOrigin(StrEnum):
    """The setting `privacy.unknown_origin`: what becomes of imports that don't say where they come
    from."""

    OPEN = "open"
    CLOSED = "closed"
