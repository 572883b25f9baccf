"""The sensitivity of a memory: what its writer sent, raised to what its texts suggest. Pure.

Where strangers read, only a subject's own word counts against the texts. Elsewhere anybody may
lower it if there is no subject.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.kernel.open_spaces import PUBLIC_KINDS
from recollect.kernel.space import OPEN_KINDS, SpaceKind
from recollect.memories.model import Memory, Sensitivity, StoredMemory


@dataclass(frozen=True, slots=True)
class SensitivityFloors:
    """The lowest sensitivity that the texts of a memory suggest.

    `words` is that of the statement, `all_words` that of records, tags and metadata too, and
    `personal_data` that of the PII tags.
    """

    words: Sensitivity = Sensitivity.PUBLIC
    all_words: Sensitivity = Sensitivity.PUBLIC
    personal_data: Sensitivity = Sensitivity.PUBLIC

    def lowest_in(self, kind: SpaceKind) -> Sensitivity:
        """The lowest sensitivity in a space of this kind.

        Personal data does not count in open spaces: what they don't take of it, they refuse.
        """
        if kind in PUBLIC_KINDS:
            return self.all_words
        return self.words if kind in OPEN_KINDS else stricter(self.words, self.personal_data)


def stricter(*levels: Sensitivity | None) -> Sensitivity:
    """The strictest of these levels; None counts as public."""
    return max((level or Sensitivity.PUBLIC for level in levels), key=lambda level: level.rank)


def may_loosen(subjects: Sequence[str], person_id: str | None) -> bool:
    """Whether this person may also lower the sensitivity: a subject, or anybody if there is no
    subject. Everybody else may only raise it."""
    return not subjects or person_id in subjects


def sensitivity_of_write(
    sent: Sensitivity | None,
    lowest: Sensitivity,
    *,
    kind: SpaceKind,
    subjects: Sequence[str],
    person_id: str | None,
) -> Sensitivity:
    """The sensitivity of a new or changed memory: the one sent, at least `lowest`.

    What a person sends who may say so counts as it is. In an open space that is a subject alone:
    somebody else's word must not show a person's life to strangers.
    """
    own = person_id in subjects if kind in OPEN_KINDS else may_loosen(subjects, person_id)
    return sent if sent is not None and own else stricter(sent, lowest)


def sensitivity_of_move(
    old: StoredMemory, floors: SensitivityFloors, kind: SpaceKind
) -> Sensitivity:
    """The sensitivity of a memory in its new space: that of the old one, at least the lowest of the
    space unless a subject chose it.

    A subject may have chosen `portable` alone. So on the way to strangers their choice counts only
    if it was one against the words: without it the memory would not be public.
    """
    memory: Memory = old.memory
    against_words = floors.words is not Sensitivity.PUBLIC
    if old.privacy_said and (against_words or kind not in OPEN_KINDS):
        return memory.sensitivity
    return stricter(memory.sensitivity, floors.lowest_in(kind))
