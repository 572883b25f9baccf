"""What was captured, as a value that can be stored whatever it was."""

import dataclasses
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.ir.captures import (
    CapturedPayload,
    copy_as_json,
    mask_secrets,
    shorten_to_fit,
)
from recollect.kernel import strict_json
from recollect.memories.model import VALUE_BYTES_MAX
from recollect.memories.validation import check_record
from recollect.screening.secrets import find_secret_in

SECRET = "sk-" + "a1b2c3d4e5f6g7h8i9"


class Colour(Enum):
    OCHRE = "ochre"


@dataclasses.dataclass
class Point:
    x: int
    when: datetime


def test_payloads_of_any_kind_become_json() -> None:
    ring: list[Any] = []
    ring.append(ring)
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    safe = copy_as_json(
        {
            1: Point(2, noon),
            "set": {3},
            "bytes": b"abc",
            "nan": float("nan"),
            "enum": Colour.OCHRE,
            "tuple": (1, None, True),
            "nul": "a\x00b",
            "huge": 10**5000,
            "ring": ring,
            "path": Path("a/b"),
        }
    )
    check_record("k", safe)
    inner: Any = safe.pop("ring")
    while inner != "[cut]":
        (inner,) = inner
    assert safe == {
        "1": {"x": 2, "when": "2026-03-01T12:00:00+00:00"},
        "set": [3],
        "bytes": "[3 bytes]",
        "nan": "nan",
        "enum": "ochre",
        "tuple": [1, None, True],
        "nul": "ab",
        "huge": "[cut]",
        "path": "a/b",
    }


@pytest.mark.parametrize(
    "payload",
    ["x" * 1_000_000, ["é" * 100] * 9_000, {str(n): n for n in range(100_000)}],
    ids=["text", "list", "names"],
)
def test_a_payload_of_any_size_fits_into_an_entry(payload: object) -> None:
    captured = CapturedPayload.copy_from(
        "mag", "input", payload, run_id="r", agent_slug="a", task_id="t" * 255
    )
    value = captured.to_entry().value
    check_record("k", value)
    assert value["task_id"] == "t" * 255
    assert len(value["payload"]) >= 100


@pytest.mark.parametrize(
    "payload",
    ["x" * 5_000_000, ["y" * 100_000] * 1_000, {"z" * 400_000: "z" * 400_000}, "\x00" * 3_000_000],
    ids=["text", "texts", "names", "nothing"],
)
def test_an_agent_hands_over_no_more_text_than_can_be_of_use(payload: object) -> None:
    assert len(strict_json.dump(copy_as_json(payload))) < 3 * VALUE_BYTES_MAX


@pytest.mark.parametrize("before", [0, 1_000, VALUE_BYTES_MAX - 1])
def test_no_half_of_a_secret_is_left_where_a_text_is_cut(before: int) -> None:
    long = "x " * ((VALUE_BYTES_MAX - 10) // 2) + f"token: {SECRET} " + "y" * VALUE_BYTES_MAX
    captured = CapturedPayload.copy_from(
        "mag", "input", ["z" * before, long], run_id="r", agent_slug="a"
    )
    assert SECRET[:4] not in strict_json.dump(captured.to_entry().value)


_payloads = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)
_secrets = st.sampled_from([SECRET, f"token: {SECRET}", "password = Tr0ub4dor", "plain"])
_labels = st.sampled_from(["api_key", "clientSecret", "pin", "note"])
_guarded = st.recursive(
    _secrets | st.integers(0, 99_999),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_labels | _secrets, inner),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(_payloads)
def test_whatever_the_payload_it_can_be_stored(payload: object) -> None:
    check_record("k", shorten_to_fit(mask_secrets({"payload": copy_as_json(payload)})))


@settings(max_examples=100, deadline=None)
@given(_guarded)
def test_no_secret_is_left_in_a_capture(payload: Any) -> None:
    cleaned = mask_secrets({"payload": payload})
    assert find_secret_in(cleaned, "value") is None
    assert SECRET not in strict_json.dump(cleaned)


def test_what_is_no_secret_stays() -> None:
    plain = {"password_policy": "strong", "pin": 3, "text": "I forgot my password"}
    assert mask_secrets(plain) == plain
