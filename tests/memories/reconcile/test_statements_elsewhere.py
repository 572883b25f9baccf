"""The same words, told in one chat and in another place."""

from typing import Any

import pytest

from recollect.memories.model import MemoryOrigin
from recollect.memories.reconcile.rules import (
    ReconcileDecision,
    ReconcileThresholds,
    ReconcileVerdict,
    is_repeat,
    reconcile,
)
from tests.memories.reconcile.statement_cases import known, said

SETTINGS = ReconcileThresholds()


@pytest.mark.parametrize("text", ["I love tea", "Actually, I live in Rome", "I don't smoke"])
@pytest.mark.parametrize(
    "heard",
    [{"learned_in": "g2", "origin": MemoryOrigin.CHAT}, {"origin": MemoryOrigin.UNKNOWN}, {}],
    ids=["another chat", "imported", "direct"],
)
def test_the_same_words_told_elsewhere_stay_beside_each_other(
    text: str, heard: dict[str, Any]
) -> None:
    here = said(text, learned_in="g1", origin=MemoryOrigin.CHAT)
    there = known(text, 1.0, **heard)
    assert not is_repeat(here, there.statement)
    assert reconcile(here, [there], SETTINGS, model_says={"old": True}) == ReconcileDecision(
        ReconcileVerdict.NEW
    )
    again = known(text, 1.0, learned_in="g1", origin=MemoryOrigin.CHAT)
    assert reconcile(here, [again], SETTINGS).verdict is ReconcileVerdict.DUPLICATE
