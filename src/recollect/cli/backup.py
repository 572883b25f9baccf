"""`recollect backup` and `recollect restore`: all stored data in one file, and back."""

import asyncio
import json
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.options import Config, DatabaseUrl, Json, load_settings, require_database
from recollect.cli.progress import progress
from recollect.kernel.errors import InvalidInput
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.backup.model import BackupSummary, Progress
    from recollect.db.engines.base import Engine

_MEGABYTE = 1_000_000

File = Annotated[Path, typer.Argument(help="The backup file.")]
Encrypt = Annotated[
    bool, typer.Option("--encrypt", help="Encrypt the backup; asks for a passphrase.")
]
PassphraseFile = Annotated[
    Path | None,
    typer.Option(help="A file with the passphrase; or set database.backup_passphrase."),
]
Verify = Annotated[bool, typer.Option("--verify", help="Only check FILE, without a database.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite FILE if it exists.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]


def backup(  # noqa: PLR0913, PLR0917 - one argument for each option
    file: File,
    encrypt: Encrypt = False,
    passphrase_file: PassphraseFile = None,
    verify: Verify = False,
    force: Force = False,
    config: Config = None,
    database_url: DatabaseUrl = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write all stored data to FILE, also while servers work. With --verify check a backup."""
    settings = load_settings(config, database_url=database_url).settings
    given = _given_passphrase(settings, passphrase_file)
    started = time.monotonic()
    if verify:
        summary = _verify(file, given, quiet=quiet)
        done = "The backup is whole"
    else:
        if encrypt and given is None:
            given = _ask_passphrase(confirm=True)
        summary = _write(settings, file, given, overwrite=force, quiet=quiet)
        done = f"Wrote {file}"
    seconds = time.monotonic() - started
    if as_json:
        print(json.dumps(_to_json(file, summary, seconds), indent=2))
    elif not quiet:
        print(f"{done}: {_describe(summary, seconds)}.")
        print(_needed_keys(summary), end="")


def restore(
    file: File,
    passphrase_file: PassphraseFile = None,
    config: Config = None,
    database_url: DatabaseUrl = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fill an empty database from FILE, of either engine. Stop its servers first."""
    settings = load_settings(config, database_url=database_url).settings
    from recollect.app.stores import build_engine
    from recollect.backup.read import restore_backup
    from recollect.observability.metrics import NoMetrics

    started = time.monotonic()
    passphrase = _passphrase_to_read(file, _given_passphrase(settings, passphrase_file))
    engine = build_engine(settings, NoMetrics())
    with _show_progress("Restoring", quiet=quiet) as show:
        summary = restore_backup(engine, file, passphrase=passphrase, progress=show)
    faults = asyncio.run(_find_faults(engine))
    missing = _missing_keys(settings, summary)
    seconds = time.monotonic() - started
    if as_json:
        found = {"faults": faults, "missing_encryption_keys": missing}
        print(json.dumps(_to_json(file, summary, seconds) | found, indent=2))
    elif not quiet:
        print(f"Restored {file}: {_describe(summary, seconds)}.")
        print(
            f"It is the state of {summary.manifest.created_at}. Do again what came later: erase "
            "people, revoke API keys, delete."
        )
    for name in missing:
        _warn(f"stored values need the encryption key {name!r}: add it to encryption.keys")
    for name, count in faults.items():
        _warn(f"the backup holds {count} rows with a fault, {name}: see `recollect doctor`")


def _write(
    settings: Settings, file: Path, passphrase: str | None, *, overwrite: bool, quiet: bool
) -> "BackupSummary":
    require_database(settings)
    from recollect.app.stores import build_engine
    from recollect.backup.write import write_backup
    from recollect.kernel.clock import SystemClock
    from recollect.observability.metrics import NoMetrics

    with _show_progress("Backup", quiet=quiet) as show:
        return write_backup(
            build_engine(settings, NoMetrics()),
            file,
            passphrase=passphrase,
            overwrite=overwrite,
            clock=SystemClock(),
            progress=show,
        )


def _verify(file: Path, given: str | None, *, quiet: bool) -> "BackupSummary":
    from recollect.backup.read import verify_backup

    passphrase = _passphrase_to_read(file, given)
    with _show_progress("Checking", quiet=quiet) as show:
        return verify_backup(file, passphrase=passphrase, progress=show)


async def _find_faults(engine: "Engine") -> dict[str, int]:
    """The doctor's checks that need no keys."""
    from recollect.db.encryption import AesGcmCipher
    from recollect.db.key_rotation import MaintenanceStore

    try:
        found = await engine.inspect(MaintenanceStore(AesGcmCipher([])).count_orphans)
    finally:
        await engine.close()
    return {name: count for name, count in found.items() if count}


def _given_passphrase(settings: Settings, file: Path | None) -> str | None:
    """From the file, else from the settings. A passphrase is never an argument: others could read
    it in the list of processes."""
    if file is None:
        secret = settings.database.backup_passphrase
        return None if secret is None else secret.get_secret_value()
    try:
        passphrase = file.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"--passphrase-file: {file} can't be read as a text") from None
    if not passphrase:
        raise InvalidInput(f"--passphrase-file: {file} is empty")
    return passphrase


def _passphrase_to_read(file: Path, given: str | None) -> str | None:
    """None if the backup needs none."""
    from recollect.backup.read import is_encrypted

    if not is_encrypted(file):
        return None
    return given or _ask_passphrase(confirm=False)


def _ask_passphrase(*, confirm: bool) -> str:
    if not sys.stdin.isatty():
        raise InvalidInput(
            "there is no passphrase: give --passphrase-file or database.backup_passphrase"
        )
    answer: str = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=confirm, err=True)
    return answer


def _show_progress(what: str, *, quiet: bool) -> "AbstractContextManager[Progress]":
    return nullcontext(lambda done, total: None) if quiet else progress(what, "rows")


def _describe(summary: "BackupSummary", seconds: float) -> str:
    rows, tables = summary.manifest.rows, len(summary.tables)
    sealed = "encrypted" if summary.encrypted else "not encrypted"
    return (
        f"{rows:,} rows of {tables} tables, {summary.size_bytes / _MEGABYTE:,.1f} MB, {sealed}, "
        f"in {seconds:.1f} s"
    )


def _needed_keys(summary: "BackupSummary") -> str:
    keys = ", ".join(summary.manifest.encryption_keys)
    return f"A restore also needs the encryption keys {keys}; no backup has them.\n" if keys else ""


def _missing_keys(settings: Settings, summary: "BackupSummary") -> list[str]:
    known = {key.id for key in settings.encryption.keys}
    return [id_ for id_ in summary.manifest.encryption_keys if id_ not in known]


def _to_json(file: Path, summary: "BackupSummary", seconds: float) -> dict[str, Any]:
    return {"file": str(file), **summary.to_json(), "seconds": round(seconds, 3)}


def _warn(message: str) -> None:
    print(f"recollect: {message}", file=sys.stderr)
