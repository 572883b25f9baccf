"""What some answers can do beside holding their fields."""

from typing import Any


class WithText:
    """An entry of a conversation."""

    @property
    def text(self) -> str:
        """The words of the message, without its role; empty if its content has another form."""
        content: list[Any] = self.content  # type: ignore[attr-defined]
        texts = [one.get("text") for one in content if isinstance(one, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
