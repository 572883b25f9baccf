"""Builds the recorder from the settings: its files, its locator and its address."""

import socket
from ipaddress import ip_address
from pathlib import Path

from recollect.app.file_descriptors import DescriptorBudget
from recollect.app.stores import Stores
from recollect.db.transaction import Database
from recollect.kernel.errors import InvalidInput
from recollect.kernel.runtime import Runtime
from recollect.recordings.files import LocalRecordingFiles
from recollect.recordings.locators.database import DatabaseLocator
from recollect.recordings.locators.local import LocalLocator
from recollect.recordings.model import (
    LEFTOVER_SECONDS,
    RecorderLimits,
    StreamQuota,
)
from recollect.recordings.ports import Locator
from recollect.recordings.service import RecorderParts, RecorderService
from recollect.settings import Settings


def build_recorder(
    settings: Settings,
    database: Database,
    stores: Stores,
    runtime: Runtime,
    *,
    descriptors: DescriptorBudget,
) -> RecorderService:
    """Build a recorder; the caller starts it. The node has no more recordings than it has file
    descriptors for."""
    chosen = settings.recorder
    parts = RecorderParts(
        locator=_build_locator(settings, database, stores, runtime),
        tapes=LocalRecordingFiles(
            _recordings_folder(settings),
            runtime.cipher,
            bytes_max=chosen.max_bytes,
            leftover_seconds=LEFTOVER_SECONDS,
        ),
        keep_seconds=chosen.keep_seconds,
        limits=RecorderLimits(
            recordings=StreamQuota(
                min(chosen.max_recordings, descriptors.recordings), chosen.max_recordings_per_user
            ),
            replays=StreamQuota(chosen.max_replays, chosen.max_replays_per_user),
        ),
    )
    return RecorderService(database, stores, runtime, parts)


def advertised_address(settings: Settings, host: str, port: int) -> str:
    """The address at which other nodes reach this one: the configured one, else the host name if
    the server listens on all interfaces, else the address that it listens on."""
    if settings.recorder.advertised_address is not None:
        return settings.recorder.advertised_address
    try:
        address = ip_address(host)
    except ValueError:
        return f"{host}:{port}"
    if address.is_unspecified:
        return f"{socket.gethostname()}:{port}"
    return f"[{host}]:{port}" if address.version == 6 else f"{host}:{port}"


def _recordings_folder(settings: Settings) -> Path:
    # Beside the SQLite file by default, or in the default data folder if there is none.
    beside = settings.database.sqlite_path or Path("recollect-data/-")
    return settings.recorder.directory or beside.with_name("recordings")


def _build_locator(
    settings: Settings, database: Database, stores: Stores, runtime: Runtime
) -> Locator | None:
    match settings.recorder.locators:
        case "none":
            return None
        case "local":
            return LocalLocator()
        case "database":
            return DatabaseLocator(database, stores, runtime)
        case _:
            return _build_redis_locator(settings.redis.url or "")


def _build_redis_locator(url: str) -> Locator:
    try:
        from recollect.recordings.locators.redis import RedisLocator  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise InvalidInput(
            "recorder.locators needs the extra `redis`: pip install 'recollect[redis]'"
        ) from error
    return RedisLocator(url)
