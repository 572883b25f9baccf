"""Lines of an import, read and looked at before any of them is stored. Needs no stored data."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.domain import jsontext
from recollect.domain.injection import score
from recollect.domain.memories import Message, render_messages, render_record
from recollect.domain.memory_checks import (
    check_content,
    check_record,
    check_validity,
    clean_subjects,
    clean_tags,
    kind_of,
    parse_messages,
)
from recollect.domain.people import AliasKind
from recollect.domain.pii import normalise_tags
from recollect.domain.portable import OF_MEMORY, LineType, from_line
from recollect.domain.portable_members import Values, plain
from recollect.errors import RecollectError, ValidationFailed
from recollect.services.import_orders import Group, Line, Refused
from recollect.services.names import A_RELATIONSHIP, Names
from recollect.services.screening import Screening, Texts
from recollect.services.secret_check import refuse_secrets

# Members that hold words of somebody, by the type of the line.
_TEXTS = {
    LineType.AGENT: ("name", "description", "metadata"),
    LineType.PERSON: ("name", "metadata", "aliases", "relationships"),
    LineType.CHAT: ("title", "provider"),
    LineType.RUN: ("error", "metadata"),
    LineType.VERSION: ("snapshot",),
    LineType.RELATION: ("relation", "things"),
    LineType.APPROVAL: ("justification",),
}


class LineReader:
    """Reads single lines, and looks at groups of them."""

    def __init__(self, screening: Screening, names: Names) -> None:
        self._screening = screening
        self._names = names

    def read(self, number: int, raw: bytes) -> Line | Refused:
        """One line by itself."""
        try:
            type_, values = from_line(raw)
            if type_ is LineType.MEMORY:
                values = _cleaned(values)
            return Line(number, type_, values)
        except RecollectError as error:
            return Refused.of(number, error)

    def look(self, lines: Sequence[Line]) -> tuple[Group | None, list[Refused]]:
        """A line and those behind it; only a memory has any."""
        head, *others = lines
        if head.type is LineType.MEMORY:
            return self._with_others(head, others)
        problem = _stray(head) if head.type in OF_MEMORY else self._problem(head)
        return (None, [problem]) if problem else (Group(head), [])

    def _with_others(
        self, head: Line, others: Sequence[Line]
    ) -> tuple[Group | None, list[Refused]]:
        problem = self._problem(head)
        if problem is not None:
            return None, [Refused.of(line.number, problem.error) for line in (head, *others)]
        seen = [self._looked(head, one) for one in others]
        behind = tuple(one for one in seen if isinstance(one, Line))
        findings = self._screening.look(_texts(head.values))
        refused = [one for one in seen if isinstance(one, Refused)]
        return Group(replace(head, findings=findings), behind), refused

    def _looked(self, head: Line, line: Line) -> Line | Refused:
        """A line behind a memory, unless it holds what is never stored."""
        problem = self._problem(line)
        if problem is not None:
            return problem
        try:
            return self._screened(head, line) if line.values.get("snapshot") else line
        except RecollectError as error:
            return Refused.of(line.number, error)

    def _problem(self, line: Line) -> Refused | None:
        try:
            named = _TEXTS.get(line.type, ())
            refuse_secrets(**{name: plain(line.values[name]) for name in named})
            self._admit_names(line)
        except RecollectError as error:
            return Refused.of(line.number, error)
        return None

    def _admit_names(self, line: Line) -> None:
        """Of people, and of those whom a memory names without knowing them."""
        values = line.values
        if line.type is LineType.MEMORY:
            self._names.admit_all(values["subjects"], "subjects")
            self._names.admit_all(values["bare_names"], "bare_names")
        elif line.type is LineType.PERSON:
            aliases, claims = values["aliases"] or (), values["relationships"] or ()
            self._names.admit(values["name"], "name")
            for alias in (one for one in aliases if one["kind"] is AliasKind.ALIAS):
                self._names.admit(alias["value"], "aliases")
            for claim in claims:
                self._names.admit(claim["relationship"], "relationships", wanted=A_RELATIONSHIP)

    def _screened(self, head: Line, line: Line) -> Line:
        """An earlier version is looked at and kept as the memory itself would be."""
        snapshot, key = line.values["snapshot"], head.values["key"]
        if snapshot["value"] is not None and key is None:
            raise ValidationFailed.of("snapshot.value", "must be null: the memory has no key")
        findings = self._screening.look(Texts.of_version(snapshot, key))
        if head.values["messages"]:
            # Of a list the roles stand at the start of its lines.
            findings = replace(findings, suspicion=score(findings.texts.content, spoken=True))
        texts = findings.texts
        kept = snapshot | {
            "content": texts.content,
            "value": texts.value,
            "metadata": texts.metadata,
            "tags": list(texts.tags),
            "pii_tags": list(findings.tagged(normalise_tags(snapshot["pii_tags"]))),
        }
        return replace(line, values=line.values | {"snapshot": kept}, findings=findings)


def _stray(line: Line) -> Refused:
    where = f"{line.type}: must stand behind the memory that it belongs to"
    return Refused.of(line.number, ValidationFailed.of("type", where))


def _texts(values: Values) -> Texts:
    return Texts(
        content=values["content"],
        key=values["key"],
        value=values["value"],
        messages=values["messages"],
        metadata=values["metadata"] or {},
        tags=values["tags"],
        names=(*values["subjects"], *values["bare_names"]),
    )


def _cleaned(values: Values) -> Values:
    """A memory's line with one name for each member, and its payload checked."""
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
        raise ValidationFailed.of("supersedes", "must be another memory than this")
    return named | _payload(values)


def _payload(values: Values) -> Values:
    """What it says. A compacted one says nothing any more."""
    key, value = values["key"], _value(values["value"])
    messages = _messages(values["messages"])
    if values["compacted_at"] is not None:
        return {"content": "", "value": None if key is None else {}, "messages": ()}
    if key is not None or value is not None:
        kind_of(key=key, value=value)
        check_record(key, value)
        return {"content": render_record(key, value), "value": value, "messages": ()}
    content = render_messages(messages) if messages else values["content"]
    if content is None:
        raise ValidationFailed.of("content", "must be there, or `messages`, or `key` with `value`")
    if not messages:
        check_content(content)
    return {"content": content, "value": None, "messages": messages}


def _value(sent: Any) -> Any:
    """A text is read as JSON; what is no object is kept as a text in one."""
    if not isinstance(sent, str):
        return sent
    try:
        read = jsontext.parse(sent.encode())
    except ValidationFailed:
        read = None
    return read if isinstance(read, dict) else {"text": sent}


def _messages(sent: Any) -> tuple[Message, ...]:
    if sent is None:
        return ()
    if not isinstance(sent, list):
        raise ValidationFailed.of("messages", "must be a list")
    return parse_messages(sent)
