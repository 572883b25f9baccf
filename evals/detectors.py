"""The four detectors, each as a function from a text to its answer."""

from collections.abc import Callable
from dataclasses import dataclass

from evals.examples import Example
from recollect.memories.model import Sensitivity
from recollect.screening.injection import score_injection
from recollect.screening.pii import find_pii
from recollect.screening.secrets import find_secret
from recollect.screening.sensitivity import sensitivity_floor
from recollect.settings.memory import QuarantineSettings

NOTHING = "nothing"
FLAGGED = "flagged"
SOME_SIGN = "some sign"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a detector said of an example: `found` is what counts, `label` what it was taken for."""

    found: bool
    label: str


def judge_secret(example: Example) -> Answer:
    """Found if any family matches."""
    match = find_secret(example.text)
    return Answer(match is not None, str(match.family) if match else NOTHING)


def judge_pii(example: Example) -> Answer:
    """Found if every tag expected is found; where none is expected, any tag is a false alarm."""
    tags = {match.tag for match in find_pii(example.text)}
    found = example.tags <= tags if example.tags else bool(tags)
    return Answer(found, "+".join(sorted(tags)) or NOTHING)


def judge_sensitivity(example: Example) -> Answer:
    """Found if the words raise the sensitivity above public."""
    floor = sensitivity_floor(example.text)
    return Answer(floor is not Sensitivity.PUBLIC, str(floor))


def judge_injection(example: Example) -> Answer:
    """Found if the score reaches the default threshold of quarantine."""
    score = score_injection(example.text).score
    if score >= QuarantineSettings().threshold:
        return Answer(True, FLAGGED)
    return Answer(False, SOME_SIGN if score else NOTHING)


DETECTORS: dict[str, Callable[[Example], Answer]] = {
    "secrets": judge_secret,
    "pii": judge_pii,
    "sensitivity": judge_sensitivity,
    "injection": judge_injection,
}
