"""Loads settings from defaults, TOML file, environment and flags; the later source wins.

Only this module reads the environment. Every source is flattened to dotted keys first, so that an
error can name the source of an unknown key or a bad value. `settings/` declares what can be set.
"""

import difflib
import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from recollect.kernel.errors import InvalidInput
from recollect.settings import SECRETS, MemorySettings, Section, Settings

__all__ = [
    "FLAGS",
    "ClientVariables",
    "LoadedSettings",
    "Settings",
    "env_name",
    "fields",
    "load",
    "load_client",
    "load_runner",
    "silence_libraries",
]

DEFAULT = "default"
DEFAULT_FILE = Path("recollect.toml")
ENV_PREFIX = "RECOLLECT_"
CONFIG_VARIABLE = "RECOLLECT_CONFIG"
# Of the command line as a client.
URL_VARIABLE = "RECOLLECT_URL"
TOKEN_VARIABLE = "RECOLLECT_TOKEN"  # noqa: S105 - a name
API_KEY_VARIABLE = "RECOLLECT_API_KEY"
PROFILE_VARIABLE = "RECOLLECT_PROFILE"
CONFIG_HOME_VARIABLE = "RECOLLECT_CONFIG_HOME"
CLIENT_VARIABLES = frozenset(
    {URL_VARIABLE, TOKEN_VARIABLE, API_KEY_VARIABLE, PROFILE_VARIABLE, CONFIG_HOME_VARIABLE}
)
# Environment variables that agent runners already use; ours take precedence.
RUNNER_ALIASES = {
    "memory.enabled": "MAGSAG_MEMORY_ENABLED",
    "memory.db_path": "MAGSAG_MEMORY_DB_PATH",
}
# Other names of settings.
ALIASES = {
    "memory.extraction_enabled": "extraction.enabled",
    "memory.extraction_confidence_threshold": "extraction.confidence_threshold",
}
FLAGS = {"server.host": "--host", "server.port": "--port", "database.url": "--database-url"}

_SHOWN_CHARS_MAX = 80


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and the source of each value by dotted key."""

    settings: Settings
    origins: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ClientVariables:
    """What the environment says to the command line as a client. No settings of a server."""

    url: str | None
    token: str | None = field(repr=False)
    api_key: str | None = field(repr=False)
    profile: str | None
    config_file: Path


@dataclass(frozen=True, slots=True)
class _SettingValue:
    value: Any
    source: str


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    config_path: Path | None = None,
) -> LoadedSettings:
    """Load the settings from all sources; a flag with value None counts as absent.

    `environ` defaults to the process's environment. Raises InvalidInput that names every wrong
    key, its source and what would be right, but never the value of a secret.
    """
    env = os.environ if environ is None else environ
    return _load_all(flags or {}, env, config_path=config_path)


def _load_all(
    flags: Mapping[str, Any],
    env: Mapping[str, str],
    *,
    config_path: Path | None = None,
    aliases: Mapping[str, _SettingValue] | None = None,
) -> LoadedSettings:
    """`aliases` are values by dotted key that the environment overrides."""
    # Unknown keys and malformed texts of all sources are collected before anything is raised, so
    # that one error names them all. Types and bounds are checked after that, by the models.
    problems: list[str] = []
    given = {
        **_read_file(config_path, env, problems),
        **(aliases or {}),
        **_read_environment(env, problems),
        **_read_flags(flags, problems),
    }
    given = _resolve_aliases(given, problems)
    if problems:
        raise _settings_error(problems)
    settings = _validate(given)
    return LoadedSettings(
        settings, {key: given[key].source if key in given else DEFAULT for key in fields()}
    )


def load_runner(environ: Mapping[str, str] | None = None) -> MemorySettings:
    """Section `memory` for an agent runner, with the runner's aliases for two settings."""
    env = os.environ if environ is None else environ
    aliases = {
        key: _SettingValue(env[alias], alias)
        for key, alias in RUNNER_ALIASES.items()
        if env.get(alias)
    }
    return _load_all({}, env, aliases=aliases).settings.memory


