"""Parsing and screening of imported lines. Nothing here reads stored data, so it runs outside of
transactions, on a thread."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.kernel import strict_json
from recollect.kernel.errors import RecollectError, ValidationFailed
from recollect.memories.model import MemoryMessage, render_messages, render_record
from recollect.memories.validation import (
    check_content,
    check_record,
    check_validity,
    clean_subjects,
    clean_tags,
    infer_kind,
    parse_messages,
)
from recollect.memories.write.screen import MemoryTexts, ScreeningService
from recollect.people.model import AliasKind
from recollect.people.name_rules import RELATIONSHIP_HINT, PersonNameScreen
from recollect.portability.fields import LineValues, to_json_value
from recollect.portability.import_model import ImportLine, LineGroup, RefusedLine
from recollect.portability.lines import MEMORY_PART_TYPES, LineType, from_line
from recollect.screening.injection import score_injection
from recollect.screening.pii import normalise_tags
from recollect.screening.secret_check import refuse_secret_ids, refuse_secrets

# Fields with free text, by the type of the line: they are searched for secrets. A memory is not
# listed, because `ScreeningService` reads all of it.
_TEXT_FIELDS = {
    LineType.AGENT: ("name", "description", "metadata"),
    LineType.PERSON: ("name", "metadata", "aliases", "relationships"),
    LineType.CHAT: ("title", "provider"),
    LineType.RUN: ("error", "metadata"),
    LineType.VERSION: ("snapshot",),
    LineType.RELATION: ("relation", "things"),
    LineType.APPROVAL: ("justification",),
}


# Ids that callers choose.
_ID_FIELDS = ("id", "run_id", "chat_id", "agent_id", "learned_in_chat_id", "space_id")


class LineReader:
    """Parses single lines, and screens groups of them."""

    def __init__(self, screening: ScreeningService, names: PersonNameScreen) -> None:
        self._screening = screening
        self._names = names

    def read(self, number: int, raw: bytes) -> ImportLine | RefusedLine:
        """Parse one line and check its format. Errors are returned, never raised."""
        try:
            type_, values = from_line(raw)
            if type_ is LineType.MEMORY:
                values = _normalise_memory(values)
            return ImportLine(number, type_, values)
        except RecollectError as error:
            return RefusedLine.from_error(number, error)

    def screen_group(
        self, lines: Sequence[ImportLine]
    ) -> tuple[LineGroup | None, list[RefusedLine]]:
        """Screen a group: its first line, and the parts behind it if that is a memory.

        Returns the group without its refused parts, or None if the first line is refused, and the
        refusals. With a memory all of its parts are refused: they would have nothing to belong to.
        """
        head, *others = lines
        if head.type is LineType.MEMORY:
            return self._screen_memory(head, others)
        problem = (
            _refuse_stray(head) if head.type in MEMORY_PART_TYPES else self._find_problem(head)
        )
        return (None, [problem]) if problem else (LineGroup(head), [])

    def _screen_memory(
        self, head: ImportLine, others: Sequence[ImportLine]
    ) -> tuple[LineGroup | None, list[RefusedLine]]:
        problem = self._find_problem(head)
        if problem is not None:
            return None, [
                RefusedLine.from_error(line.number, problem.error) for line in (head, *others)
            ]
        # The findings of the memory are only noted here. Whether its space takes such content is
        # decided in the transaction, behind the check that the importer may write there: whoever
        # may not learns nothing of what screening thinks.
        seen = [self._screen_part(head, one) for one in others]
        behind = tuple(one for one in seen if isinstance(one, ImportLine))
        findings = self._screening.inspect_texts(_line_texts(head.values))
        refused = [one for one in seen if isinstance(one, RefusedLine)]
        return LineGroup(replace(head, findings=findings), behind), refused

    def _screen_part(self, head: ImportLine, line: ImportLine) -> ImportLine | RefusedLine:
        """A part of a memory, screened, or its refusal."""
        problem = self._find_problem(line)
        if problem is not None:
            return problem
        try:
            return self._screen_version(head, line) if line.values.get("snapshot") else line
        except RecollectError as error:
            return RefusedLine.from_error(line.number, error)

    def _find_problem(self, line: ImportLine) -> RefusedLine | None:
        try:
            named = _TEXT_FIELDS.get(line.type, ())
            refuse_secrets(**{name: to_json_value(line.values[name]) for name in named})
            refuse_secret_ids(**{name: line.values.get(name) for name in _ID_FIELDS})
            self._admit_names(line)
        except RecollectError as error:
            return RefusedLine.from_error(line.number, error)
        return None

    def _admit_names(self, line: ImportLine) -> None:
        """Check names of people: a person's own, and those that a memory mentions without an id."""
        values = line.values
        if line.type is LineType.MEMORY:
            self._names.refuse_pii_in_list(values["subjects"], "subjects")
            self._names.refuse_pii_in_list(values["bare_names"], "bare_names")
        elif line.type is LineType.PERSON:
            aliases, claims = values["aliases"] or (), values["relationships"] or ()
            self._names.refuse_pii(values["name"], "name")
            for alias in (one for one in aliases if one["kind"] is AliasKind.ALIAS):
                self._names.refuse_pii(alias["value"], "aliases")
            for claim in claims:
                self._names.refuse_pii(
                    claim["relationship"], "relationships", wanted=RELATIONSHIP_HINT
                )

    def _screen_version(self, head: ImportLine, line: ImportLine) -> ImportLine:
        """The version with a snapshot as it may be stored: screened, tagged, and redacted where
        this server redacts. A history is shown to readers like the memory itself."""
        snapshot, key = line.values["snapshot"], head.values["key"]
        if snapshot["value"] is not None and key is None:
            raise ValidationFailed.for_field(
                "snapshot.value", "must be null: the memory has no key"
            )
        findings = self._screening.inspect_texts(MemoryTexts.from_version(snapshot, key))
        if head.values["messages"]:
            # The content of a list of messages begins its lines with roles (`user: ...`), which
            # would look like an injected prompt. A snapshot doesn't keep the messages, so the score
            # is made again here, as of speech.
            findings = replace(
                findings, suspicion=score_injection(findings.texts.content, spoken=True)
            )
        texts = findings.texts
        kept = snapshot | {
            "content": texts.content,
            "value": texts.value,
            "metadata": texts.metadata,
            "tags": list(texts.tags),
            "pii_tags": list(findings.merge_tags(normalise_tags(snapshot["pii_tags"]))),
        }
        return replace(line, values=line.values | {"snapshot": kept}, findings=findings)


