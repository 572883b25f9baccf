"""Screening: what a caller wrote, looked at before any of it is stored. Secrets are refused
everywhere, personal data is tagged, replaced or refused, and a text that looks like orders to the
assistant is set aside.

To look takes no stored data and may take long, so it happens outside of the transaction; to refuse
has its place in the order of checks, behind the right to write, so it happens inside.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from recollect.domain.folding import Folded
from recollect.domain.injection import Suspicion, score
from recollect.domain.memories import (
    Memory,
    Message,
    Sensitivity,
    render_messages,
    render_record,
)
from recollect.domain.memory_checks import (
    check_content,
    check_metadata,
    check_record,
    clean_tags,
)
from recollect.domain.retention import RetentionRules, Risk
from recollect.domain.search import IndexedWords, index_words
from recollect.domain.secrets import SecretFound, find_secret_in
from recollect.domain.sensitivity import floor
from recollect.domain.spaces import SpaceKind, check_content_fits
from recollect.errors import InvalidInput, ValidationFailed
from recollect.services.drafts import Draft
from recollect.services.personal import PersonalFinder
from recollect.services.secret_check import secret_refused

_PARTS = ("content", "key", "value", "messages", "metadata", "tags")
# So much is looked at in a few milliseconds.
LONG_CHARS = 2_000


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

    @property
    def parts(self) -> dict[str, Any]:
        """The members of a memory that hold words of its writer, by name."""
        return {name: getattr(self, name) for name in _PARTS}

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

    @classmethod
    def of_memory(cls, memory: Memory, names: tuple[str, ...] = ()) -> "Texts":
        """What a stored one says; `names` are those that nobody could resolve."""
        parts = {name: getattr(memory, name) for name in _PARTS}
        return cls(**parts, names=names)

    @classmethod
    def of_version(cls, kept: Mapping[str, Any], key: str | None) -> "Texts":
        """What an earlier version said, by the members that it kept; that of a record is what its
        value says. Messages are in the content."""
        value = kept["value"]
        return cls(
            content=kept["content"] if value is None else render_record(key or "", value),
            key=None if value is None else key,
            value=value,
            metadata=kept["metadata"],
            tags=tuple(kept["tags"]),
        )


@dataclass(frozen=True, slots=True)
class Personal:
    """What is personal in texts. `texts` are what may be stored: personal data is replaced in them
    where the server is set so. `pii` has the tags found and left in, each with the field of its
    first place; `replaced` are those that are no longer there. `outgrown` is a field that the
    marks made too long."""

    texts: Texts
    pii: dict[str, str]
    replaced: frozenset[str]
    outgrown: str | None

    def tagged(self, sent: Iterable[str]) -> tuple[str, ...]:
        """All tags of the memory: what was sent and still holds, and what was found."""
        return tuple(sorted({*sent} - self.replaced | {*self.pii}))


@dataclass(frozen=True, slots=True)
class Findings(Personal):
    """What screening saw. `words` are what the content is found by, `folded` is how it is compared:
    to make them of a long text takes long, too."""

    secret: SecretFound | None
    floor: Sensitivity
    suspicion: Suspicion
    words: IndexedWords
    folded: Folded


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
        return Screened(replace(draft, **texts.parts), findings)

    def look(self, texts: Texts) -> Findings:
        """What is in these texts. Raises nothing."""
        secret, personal = self.secret(texts), self.personal(texts)
        texts = personal.texts
        return Findings(
            texts,
            personal.pii,
            personal.replaced,
            personal.outgrown,
            secret,
            # Words of a record are names and values of a program's making.
            floor(texts.content) if texts.value is None else Sensitivity.PUBLIC,
            score(texts.content, spoken=bool(texts.messages)),
            index_words(texts.content),
            Folded.of(texts.content),
        )

    def secret(self, texts: Texts) -> SecretFound | None:
        """The first secret in these texts, if there is one."""
        parts = _parts(texts)
        return next(filter(None, (find_secret_in(part, at) for part, at in parts)), None)

    def personal(self, texts: Texts) -> Personal:
        """What of these texts is personal data, by the mode of this server."""
        clean, found = without_personal(texts)
        if self._rules.pii_mode != "redact":
            return Personal(texts, found, frozenset(), None)
        return Personal(clean, {}, frozenset(found), _outgrown(clean) if found else None)

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
        if findings.outgrown is not None:
            message = "is too long once marks stand for its personal data; shorten it"
            raise ValidationFailed.of(findings.outgrown, message)
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


def without_personal(texts: Texts) -> tuple[Texts, dict[str, str]]:
    """The texts with marks in place of personal data, and each tag found with its first field."""
    finder = PersonalFinder()
    if texts.messages:
        messages = tuple(finder.in_message(i, m) for i, m in enumerate(texts.messages))
        clean = replace(texts, messages=messages, content=render_messages(messages))
    elif texts.value is not None:
        key = texts.key and finder.in_text(texts.key, "key")
        value = finder.in_json(texts.value, "value")
        clean = replace(texts, key=key, value=value, content=render_record(key or "", value))
    else:
        clean = replace(texts, content=finder.in_text(texts.content, "content"))
    metadata = finder.in_json(texts.metadata, "metadata")
    return replace(clean, metadata=metadata, tags=finder.in_tags(texts.tags)), finder.fields


def _outgrown(texts: Texts) -> str | None:
    """The first field that is longer than it may be. A change has no key, and may have no text."""
    try:
        if texts.value is not None:
            check_record(texts.key or "key", texts.value)
        elif texts.content and not texts.messages:
            check_content(texts.content)
        check_metadata(texts.metadata)
        clean_tags(texts.tags)
    except ValidationFailed as refused:
        return refused.violations[0].field
    return None


def _personal_refused(error: InvalidInput, tags: list[str], findings: Findings) -> InvalidInput:
    """The same refusal, with the tags and the field where the first of them was found."""
    place = next((findings.pii[tag] for tag in tags if tag in findings.pii), "pii_tags")
    message = f"{place}: {error.message.removeprefix('pii_tags: ')}"
    told = InvalidInput(message, field=place, code=error.code)
    told.details = {"message": message, "field": place, "pii_tags": tags}
    return told


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