def load_client(environ: Mapping[str, str] | None = None) -> ClientVariables:
    """What the environment says of the server that the command line calls. Empty is not set."""
    env = os.environ if environ is None else environ
    folder = _config_home(env) / "recollect"
    if env.get(CONFIG_HOME_VARIABLE):
        folder = Path(env[CONFIG_HOME_VARIABLE])
    return ClientVariables(
        url=env.get(URL_VARIABLE) or None,
        token=env.get(TOKEN_VARIABLE) or None,
        api_key=env.get(API_KEY_VARIABLE) or None,
        profile=env.get(PROFILE_VARIABLE) or None,
        config_file=folder / "config.toml",
    )


def _config_home(env: Mapping[str, str]) -> Path:
    """The folder for settings of a user, by the XDG rules: a relative path does not count."""
    named = Path(env.get("XDG_CONFIG_HOME") or "")
    return named if named.is_absolute() else Path.home() / ".config"


def fields() -> dict[str, FieldInfo]:
    """Every setting by its dotted key, in the order of declaration."""
    return dict(_iter_fields(Settings))


def _iter_fields(section: type[Section], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, member in section.model_fields.items():
        if _is_section(member.annotation):
            yield from _iter_fields(cast("type[Section]", member.annotation), f"{prefix}{name}.")
        else:
            yield prefix + name, member


def silence_libraries() -> None:
    """Switch off telemetry of libraries by environment variables, unless these are set.

    Call it before the libraries are imported: they read the variables then.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def env_name(key: str) -> str:
    """The environment variable of a dotted key."""
    return ENV_PREFIX + key.replace(".", "__").upper()


def _read_file(
    path: Path | None, env: Mapping[str, str], problems: list[str]
) -> dict[str, _SettingValue]:
    if path is None and env.get(CONFIG_VARIABLE):
        path = Path(env[CONFIG_VARIABLE])
    if path is None and not DEFAULT_FILE.exists():
        return {}
    path = path or DEFAULT_FILE
    found = _flatten(_read_toml(path), Settings)
    given = {key: _SettingValue(value, str(path)) for key, value in found}
    return _drop_unknown(given, [*fields(), *ALIASES], problems)


def _flatten(
    document: Mapping[str, Any], section: type[Section] | None, prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Flatten a TOML document to dotted keys, down to values that are no section.

    Of an unknown table only its direct keys are named.
    """
    for name, value in document.items():
        known = section.model_fields.get(name) if section else None
        inner = known.annotation if known is not None else None
        if isinstance(value, dict) and _is_section(inner):
            yield from _flatten(value, cast("type[Section]", inner), f"{prefix}{name}.")
        elif isinstance(value, dict) and value and not prefix:
            yield from ((f"{name}.{member}", one) for member, one in value.items())
        else:
            yield prefix + name, value


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"can't read the settings file {path}: {error.strerror}") from error
    except ValueError as error:
        raise InvalidInput(f"the settings file {path} is not valid TOML: {error}") from error


def _read_environment(env: Mapping[str, str], problems: list[str]) -> dict[str, _SettingValue]:
    names = {env_name(key): key for key in (*fields(), *ALIASES)}
    prefixed = {
        name: _SettingValue(text, name)
        for name, text in env.items()
        # A name without a section can't be one of our settings: other programs use the prefix too.
        if name.startswith(ENV_PREFIX) and "__" in name
    }
    known = _drop_unknown(prefixed, names, problems)
    # An empty variable counts as not set.
    return {
        names[name]: _SettingValue(_parse_env_value(names[name], one, problems), name)
        for name, one in known.items()
        if one.value
    }


def _parse_env_value(key: str, given: _SettingValue, problems: list[str]) -> Any:
    field = fields()[ALIASES.get(key, key)]
    shapes: dict[object, type] = {tuple: list, dict: dict}
    expected = shapes.get(get_origin(field.annotation) or field.annotation)
    if expected is None:
        return given.value
    try:
        value = json.loads(given.value)
    except ValueError:
        value = None
    if not isinstance(value, expected):
        example = json.dumps((field.examples or [None])[0])
        problems.append(_location_prefix(key, given.source) + f"should be JSON such as {example}")
    return value


