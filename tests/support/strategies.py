"""JSON values as the rules meet them."""

from typing import Any

from hypothesis import strategies as st

texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts
json_values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abé", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
