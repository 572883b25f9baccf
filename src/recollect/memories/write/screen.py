"""Screening of what a caller wrote, before any of it is stored.

Secrets are refused, personal data is tagged, redacted or refused, and texts that look like prompt
injection are quarantined. There are two steps. Inspecting needs no stored data and may take long,
so it runs before the transaction. Refusing has its place in the order of checks, after the check of
the right to write, so it runs inside the transaction.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from recollect.kernel.errors import InvalidInput, ValidationFailed
from recollect.kernel.open_spaces import check_content_fits, refused_risk
from recollect.kernel.retention_rules import PiiRisk
from recollect.kernel.space import SpaceKind
from recollect.kernel.validation import check_metadata
from recollect.memories.model import (
    Memory,
    MemoryMessage,
    Sensitivity,
    record_words,
    render_messages,
    render_record,
)
from recollect.memories.validation import check_content, check_record, clean_tags
from recollect.memories.write.draft import MemoryDraft
from recollect.memories.write.sensitivity import SensitivityFloors, stricter
from recollect.screening.injection import InjectionScore, score_injection
from recollect.screening.pii_finder import PiiRedactor
from recollect.screening.rules import ScreeningRules
from recollect.screening.secret_check import secret_refusal
from recollect.screening.secrets import (
    SecretLocation,
    find_answered_secret,
    find_secret_in,
    find_secret_in_id,
)
from recollect.screening.sensitivity import sensitivity_floor
from recollect.search.model import IndexedWords, index_words
from recollect.text.normal_form import FoldedText

_TEXT_FIELDS = ("content", "key", "value", "messages", "metadata", "tags")
# A text of this length is screened in a few milliseconds; longer ones go to a thread.
LONG_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTexts:
    """All texts that a caller wrote for one memory.

    `content` is the sent text of a statement. For a list of messages or a record it is rendered
    from the messages, or from key and value.
    """

    content: str
    key: str | None = None
    value: dict[str, Any] | None = None
    messages: tuple[MemoryMessage, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    # Ids that the caller chose, by their fields.
    ids: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def char_count(self) -> int:
        """Roughly how much text there is to screen."""
        return len(self.content)

    @property
    def text_fields(self) -> dict[str, Any]:
        """The fields of a memory that hold texts of its writer, by name."""
        return {name: getattr(self, name) for name in _TEXT_FIELDS}

    @classmethod
    def from_draft(cls, draft: MemoryDraft) -> "MemoryTexts":
        """The texts of a new memory; `names` are those of its subjects."""
        return cls(
            content=draft.content,
            key=draft.key,
            value=draft.value,
            messages=draft.messages,
            metadata=draft.metadata,
            tags=draft.tags,
            names=() if draft.carried else draft.subjects,
            ids=_sent_ids(draft),
        )

    @classmethod
    def from_memory(cls, memory: Memory, names: tuple[str, ...] = ()) -> "MemoryTexts":
        """The texts of a stored memory; `names` are subjects that could not be resolved."""
        parts = {name: getattr(memory, name) for name in _TEXT_FIELDS}
        return cls(**parts, names=names)

    @classmethod
    def from_version(cls, kept: Mapping[str, Any], key: str | None) -> "MemoryTexts":
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
class PersonalDataReport:
    """Personal data in texts.

    `texts` may be stored: in mode `redact` personal data is replaced in them. `pii` maps the tags
    found and left in to the field of their first match. `replaced` are the tags that were
    redacted. `outgrown` is a field that became too long by redaction.
    """

    texts: MemoryTexts
    pii: dict[str, str]
    replaced: frozenset[str]
    outgrown: str | None

    def merge_tags(self, sent: Iterable[str]) -> tuple[str, ...]:
        """All PII tags of the memory: those sent and not redacted, and those found."""
        return tuple(sorted({*sent} - self.replaced | {*self.pii}))


@dataclass(frozen=True, slots=True)
class ScreeningReport(PersonalDataReport):
    """The result of screening. `words` are the index words of the content, `folded` is its form for
    comparison: both take long for a long text, so they are computed here, outside of the
    transaction.

    """

    secret: SecretLocation | None
    floors: SensitivityFloors
    suspicion: InjectionScore
    words: IndexedWords
    folded: FoldedText


@dataclass(frozen=True, slots=True)
class ScreenedDraft:
    """A draft with its screening report. The writer takes only these, so nothing is stored
    unscreened."""

    draft: MemoryDraft
    findings: ScreeningReport


class ScreeningService:
    """Inspects texts, and refuses what must not be stored."""

    def __init__(self, rules: ScreeningRules) -> None:
        self._rules = rules

    def screen(self, draft: MemoryDraft) -> ScreenedDraft:
        """Inspect a draft; the result has the texts that may be stored."""
        return self.apply_report(draft, self.inspect_texts(MemoryTexts.from_draft(draft)))

    def apply_report(self, draft: MemoryDraft, findings: ScreeningReport) -> ScreenedDraft:
        """The draft with its texts replaced by those that may be stored."""
        texts = findings.texts
        return ScreenedDraft(replace(draft, **texts.text_fields), findings)

    def inspect_texts(self, texts: MemoryTexts) -> ScreeningReport:
        """Inspect texts without refusing any."""
        secret, personal = self.find_first_secret(texts), self.find_personal(texts)
        texts = personal.texts
        return ScreeningReport(
            texts,
            personal.pii,
            personal.replaced,
            personal.outgrown,
            secret,
            self.find_floors(texts, personal.pii),
            score_injection(texts.content, spoken=bool(texts.messages)),
            index_words(texts.content),
            FoldedText.from_text(texts.content),
        )

    def find_first_secret(self, texts: MemoryTexts) -> SecretLocation | None:
        """The first secret in these texts; None without."""
        return next(filter(None, _iter_secrets(texts)), None)

    def find_personal(self, texts: MemoryTexts) -> PersonalDataReport:
        """The personal data in these texts, redacted if the server is set so."""
        clean, found = redact_personal(texts)
        if self._rules.pii_mode != "redact":
            return PersonalDataReport(texts, found, frozenset(), None)
        return PersonalDataReport(
            clean, {}, frozenset(found), _find_overlong_field(clean) if found else None
        )

    def check_storable(self, findings: ScreeningReport, pii_tags: Iterable[str]) -> None:
        """Refuse what may be stored nowhere: a secret, then a field that is too long after
        redaction, then personal data in mode `reject`.

        `pii_tags` are all tags the memory would have, sent or found.
        """
        if findings.secret is not None:
            raise secret_refusal(findings.secret)
        if findings.outgrown is not None:
            message = "is too long after its personal data was replaced by marks; shorten it"
            raise ValidationFailed.for_field(findings.outgrown, message)
        if self._rules.pii_mode == "reject":
            self._refuse_personal(findings, pii_tags)

    def check_fits(
        self,
        findings: ScreeningReport,
        kind: SpaceKind,
        *,
        sensitivity: Sensitivity,
        pii_tags: Iterable[str],
    ) -> None:
        """Refuse what a space of this kind does not take, after `check_storable`."""
        tags, rules = sorted(pii_tags), self._rules.rules
        public = sensitivity is Sensitivity.PUBLIC
        try:
            check_content_fits(kind, public=public, risk=rules.highest_risk(tags))
        except InvalidInput as error:
            least = refused_risk(kind)
            risky = [tag for tag in tags if least is not None and self._risk(tag) >= least]
            # The rule knows no positions: the field of the first match is added to its error.
            raise (_pii_refusal(error, risky, findings) if risky else error) from None

    def check_allowed(
        self,
        findings: ScreeningReport,
        kind: SpaceKind,
        *,
        sensitivity: Sensitivity,
        pii_tags: Iterable[str],
    ) -> None:
        """`check_storable`, then `check_fits`: the order decides the error."""
        tags = tuple(pii_tags)
        self.check_storable(findings, tags)
        self.check_fits(findings, kind, sensitivity=sensitivity, pii_tags=tags)

    def find_floors(self, texts: MemoryTexts, pii_tags: Iterable[str]) -> SensitivityFloors:
        """The lowest sensitivity of a memory with these texts and tags.

        A record's words are field names and values written by programs, not prose. Only strangers
        are kept from them.
        """
        statement = (
            Sensitivity.PUBLIC if texts.value is not None else sensitivity_floor(texts.content)
        )
        others = record_words([texts.key or "", texts.value or {}, texts.metadata, [*texts.tags]])
        # Each on its own: words of two fields make no phrase.
        rest = sensitivity_floor(". ".join(filter(None, others)))
        return self.with_tags(SensitivityFloors(statement, stricter(statement, rest)), pii_tags)

    def with_tags(self, floors: SensitivityFloors, pii_tags: Iterable[str]) -> SensitivityFloors:
        """The floors of a memory that has these PII tags, sent or found."""
        risk = self._rules.rules.highest_risk(pii_tags)
        high = risk is not None and risk >= PiiRisk.HIGH
        personal = Sensitivity.PERSONAL if high else Sensitivity.PUBLIC
        return replace(floors, personal_data=personal)

    def should_quarantine(self, findings: ScreeningReport) -> bool:
        """Does the injection score reach the quarantine threshold?"""
        return findings.suspicion.score >= self._rules.quarantine_min

    def _refuse_personal(self, findings: ScreeningReport, pii_tags: Iterable[str]) -> None:
        risky = [tag for tag in pii_tags if self._risk(tag) >= self._rules.reject_min]
        if risky:
            error = InvalidInput(
                "personal data of this risk is not stored here; leave it out", code="pii_refused"
            )
            raise _pii_refusal(error, risky, findings)

    def _risk(self, tag: str) -> PiiRisk:
        return self._rules.rules.tags[tag].risk


def redact_personal(texts: MemoryTexts) -> tuple[MemoryTexts, dict[str, str]]:
    """The redacted texts, and each tag found with the field of its first match."""
    finder = PiiRedactor()
    if texts.messages:
        messages = tuple(finder.redact_message(i, m) for i, m in enumerate(texts.messages))
        clean = replace(texts, messages=messages, content=render_messages(messages))
    elif texts.value is not None:
        key = texts.key and finder.redact_text(texts.key, "key")
        value = finder.redact_json(texts.value, "value")
        clean = replace(texts, key=key, value=value, content=render_record(key or "", value))
    else:
        clean = replace(texts, content=finder.redact_text(texts.content, "content"))
    metadata = finder.redact_json(texts.metadata, "metadata")
    return replace(clean, metadata=metadata, tags=finder.redact_tags(texts.tags)), finder.fields


def _find_overlong_field(texts: MemoryTexts) -> str | None:
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


def _pii_refusal(error: InvalidInput, tags: list[str], findings: ScreeningReport) -> InvalidInput:
    """The same error, with the tags and the field of the first match in its details."""
    place = next((findings.pii[tag] for tag in tags if tag in findings.pii), "pii_tags")
    message = f"{place}: {error.message.removeprefix('pii_tags: ')}"
    refusal = InvalidInput(message, field=place, code=error.code)
    refusal.details = {"message": message, "field": place, "pii_tags": tags}
    return refusal


def _sent_ids(draft: MemoryDraft) -> dict[str, str | None]:
    named = {"id": draft.id, "run_id": draft.run_id, "chat_id": draft.learned_in}
    return named | {"space.id": draft.requested.id}


def _iter_secrets(texts: MemoryTexts) -> Iterator[SecretLocation | None]:
    """What each part, each answer to a message, and each id was found to hold."""
    for part, at in _iter_parts(texts):
        yield find_secret_in(part, at)
    for index, (before, message) in enumerate(pairwise(texts.messages), 1):
        if found := find_answered_secret(before.content, message.content):
            yield SecretLocation(f"messages[{index}].content", found.family)
    for name, identifier in texts.ids.items():
        if identifier and (found := find_secret_in_id(identifier)):
            yield SecretLocation(name, found.family)


def _iter_parts(texts: MemoryTexts) -> Iterator[tuple[Any, str]]:
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