def _read_flags(flags: Mapping[str, Any], problems: list[str]) -> dict[str, _SettingValue]:
    given = {
        key: _SettingValue(value, FLAGS.get(key, f"--{key}"))
        for key, value in flags.items()
        if value is not None
    }
    return _drop_unknown(given, fields(), problems)


def _drop_unknown(
    given: dict[str, _SettingValue], right: Iterable[str], problems: list[str]
) -> dict[str, _SettingValue]:
    names = list(right)
    for name in [name for name in given if name not in names]:
        problems.append(
            _location_prefix(name, given.pop(name).source) + _unknown_message(name, names)
        )
    return given


def _resolve_aliases(
    given: Mapping[str, _SettingValue], problems: list[str]
) -> dict[str, _SettingValue]:
    """The values under the names that the settings have. Two names of one setting must agree."""
    known = {key: one for key, one in given.items() if key not in ALIASES}
    for alias in given.keys() & ALIASES:
        key, one = ALIASES[alias], given[alias]
        other = known.get(key)
        if other is not None and str(other.value).lower() != str(one.value).lower():
            problems.append(
                _location_prefix(alias, one.source)
                + f"should be the same as {key} (from {other.source}); set one of them"
            )
        known[key] = _SettingValue(one.value, f"{one.source}, as {alias}")
    return known


def _validate(given: Mapping[str, _SettingValue]) -> Settings:
    tree: dict[str, Any] = {}
    for key, one in given.items():
        *sections, name = key.split(".")
        table = tree
        for section in sections:
            table = table.setdefault(section, {})
        table[name] = one.value
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        raise _settings_error([_explain(details, given) for details in error.errors()]) from None


def _explain(details: ErrorDetails, given: Mapping[str, _SettingValue]) -> str:
    location = [str(part) for part in details["loc"] if part != "[key]"]
    depth = _key_depth(location)
    key = details.get("ctx", {}).get("key") or ".".join(location[:depth])
    source = given[key].source if key in given else DEFAULT
    where = _location_prefix(".".join([key, *location[depth:]]), source)
    if details["type"] == "extra_forbidden":
        # A field of an element of a list or mapping, whose model is in the type's arguments.
        kinds = get_args(fields()[key].annotation)
        (model,) = (cast("type[Section]", kind) for kind in kinds if _is_section(kind))
        return where + _unknown_message(location[-1], list(model.model_fields))
    reason, value = _plain_reason(details["msg"]), details["input"]
    if key in SECRETS or not isinstance(value, str | int | float):
        return where + reason
    return where + f"{reason}, and is {str(value)[:_SHOWN_CHARS_MAX]!r}"


def _key_depth(location: list[str]) -> int:
    """How many parts of an error's location are the setting's key; the rest is inside its value."""
    known = fields()
    return next((n for n in range(len(location), 0, -1) if ".".join(location[:n]) in known), 2)


def _plain_reason(message: str) -> str:
    """Pydantic's message in the user's terms: what we store as a tuple is a list in TOML."""
    words = message.removeprefix("Value error, ").removeprefix("Input ")
    return words.replace("tuple", "list").replace("Tuple", "a list")


def _location_prefix(name: str, source: str) -> str:
    return f"{name}: " if name == source else f"{name} (from {source}): "


def _unknown_message(name: str, right: list[str]) -> str:
    # The most likely mistake is a right name without its section, such as `port` for `server.port`.
    word = (f".{name}", f"__{name.removeprefix(ENV_PREFIX)}")
    without_section = [one for one in right if one.endswith(word)]
    nearest = without_section or difflib.get_close_matches(name, right, n=1, cutoff=0.0)
    return f"no such setting; the nearest is {nearest[0]}"


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)


def _settings_error(problems: list[str]) -> InvalidInput:
    return InvalidInput("; ".join(problems), code="invalid_settings")
