"""Screening of generated memories: what is found is told, and what is to be replaced is gone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.strict_json import dump
from recollect.memories.model import (
    MemoryMessage,
    MessageRole,
    render_messages,
    render_record,
)
from recollect.memories.write.screen import MemoryTexts, ScreeningService
from recollect.screening.rules import ScreeningRules

SAMPLES = {
    "email": "zoe@example.com",
    "ssn": "219-09-9999",
    "credit_card": "4111 1111 1111 1111",
    "ip_address": "10.20.30.40",
}
TAGGING = ScreeningService(ScreeningRules(RetentionRules()))
REDACTING = ScreeningService(ScreeningRules(RetentionRules(), pii_mode="redact"))

pieces = st.sampled_from(["tea", "rain at noon", "a green door", *SAMPLES.values()])
values = st.dictionaries(
    st.sampled_from(["first", "second", "third"]),
    st.recursive(pieces | st.none() | st.booleans(), lambda inner: st.lists(inner, max_size=3)),
    max_size=3,
)


def present(text: str) -> set[str]:
    """The tags of the samples that are in a text."""
    return {tag for tag, sample in SAMPLES.items() if sample in text}


def record(value: dict[str, Any]) -> MemoryTexts:
    return MemoryTexts(content=render_record("k", value), key="k", value=value)


def spoken(parts: list[str]) -> MemoryTexts:
    messages = tuple(MemoryMessage(MessageRole.USER, part) for part in parts)
    return MemoryTexts(content=render_messages(messages), messages=messages)


@given(values)
def test_every_kind_of_personal_data_in_a_record_is_tagged_and_nothing_changes(
    value: dict[str, Any],
) -> None:
    texts = record(value)
    findings = TAGGING.inspect_texts(texts)
    assert set(findings.pii) == present(dump(value))
    assert findings.texts == texts


@given(values)
def test_a_redacted_record_keeps_its_shape_and_none_of_the_data(value: dict[str, Any]) -> None:
    findings = REDACTING.inspect_texts(record(value))
    kept = findings.texts
    assert kept.value is not None
    assert present(dump(kept.value) + kept.content) == set()
    assert (findings.pii, findings.replaced) == ({}, frozenset(present(dump(value))))
    marked = str(dump(value))
    for tag, sample in SAMPLES.items():
        marked = marked.replace(sample, f"[{tag}]")
    assert dump(kept.value) == marked


@given(st.lists(pieces, min_size=1, max_size=4))
def test_a_redacted_list_is_rendered_from_what_is_kept(parts: list[str]) -> None:
    kept = REDACTING.inspect_texts(spoken(parts)).texts
    assert kept.content == render_messages(kept.messages)
    assert present(kept.content) == set()


@given(st.lists(pieces, min_size=1, max_size=4), st.integers(0, 3))
def test_a_secret_is_found_in_whichever_message_it_stands(parts: list[str], place: int) -> None:
    index = place % len(parts)
    parts[index] += " and the PIN is 48213377"
    secret = TAGGING.inspect_texts(spoken(parts)).secret
    assert secret is not None
    assert secret.field == f"messages[{index}].content"


@given(st.sets(st.sampled_from(sorted(SAMPLES))), st.sets(st.sampled_from(["name", "health"])))
def test_a_sent_tag_stays_unless_its_data_was_replaced(found: set[str], sent: set[str]) -> None:
    texts = MemoryTexts(content=" and ".join(["words", *(SAMPLES[tag] for tag in sorted(found))]))
    assert set(TAGGING.inspect_texts(texts).merge_tags(sent)) == found | sent
    assert set(REDACTING.inspect_texts(texts).merge_tags(sent | found)) == sent


@pytest.mark.parametrize("number", [4111111111111111, 4111111111111111.0])
def test_a_number_counts_by_its_digits_however_it_was_written(number: float) -> None:
    texts = record({"n": [number, 0.5, True, 1e300]})
    assert TAGGING.inspect_texts(texts).pii == {"credit_card": "value"}
    assert TAGGING.inspect_texts(texts).texts == texts
    kept = REDACTING.inspect_texts(texts).texts
    assert kept.value == {"n": ["[credit_card]", 0.5, True, 1e300]}
    assert "4111" not in kept.content
