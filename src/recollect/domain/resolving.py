"""Whom a name means, for the one who says it. Pure: the stages bring everybody who could be meant.

Names are equal in normal form or they are different: no prefix, part or likeness ever finds
somebody, the speaker included. A wrong person would be told what was never about them, so doubt
makes a new person or asks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from recollect.domain.disclosure import PersonId
from recollect.domain.people import is_self, is_spelled_as_handle, normal_form
from recollect.domain.relationship_words import relationship_key


class Step(IntEnum):
    """The steps of the search, in their order."""

    HANDLE = 1
    SELF = 2
    CLAIM = 3
    CHAT = 4
    ORG = 5


@dataclass(frozen=True, slots=True)
class Known:
    """Somebody as one stage knows them. All names and handles are normal forms.

    `full_names` are the person's name and those aliases that count at this stage.
    """

    person_id: PersonId
    full_names: frozenset[str] = frozenset()
    handles: frozenset[str] = frozenset()
    linked_to_user: bool = False


@dataclass(frozen=True, slots=True)
class Claimed:
    """Somebody whom the speaker named, aliased or related, by the speaker's own claims alone.

    `names` are normal forms, `relationships` are keys of `relationship_key`, and only those to the
    speaker: what the speaker says of two others is no way to call them.
    """

    person_id: PersonId
    names: frozenset[str] = frozenset()
    relationships: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Stages:
    """Who could be meant, step by step. Ids are canonical; the order of people means nothing.

    `own` is the speaker's person, None for an agent. A stage may be cut down to those whose name
    equals the one that is looked for.
    """

    handles: Sequence[Known] = ()
    own: PersonId | None = None
    claimed: Sequence[Claimed] = ()
    participants: Sequence[Known] = ()
    org: Sequence[Known] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """The person, or why there is none.

    `ambiguous` means that the caller must choose among the candidates; `creates` that the name
    stands for somebody new, whatever namesakes are among the candidates. Neither, and no person:
    the word can't name anybody, such as an agent's "me". `stage` is the step that answered.
    """

    person_id: PersonId | None = None
    ambiguous: bool = False
    candidates: tuple[PersonId, ...] = ()
    stage: Step | None = None
    creates: bool = False


def resolve(name: str, stages: Stages) -> Resolution:
    """The first step with a hit answers: with the one, or with a doubt if there are several."""
    form = normal_form(name)
    if not form:
        return Resolution()
    if is_self(name):
        return Resolution(stages.own, stage=Step.SELF if stages.own else None)
    for step, hits in _hits(name, form, stages):
        if hits:
            return _settled(step, tuple(sorted(hits)))
    return Resolution(creates=True)


def open_to_choice(name: str, people: Iterable[Known]) -> tuple[PersonId, ...]:
    """Among whom a model may choose where `resolve` found nobody: an equal word of the name, and
    nobody linked to a user. Any other answer of a model counts for nothing."""
    words = set(normal_form(name).split())
    return tuple(sorted({one.person_id for one in people if _shares_word(one, words)}))


_Hits = tuple[Step, set[PersonId]]


def _hits(name: str, form: str, stages: Stages) -> tuple[_Hits, ...]:
    addressed = stages.handles if is_spelled_as_handle(name) else ()
    return (
        (Step.HANDLE, {one.person_id for one in addressed if form in one.handles}),
        (Step.CLAIM, _claimed(form, stages.claimed)),
        (Step.CHAT, {one.person_id for one in stages.participants if _is_called(one, form)}),
        (Step.ORG, {one.person_id for one in stages.org if form in one.full_names}),
    )


def _claimed(form: str, people: Sequence[Claimed]) -> set[PersonId]:
    key = relationship_key(form)
    return {one.person_id for one in people if form in one.names or key in one.relationships}


def _is_called(one: Known, form: str) -> bool:
    return form in one.full_names or form in one.handles


def _settled(step: Step, hits: tuple[PersonId, ...]) -> Resolution:
    if len(hits) == 1:
        return Resolution(hits[0], stage=step)
    namesakes = step is Step.ORG
    return Resolution(ambiguous=not namesakes, candidates=hits, stage=step, creates=namesakes)


def _shares_word(one: Known, words: set[str]) -> bool:
    own_words = {word for full_name in one.full_names for word in full_name.split()}
    return not one.linked_to_user and not own_words.isdisjoint(words)
