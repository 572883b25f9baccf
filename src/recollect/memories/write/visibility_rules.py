"""Chooses the visibility of a write that names none, by the words of its text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from recollect.kernel.space import MatchedRule, RequestedSpace, Visibility
from recollect.memories.write.draft import MemoryDraft


@dataclass(frozen=True, slots=True)
class VisibilityRule:
    """A text for which `matches` is true gets the visibility."""

    matches: Callable[[str], bool]
    visibility: Visibility


@dataclass(frozen=True, slots=True)
class VisibilityRules:
    """The rules of the server in their order, and the visibility of a text that matches none."""

    rules: Sequence[VisibilityRule] = ()
    default: Visibility = Visibility.PUBLIC

    def apply(self, draft: MemoryDraft) -> MemoryDraft:
        """The draft with the space that the rules choose. Rules read what was said, message by
        message: roles are no words of a text."""
        texts = [one.content for one in draft.messages] or [draft.content]
        return replace(draft, requested=self.choose(draft.requested, texts))

    def choose(self, requested: RequestedSpace, texts: Iterable[str]) -> RequestedSpace:
        """The space for these texts. What names a visibility, a scope or a key stays as it is."""
        return requested.with_visibility(self.default, self._find_rule(list(texts)))

    def _find_rule(self, texts: Sequence[str]) -> MatchedRule | None:
        """The first rule that matches one of the texts."""
        for number, rule in enumerate(self.rules, 1):
            if any(rule.matches(text) for text in texts):
                return MatchedRule(number, rule.visibility)
        return None