def _refuse_stray(line: ImportLine) -> RefusedLine:
    where = f"{line.type}: must directly follow the memory that it belongs to"
    return RefusedLine.from_error(line.number, ValidationFailed.for_field("type", where))


def _line_texts(values: LineValues) -> MemoryTexts:
    return MemoryTexts(
        content=values["content"],
        key=values["key"],
        value=values["value"],
        messages=values["messages"],
        metadata=values["metadata"] or {},
        tags=values["tags"],
        names=(*values["subjects"], *values["bare_names"]),
    )


def _normalise_memory(values: LineValues) -> LineValues:
    """The values of a memory's line under one name each (`memory_id` is an alias of `id`,
    `agent_slug` of `agent_id`), with normalised tags and a checked payload."""
    named = values | {
        "id": values["id"] or values["memory_id"],
        "agent_id": values["agent_id"] or values["agent_slug"],
        "tags": clean_tags(values["tags"] or ()),
        "subjects": clean_subjects(values["subjects"] or ()),
        "bare_names": clean_subjects(values["bare_names"] or ()),
        "pii_tags": normalise_tags(values["pii_tags"] or ()),
    }
    check_validity(values["valid_from"], values["valid_until"])
    gaps = [gap["memory_id"] for gap in values["removed"] or ()]
    others = (values["superseded_by"], *(values["supersedes"] or ()), *gaps)
    if named["id"] and named["id"] in others:
        raise ValidationFailed.for_field("supersedes", "must be another memory than this")
    return named | _parse_payload(values)


def _parse_payload(values: LineValues) -> LineValues:
    """Content, value and messages. The content of a record or a list of messages is rendered here,
    never taken from the line, so that text and data can't differ. A compacted memory has neither.
    """
    key, value = values["key"], _parse_value(values["value"])
    messages = _parse_messages(values["messages"])
    if values["compacted_at"] is not None:
        return {"content": "", "value": None if key is None else {}, "messages": ()}
    if key is not None or value is not None:
        infer_kind(key=key, value=value)
        check_record(key, value)
        return {"content": render_record(key, value), "value": value, "messages": ()}
    content = render_messages(messages) if messages else values["content"]
    if content is None:
        raise ValidationFailed.for_field(
            "content", "is required, or `messages`, or `key` with `value`"
        )
    if not messages:
        check_content(content)
    return {"content": content, "value": None, "messages": messages}


def _parse_value(sent: Any) -> Any:
    """A string is parsed as JSON. What is no JSON object is wrapped as `{"text": ...}`: other
    software exports values as plain strings."""
    if not isinstance(sent, str):
        return sent
    try:
        read = strict_json.parse(sent.encode())
    except ValidationFailed:
        read = None
    return read if isinstance(read, dict) else {"text": sent}


def _parse_messages(sent: Any) -> tuple[MemoryMessage, ...]:
    if sent is None:
        return ()
    if not isinstance(sent, list):
        raise ValidationFailed.for_field("messages", "must be a list")
    return parse_messages(sent)
