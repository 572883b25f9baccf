"""Builds the recorder from the settings: its files, its locator and its address."""

import socket
from ipaddress import ip_address

from recollect.app.context import AppContext
from recollect.app.file_descriptors import DescriptorBudget
from recollect.kernel.errors import InvalidInput
from recollect.recordings.files import LocalRecordingFiles
from recollect.recordings.locators.database import DatabaseLocator
from recollect.recordings.locators.local import LocalLocator
from recollect.recordings.model import (
    LEFTOVER_SECONDS,
    RecorderLimits,
    StreamQuota,
)
from recollect.recordings.ports import Locator
from recollect.recordings.service import RecorderService
from recollect.settings import Settings


def build_recorder(context: AppContext, descriptors: DescriptorBudget) -> RecorderService:
    """Build a recorder; the caller starts it. The node has no more recordings than it has file
    descriptors for."""
    settings = context.settings
    recorder = settings.recorder
    return RecorderService(
        context,
        locator=_build_locator(context),
        tapes=LocalRecordingFiles(
            recorder.directory or settings.data_folder / "recordings",
            context.runtime.cipher,
            bytes_max=recorder.max_bytes,
            leftover_seconds=LEFTOVER_SECONDS,
        ),
        keep_seconds=recorder.keep_seconds,
        limits=RecorderLimits(
            recordings=StreamQuota(
                min(recorder.max_recordings, descriptors.recordings),
                recorder.max_recordings_per_user,
            ),
            replays=StreamQuota(recorder.max_replays, recorder.max_replays_per_user),
        ),
    )


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


def _build_locator(context: AppContext) -> Locator | None:
    match context.settings.recorder.locators:
        case "none":
            return None
        case "local":
            return LocalLocator()
        case "database":
            return DatabaseLocator(context)
        case _:
            return _build_redis_locator(context.settings.redis.url or "")


def _build_redis_locator(url: str) -> Locator:
    try:
        from recollect.recordings.locators.redis import RedisLocator  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise InvalidInput(
            "recorder.locators needs the extra `redis`: pip install 'recollect[redis]'"
        ) from error
    return RedisLocator(url)
