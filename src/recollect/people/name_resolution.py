"""Resolves a name to a person, from the speaker's point of view. Pure: the caller passes in
everybody who could be meant (`ResolutionStages`).

Two names match only if their normal forms are equal; prefixes, parts and similar spellings never
match. A wrong match would disclose memories to the wrong person, so in doubt the rule creates a new
person or asks the caller to choose.

A bare name opens nobody's door: it means a user only if that user is the speaker, takes part in the
chat by their own doing, or is somebody whom the speaker has called so before. An address, as
`@bob`, means the bearer of a handle.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum

from recollect.kernel.ids import PersonId
from recollect.people.model import is_address, is_self, normal_form
from recollect.people.relationship_words import relationship_key


class ResolutionStep(IntEnum):
    """The steps of the search, in their order: the closer to the speaker, the earlier. An address
    is looked up at the first step alone, and all other names at the others."""

    HANDLE = 1
    SELF = 2
    CLAIM = 3
    CHAT = 4
    ORG = 5


@dataclass(frozen=True, slots=True)
class NameCandidate:
    """A person who may be meant, with the names that count in this step, as normal forms.

    `full_names` are the person's name and aliases. `linked_to_user`: it is the person of a user, or
    of one who is awaited. `confirmed`: the person takes part in the chat by their own doing.
    """

    person_id: PersonId
    full_names: frozenset[str] = frozenset()
    handles: frozenset[str] = frozenset()
    linked_to_user: bool = False
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class ClaimedPerson:
    """A person about whom the speaker made claims: a name, an alias or a relationship.

    `names` are normal forms. `relationships` are keys from `relationship_key`, of relationships to
    the speaker only: if A says that B is C's wife, "my wife" said by A does not mean B.
    """

    person_id: PersonId
    names: frozenset[str] = frozenset()
    relationships: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ResolutionStages:
    """The candidates of each step. Ids are canonical; the order of people has no meaning.

    `bearers` are those who bear the handle that is looked for, in groups: the first group that is
    not empty decides. `own` is the speaker's person, None for an agent. A step may be reduced to
    people who have the name that is looked for.
    """

    bearers: Sequence[Set[PersonId]] = ()
    own: PersonId | None = None
    claimed: Sequence[ClaimedPerson] = ()
    participants: Sequence[NameCandidate] = ()
    org: Sequence[NameCandidate] = ()


@dataclass(frozen=True, slots=True)
class NameResolution:
    """The person, or the reason why there is none.

    `ambiguous`: the caller must choose one of the candidates. `creates`: the name stands for a new
    person, even if the candidates hold namesakes. Neither of these and no person: the word can't
    name anybody here, such as "me" said by an agent. `stage` is the step that answered.
    """

    person_id: PersonId | None = None
    ambiguous: bool = False
    candidates: tuple[PersonId, ...] = ()
    stage: ResolutionStep | None = None
    creates: bool = False


def resolve_name(name: str, stages: ResolutionStages) -> NameResolution:
    """The first step with a match decides: one match is the person, several are ambiguous."""
    # "me" is no step of its own in the loop: it must never match somebody's name or alias. `@me`
    # is not a word for oneself, so the order HANDLE before SELF still holds.
    form = normal_form(name)
    if not form:
        return NameResolution()
    if is_self(name):
        return NameResolution(stages.own, stage=ResolutionStep.SELF if stages.own else None)
    for step, hits in _step_hits(name, form, stages):
        if hits:
            return _to_resolution(step, tuple(sorted(hits)))
    return NameResolution(creates=True)


def choosable_people(name: str, people: Iterable[NameCandidate]) -> tuple[PersonId, ...]:
    """The people among whom a language model may choose if `resolve_name` found nobody: they share
    a word of the name and are not linked to a user. Any other answer of the model is ignored."""
    words = set(normal_form(name).split())
    return tuple(sorted({one.person_id for one in people if _shares_word(one, words)}))


_StepHits = tuple[ResolutionStep, Set[PersonId]]


def _step_hits(name: str, form: str, stages: ResolutionStages) -> tuple[_StepHits, ...]:
    if is_address(name):
        return tuple((ResolutionStep.HANDLE, group) for group in stages.bearers)
    return (
        (ResolutionStep.CLAIM, _claimed_ids(form, stages.claimed)),
        (
            ResolutionStep.CHAT,
            {
                one.person_id
                for one in stages.participants
                if _is_called(one, form) and (one.confirmed or _is_open(one, stages.own))
            },
        ),
        (
            ResolutionStep.ORG,
            {
                one.person_id
                for one in stages.org
                if form in one.full_names and _is_open(one, stages.own)
            },
        ),
    )


def _is_open(one: NameCandidate, own: PersonId | None) -> bool:
    """May anybody's bare name mean the person?"""
    return not one.linked_to_user or one.person_id == own


def _claimed_ids(form: str, people: Sequence[ClaimedPerson]) -> set[PersonId]:
    key = relationship_key(form)
    return {one.person_id for one in people if form in one.names or key in one.relationships}


def _is_called(one: NameCandidate, form: str) -> bool:
    return form in one.full_names or form in one.handles


def _to_resolution(step: ResolutionStep, hits: tuple[PersonId, ...]) -> NameResolution:
    if len(hits) == 1:
        return NameResolution(hits[0], stage=step)
    # In an org namesakes are common, and the speaker may know none of them. Asking would make every
    # mention of such a name fail, so it creates a person; in nearer steps the speaker must choose.
    namesakes = step is ResolutionStep.ORG
    return NameResolution(ambiguous=not namesakes, candidates=hits, stage=step, creates=namesakes)


def _shares_word(one: NameCandidate, words: set[str]) -> bool:
    own_words = {word for full_name in one.full_names for word in full_name.split()}
    return not one.linked_to_user and not own_words.isdisjoint(words)
