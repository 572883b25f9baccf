"""Why a memory was found, in one sentence."""

from datetime import date

from recollect.search.memories.explain_hit import (
    FindingStage,
    HitReasons,
    explain_hit,
)


def reasons(
    *stages: FindingStage, words: tuple[str, ...] = (), people: tuple[str, ...] = ()
) -> str:
    return explain_hit(HitReasons(stages, words, people, date(2025, 5, 7)))


def test_every_stage_has_its_clause() -> None:
    told = reasons(*FindingStage, words=("lisbon", "moved"), people=("Ann",))
    assert told == (
        "Matches the words lisbon, moved; is close in meaning; is about Ann; "
        "is tied to what is asked about; belongs to the time asked about (said in May 2025); "
        "is among the latest."
    )


def test_few_words_and_each_name_once_are_told() -> None:
    words = tuple(f"w{number}" for number in range(9))
    assert reasons(FindingStage.FULLTEXT, words=words) == "Matches the words w0, w1, w2, w3, w4."
    assert reasons(FindingStage.FULLTEXT, words=("tea", "tea")) == "Matches the word tea."
    assert reasons(FindingStage.PERSON, people=("Ann", "Ann")) == "Is about Ann."


def test_what_nothing_found_has_no_reason() -> None:
    assert reasons() == ""
