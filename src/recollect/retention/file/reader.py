"""Loads the retention file of the operator, or the packaged one, at server start."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

from recollect.kernel.errors import ValidationFailed
from recollect.kernel.retention_rules import RetentionRules
from recollect.retention.file.plain_yaml import PlainYamlError, read_yaml
from recollect.retention.rules_file import parse_rules

PACKAGED_FILE = "retention_policy.yaml"


class RetentionFileError(ValueError):
    """The retention file can't be used; the message has file, line and what would be right."""


def load_rules(path: Path | None) -> RetentionRules:
    """The rules in the file at `path`; None is the file in the package.

    Raises RetentionFileError: for the first syntax error, else for all wrong fields at once.
    """
    return _load_packaged() if path is None else _load_file(path)


@cache
def _load_packaged() -> RetentionRules:
    return _load_file(None)


def _load_file(path: Path | None) -> RetentionRules:
    name = PACKAGED_FILE if path is None else str(path)
    try:
        document = read_yaml(_read_text(path))
        return parse_rules(document.value, document.lines.get)
    except OSError as error:
        reason = f"can't be read ({error.strerror}); retention.file must name a readable file"
        raise RetentionFileError(f"{name}: {reason}") from error
    except PlainYamlError as fault:
        raise RetentionFileError(f"{name}, line {fault.line}: {fault.message}") from None
    except ValidationFailed as error:
        raise RetentionFileError("; ".join(_format_violations(name, error))) from None


def _read_text(path: Path | None) -> str:
    shipped = files("recollect.retention.file").joinpath(PACKAGED_FILE)
    content = shipped.read_bytes() if path is None else path.read_bytes()
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PlainYamlError(line, "must be text in UTF-8") from None


def _format_violations(name: str, error: ValidationFailed) -> Iterator[str]:
    for violation in error.violations:
        # Every message begins with a line: the root has one too.
        line, _, message = violation.message.partition(": ")
        yield f"{name}, {line}: {violation.field}: {message}"
