"""What `make evals` prints for each detector and set."""

from collections.abc import Callable, Iterator, Sequence

from evals.detectors import DETECTORS
from evals.examples import Example
from evals.figures import Judged, confusion_lines, share_lines, shares_by


def judge_all(detector: str, examples: Sequence[Example]) -> list[Judged]:
    """Every example with the detector's answer."""
    return [Judged(example, DETECTORS[detector](example)) for example in examples]


def report_lines(detector: str, title: str, judged: Sequence[Judged]) -> Iterator[str]:
    """The figures of one detector on one set of examples: by kind and by language, and what was
    taken for what."""
    positives = sum(one.example.expected for one in judged)
    yield f"{detector}, {title}: {positives} positive, {len(judged) - positives} negative"
    yield ""
    for heading, group in _GROUPS[detector].items():
        yield from share_lines(heading, shares_by(judged, group))
        yield ""
    yield from confusion_lines(judged, _expected_label)
    yield ""


def missed_lines(judged: Sequence[Judged]) -> Iterator[str]:
    """The ids of wrong answers."""
    for one in judged:
        if not one.right:
            word = "missed" if one.example.expected else "false alarm"
            yield f"{word}: {one.example.id} ({one.example.kind}: {one.answer.label})"


def _kind(example: Example) -> str:
    return example.kind


def _sub_kind(example: Example) -> str:
    return f"{example.kind} {example.sub}".strip()


def _language(example: Example) -> str:
    return example.language


def _language_and_kind(example: Example) -> str:
    return f"{example.language} {example.kind.partition(':')[0]}"


def _expected_label(example: Example) -> str:
    if example.tags:
        return "+".join(sorted(example.tags))
    return example.kind if example.expected else f"none: {example.kind}"


_GROUPS: dict[str, dict[str, Callable[[Example], str]]] = {
    "secrets": {"kind": _kind, "language": _language},
    "pii": {"kind": _kind, "language": _language},
    "sensitivity": {"kind": _kind, "language": _language, "by both": _language_and_kind},
    # One figure over attacks, role-play and plain orders would say nothing.
    "injection": {"sub-kind": _sub_kind, "kind": _kind, "language": _language_and_kind},
}
