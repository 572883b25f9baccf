"""Screening: what a caller wrote, looked at before any of it is stored. Secrets are refused
everywhere, personal data is tagged, replaced or refused, and a text that looks like orders to the
assistant is set aside.

To look takes no stored data and may take long, so it happens outside of the transaction; to refuse
has its place in the order of checks, behind the right to write, so it happens inside.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from recollect.domain.injection import Suspicion, score
from recollect.domain.memories import (
    Message,
    Sensitivity,
    render_messages,
    render_record,
)
from recollect.domain.pii import find_pii, redact
from recollect.domain.retention import RetentionRules, Risk
from recollect.domain.search import IndexedWords, index_words
from recollect.domain.secrets import SecretFound, find_secret_in
from recollect.domain.sensitivity import floor
from recollect.domain.spaces import SpaceKind, check_content_fits
from recollect.errors import InvalidInput
from recollect.services.drafts import Draft
from recollect.services.secret_check import secret_refused

LONG_CHARS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All that a caller wrote of one memory. Of a statement `content` is what was sent, of a list
    or a record it is made from the items, or from key and value."""

    content: str
    key: str | None = None
    value: dict[str, Any] | None = None
    messages: tuple[Message, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def chars(self) -> int:
        """Roughly how much there is to look at."""
        return len(self.content)

    @classmethod
    def of_draft(cls, draft: Draft) -> "Texts":
        """What a new memory says; the names are those of its subjects."""
        return cls(
            content=draft.content,
            key=draft.key,
            value=draft.value,
            messages=draft.messages,
            metadata=draft.metadata,
            tags=draft.tags,
            names=() if draft.carried else draft.subjects,
        )


@dataclass(frozen=True, slots=True)
class Findings:
    """What screening saw. `texts` are what may be stored: personal data is replaced in them where
    the server is set so. `pii` has the tags found and left in, each with the field of its first
    place; `replaced` are those that are no longer there. `words` are what the content is found by:
    to part a long text takes long, too."""

    texts: Texts
    secret: SecretFound | None
    pii: dict[str, str]
    replaced: frozenset[str]
    floor: Sensitivity
    suspicion: Suspicion
    words: IndexedWords

    def tagged(self, sent: Iterable[str]) -> tuple[str, ...]:
        """All tags of the memory: what was sent and still holds, and what was found."""
        return tuple(sorted({*sent} - self.replaced | {*self.pii}))


@dataclass(frozen=True, slots=True)
class Screened:
    """A draft that was looked at: what a writer takes, so that none is written unseen."""

    draft: Draft
    findings: Findings


@dataclass(frozen=True, slots=True)
class ScreeningRules:
    """How the server is set."""

    rules: RetentionRules
    pii_mode: Literal["tag", "redact", "reject"] = "tag"
    reject_min: Risk = Risk.HIGH
    quarantine_min: float = 0.8


class Screening:
    """Looks, and refuses."""

    def __init__(self, rules: ScreeningRules) -> None:
        self._rules = rules

    def screen(self, draft: Draft) -> Screened:
        """The draft as it may be stored, with what was seen in it."""
        return self.fitted(draft, self.look(Texts.of_draft(draft)))

    def fitted(self, draft: Draft, findings: Findings) -> Screened:
        """The draft with the texts that may be stored."""
        texts = findings.texts
        fit = replace(
            draft, content=texts.content, key=texts.key, value=texts.value, messages=texts.messages
        )
        return Screened(fit, findings)

    def look(self, texts: Texts) -> Findings:
        """What is in these texts. Raises nothing."""
        secret = _secret_in(texts)
        texts, pii, replaced = self._personal(texts)
        return Findings(
            texts,
            secret,
            pii,
            replaced,
            # Words of a record are names and values of a program's making.
            floor(texts.content) if texts.value is None else Sensitivity.PUBLIC,
            score(texts.content, spoken=bool(texts.messages)),
            index_words(texts.content),
        )

    def admit(
        self,
        findings: Findings,
        kind: SpaceKind,
        *,
        sensitivity: Sensitivity,
        pii_tags: tuple[str, ...],
    ) -> None:
        """Refuse what no space takes, then what this kind of space doesn't.

        `pii_tags` are all that the memory would have, sent or found.
        """
        if findings.secret is not None:
            raise secret_refused(findings.secret)
        if self._rules.pii_mode == "reject":
            self._refuse_personal(findings, pii_tags)
        critical = [tag for tag in pii_tags if self._risk(tag) is Risk.CRITICAL]
        public = sensitivity is Sensitivity.PUBLIC
        try:
            check_content_fits(kind, public=public, critical_pii=bool(critical))
        except InvalidInput as error:
            if public:
                raise _personal_refused(error, critical, findings) from None
            raise

    def is_suspect(self, findings: Findings) -> bool:
        """Does it look like orders to the assistant, so much that nobody should be shown it?"""
        return findings.suspicion.score >= self._rules.quarantine_min

    def _refuse_personal(self, findings: Findings, pii_tags: tuple[str, ...]) -> None:
        risky = [tag for tag in pii_tags if self._risk(tag) >= self._rules.reject_min]
        if risky:
            error = InvalidInput(
                "personal data of this risk is not stored here; leave it out", code="pii_refused"
            )
            raise _personal_refused(error, risky, findings)

    def _risk(self, tag: str) -> Risk:
        return self._rules.rules.tags[tag].risk

    def _personal(self, texts: Texts) -> tuple[Texts, dict[str, str], frozenset[str]]:
        found = _Found()
        if texts.messages:
            messages = tuple(found.in_message(i, m) for i, m in enumerate(texts.messages))
            clean = replace(texts, messages=messages, content=render_messages(messages))
        elif texts.value is not None:
            key = texts.key and found.in_text(texts.key, "key")
            value = found.in_json(texts.value, "value")
            clean = replace(texts, key=key, value=value, content=render_record(key or "", value))
        else:
            clean = replace(texts, content=found.in_text(texts.content, "content"))
        if self._rules.pii_mode == "redact":
            return clean, {}, frozenset(found.fields)
        return texts, found.fields, frozenset()


def _personal_refused(error: InvalidInput, tags: list[str], findings: Findings) -> InvalidInput:
    """The same refusal, with the tags and the field where the first of them was found."""
    place = next((findings.pii[tag] for tag in tags if tag in findings.pii), "pii_tags")
    message = f"{place}: {error.message.removeprefix('pii_tags: ')}"
    told = InvalidInput(message, field=place, code=error.code)
    told.details = {"message": message, "field": place, "pii_tags": tags}
    return told


def _secret_in(texts: Texts) -> SecretFound | None:
    return next(filter(None, (find_secret_in(part, at) for part, at in _parts(texts))), None)


def _parts(texts: Texts) -> Iterator[tuple[Any, str]]:
    """Everything that is looked at, with its name, in the order of the answer."""
    if texts.messages:
        for index, message in enumerate(texts.messages):
            for name in ("content", "name", "user_id"):
                yield getattr(message, name), f"messages[{index}].{name}"
    elif texts.value is not None:
        yield texts.key, "key"
        yield texts.value, "value"
    else:
        yield texts.content, "content"
    yield texts.metadata, "metadata"
    yield texts.tags, "tags"
    yield texts.names, "subjects"


class _Found:
    """Finds personal data in parts of a memory, and gives each part without it."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}

    def in_text(self, text: str, field: str) -> str:
        """A text with marks in place of what was found."""
        findings = find_pii(text)
        for finding in findings:
            self.fields.setdefault(finding.tag, field)
        return redact(text, findings) if findings else text

    def in_message(self, index: int, message: Message) -> Message:
        """A message with its name; who it is from is an id and stays."""
        content = self.in_text(message.content, f"messages[{index}].content")
        name = message.name and self.in_text(message.name, f"messages[{index}].name")
        return replace(message, content=content, name=name)

    def in_json(self, value: Any, field: str) -> Any:
        """A JSON value; a number that is a card's becomes a text."""
        if isinstance(value, dict):
            return {self.in_text(n, field): self.in_json(v, field) for n, v in value.items()}
        if isinstance(value, list):
            return [self.in_json(item, field) for item in value]
        if isinstance(value, str):
            return self.in_text(value, field)
        return self._in_number(value, field)

    def _in_number(self, value: Any, field: str) -> Any:
        if isinstance(value, bool) or not isinstance(value, int):
            return value
        text = str(value) if abs(value) < _NUMBER_MAX else ""
        clean = self.in_text(text, field)
        return value if clean == text else clean


# No card, account or phone number has more digits.
_NUMBER_MAX = 10**40
