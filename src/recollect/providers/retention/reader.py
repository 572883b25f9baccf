"""Loads the retention file of the operator, or the packaged one, at server start."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

from recollect.domain.retention import RetentionRules
from recollect.domain.retention_file import parse_rules
from recollect.errors import ValidationFailed
from recollect.providers.retention.plain_yaml import YamlFault, read_yaml

PACKAGED = "retention_policy.yaml"


class RetentionFileError(ValueError):
    """The retention file can't be used; the message has file, line and what would be right."""


def load_rules(path: Path | None) -> RetentionRules:
    """The rules in the file at `path`; None is the file in the package.

    Raises RetentionFileError: for the first syntax error, else for all wrong fields at once.
    """
    return _packaged() if path is None else _rules(path)


@cache
def _packaged() -> RetentionRules:
    return _rules(None)


def _rules(path: Path | None) -> RetentionRules:
    name = PACKAGED if path is None else str(path)
    try:
        document = read_yaml(_text(path))
        return parse_rules(document.value, document.lines.get)
    except OSError as error:
        reason = f"can't be read ({error.strerror}); retention.file must name a readable file"
        raise RetentionFileError(f"{name}: {reason}") from error
    except YamlFault as fault:
        raise RetentionFileError(f"{name}, line {fault.line}: {fault.message}") from None
    except ValidationFailed as error:
        raise RetentionFileError("; ".join(_told(name, error))) from None


def _text(path: Path | None) -> str:
    shipped = files("recollect.providers.retention").joinpath(PACKAGED)
    content = shipped.read_bytes() if path is None else path.read_bytes()
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise YamlFault(line, "must be text in UTF-8") from None


def _told(name: str, error: ValidationFailed) -> Iterator[str]:
    for violation in error.violations:
        # Every message begins with a line: the root has one too.
        line, _, message = violation.message.partition(": ")
        yield f"{name}, {line}: {violation.field}: {message}"
