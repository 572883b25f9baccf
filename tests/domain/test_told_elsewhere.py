"""The same words, told in one chat and in another place."""

from typing import Any

import pytest

from recollect.domain.memories import Origin
from recollect.domain.reconcile import Decision, ReconcileSettings, Verdict, is_repeat, reconcile
from tests.domain.statement_cases import known, said

SETTINGS = ReconcileSettings()


@pytest.mark.parametrize("text", ["I love tea", "Actually, I live in Rome", "I don't smoke"])
@pytest.mark.parametrize(
    "heard",
    [{"learned_in": "g2", "origin": Origin.CHAT}, {"origin": Origin.UNKNOWN}, {}],
    ids=["another chat", "imported", "direct"],
)
def test_the_same_words_told_elsewhere_stay_beside_each_other(
    text: str, heard: dict[str, Any]
) -> None:
    here = said(text, learned_in="g1", origin=Origin.CHAT)
    there = known(text, 1.0, **heard)
    assert not is_repeat(here, there.statement)
    assert reconcile(here, [there], SETTINGS, model_says={"old": True}) == Decision(Verdict.NEW)
    again = known(text, 1.0, learned_in="g1", origin=Origin.CHAT)
    assert reconcile(here, [again], SETTINGS).verdict is Verdict.DUPLICATE
