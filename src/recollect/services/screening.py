"""Screening of what a caller wrote, before any of it is stored.

Secrets are refused, personal data is tagged, redacted or refused, and texts that look like prompt
injection are quarantined. There are two steps. Inspecting needs no stored data and may take long,
so it runs before the transaction. Refusing has its place in the order of checks, after the check of
the right to write, so it runs inside the transaction.
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
# A text of this length is screened in a few milliseconds; longer ones go to a thread.
LONG_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All texts that a caller wrote for one memory.

    `content` is the sent text of a statement. For a list of messages or a record it is rendered
    from the messages, or from key and value.
    """

    content: str
    key: str | None = None
    value: dict[str, Any] | None = None
    messages: tuple[Message, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def chars(self) -> int:
        """Roughly how much text there is to screen."""
        return len(self.content)

    @property
    def parts(self) -> dict[str, Any]:
        """The fields of a memory that hold texts of its writer, by name."""
        return {name: getattr(self, name) for name in _PARTS}

    @classmethod
    def of_draft(cls, draft: Draft) -> "Texts":
        """The texts of a new memory; `names` are those of its subjects."""
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
        """The texts of a stored memory; `names` are subjects that could not be resolved."""
        parts = {name: getattr(memory, name) for name in _PARTS}
        return cls(**parts, names=names)

    @classmethod
    def of_version(cls, kept: Mapping[str, Any], key: str | None) -> "Texts":
        """The texts of an earlier version, from its snapshot. A record's content is rendered from
        its value; messages are in the content."""
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
    """Personal data in texts.

    `texts` may be stored: in mode `redact` personal data is replaced in them. `pii` maps the tags
    found and left in to the field of their first match. `replaced` are the tags that were
    redacted. `outgrown` is a field that became too long by redaction.
    """

    texts: Texts
    pii: dict[str, str]
    replaced: frozenset[str]
    outgrown: str | None

    def tagged(self, sent: Iterable[str]) -> tuple[str, ...]:
        """All PII tags of the memory: those sent and not redacted, and those found."""
        return tuple(sorted({*sent} - self.replaced | {*self.pii}))


@dataclass(frozen=True, slots=True)
class Findings(Personal):
    """The result of screening. `words` are the index words of the content, `folded` is its form for
    comparison: both take long for a long text, so they are computed here, outside of the
    transaction."""

    secret: SecretFound | None
    floor: Sensitivity
    suspicion: Suspicion
    words: IndexedWords
    folded: Folded


@dataclass(frozen=True, slots=True)
class Screened:
    """A draft with its screening report. The writer takes only these, so nothing is stored
    unscreened."""

    draft: Draft
    findings: Findings


@dataclass(frozen=True, slots=True)
class ScreeningRules:
    """The server's settings for screening."""

    rules: RetentionRules
    pii_mode: Literal["tag", "redact", "reject"] = "tag"
    reject_min: Risk = Risk.HIGH
    quarantine_min: float = 0.8


class Screening:
    """Inspects texts, and refuses what must not be stored."""

    def __init__(self, rules: ScreeningRules) -> None:
        self._rules = rules

    def screen(self, draft: Draft) -> Screened:
        """Inspect a draft; the result has the texts that may be stored."""
        return self.fitted(draft, self.look(Texts.of_draft(draft)))

    def fitted(self, draft: Draft, findings: Findings) -> Screened:
        """The draft with its texts replaced by those that may be stored."""
        texts = findings.texts
        return Screened(replace(draft, **texts.parts), findings)

    def look(self, texts: Texts) -> Findings:
        """Inspect texts without refusing any."""
        secret, personal = self.secret(texts), self.personal(texts)
        texts = personal.texts
        return Findings(
            texts,
            personal.pii,
            personal.replaced,
            personal.outgrown,
            secret,
            # A record's words are field names and values written by programs, not prose.
            floor(texts.content) if texts.value is None else Sensitivity.PUBLIC,
            score(texts.content, spoken=bool(texts.messages)),
            index_words(texts.content),
            Folded.of(texts.content),
        )

    def secret(self, texts: Texts) -> SecretFound | None:
        """The first secret in these texts; None without."""
        parts = _parts(texts)
        return next(filter(None, (find_secret_in(part, at) for part, at in parts)), None)

    def personal(self, texts: Texts) -> Personal:
        """The personal data in these texts, redacted if the server is set so."""
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
        """Refuse what may not be stored at all, then what this kind of space does not take.

        `pii_tags` are all tags the memory would have, sent or found. The order decides the error:
        secret, field too long after redaction, personal data in mode `reject`, then sensitivity
        and critical personal data in an open space.
        """
        if findings.secret is not None:
            raise secret_refused(findings.secret)
        if findings.outgrown is not None:
            message = "is too long after its personal data was replaced by marks; shorten it"
            raise ValidationFailed.of(findings.outgrown, message)
        if self._rules.pii_mode == "reject":
            self._refuse_personal(findings, pii_tags)
        critical = [tag for tag in pii_tags if self._risk(tag) is Risk.CRITICAL]
        public = sensitivity is Sensitivity.PUBLIC
        # `check_content_fits` knows no positions: where it refuses personal data, the field of the
        # first match is added to its error.
        try:
            check_content_fits(kind, public=public, critical_pii=bool(critical))
        except InvalidInput as error:
            if public:
                raise _personal_refused(error, critical, findings) from None
            raise

    def is_suspect(self, findings: Findings) -> bool:
        """Does the injection score reach the quarantine threshold?"""
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
    """The redacted texts, and each tag found with the field of its first match."""
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
    """The first field that is too long; None if all fit.

    A patch has no key and may have no content, so neither is required here.
    """
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
    """The same error, with the tags and the field of the first match in its details."""
    place = next((findings.pii[tag] for tag in tags if tag in findings.pii), "pii_tags")
    message = f"{place}: {error.message.removeprefix('pii_tags: ')}"
    told = InvalidInput(message, field=place, code=error.code)
    told.details = {"message": message, "field": place, "pii_tags": tags}
    return told


def _parts(texts: Texts) -> Iterator[tuple[Any, str]]:
    """Every part that is searched for secrets, with its field name, in the order of the fields."""
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
