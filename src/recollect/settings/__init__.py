"""All settings: sections, types, defaults, bounds and the rules between them.

They are immutable. `model_dump(mode="json")` masks every secret, so its result may be shown.
`settings/load.py` loads the values. Other packages import from here, not from the modules.
"""

import ipaddress
from pathlib import Path

from pydantic import model_validator

from recollect.settings.auth import AuthSettings
from recollect.settings.memory import (
    AgentsSettings,
    ApprovalsSettings,
    EraseSettings,
    EventsSettings,
    ExtractionSettings,
    GcSettings,
    MemoryReconcileSettings,
    MemorySettings,
    OrgsSettings,
    PeopleSettings,
    PiiSettings,
    PrivacySettings,
    QuarantineSettings,
    RecallSettings,
    RetentionSettings,
    RunsSettings,
    SpacesSettings,
)
from recollect.settings.recorder import RecorderSettings, RedisSettings
from recollect.settings.search import EmbeddingSettings, SearchSettings
from recollect.settings.section import Section, broken_rule
from recollect.settings.server import (
    AdminSettings,
    ApiSettings,
    AuditSettings,
    EvictionSettings,
    GrpcSettings,
    JobsSettings,
    LogSettings,
    OtelSettings,
    ServerSettings,
    TransfersSettings,
)
from recollect.settings.storage import DatabaseSettings, EncryptionSettings
from recollect.settings.visibility import VisibilitySettings, linear_search

__all__ = [
    "SECRETS",
    "DatabaseSettings",
    "LogSettings",
    "MemorySettings",
    "Section",
    "ServerSettings",
    "Settings",
    "linear_search",
]

LOCAL_KEY_NAME = "recollect.key"
# Settings whose values must not appear in any message.
SECRETS = frozenset(
    {
        "database.url",
        "auth.jwt_secret",
        "auth.jwks_url",
        "auth.api_keys",
        "database.backup_passphrase",
        "encryption.keys",
        "search.qdrant.url",
        "search.qdrant.api_key",
        "embedding.openai.base_url",
        "embedding.openai.api_key",
        "erase.signing_key",
        "redis.url",
    }
)


class Settings(Section):
    """All settings of one process."""

    server: ServerSettings = ServerSettings()
    database: DatabaseSettings = DatabaseSettings()
    auth: AuthSettings = AuthSettings()
    api: ApiSettings = ApiSettings()
    admin: AdminSettings = AdminSettings()
    audit: AuditSettings = AuditSettings()
    eviction: EvictionSettings = EvictionSettings()
    transfers: TransfersSettings = TransfersSettings()
    encryption: EncryptionSettings = EncryptionSettings()
    search: SearchSettings = SearchSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    memory: MemorySettings = MemorySettings()
    extraction: ExtractionSettings = ExtractionSettings()
    spaces: SpacesSettings = SpacesSettings()
    visibility: VisibilitySettings = VisibilitySettings()
    privacy: PrivacySettings = PrivacySettings()
    pii: PiiSettings = PiiSettings()
    retention: RetentionSettings = RetentionSettings()
    runs: RunsSettings = RunsSettings()
    approvals: ApprovalsSettings = ApprovalsSettings()
    quarantine: QuarantineSettings = QuarantineSettings()
    events: EventsSettings = EventsSettings()
    agents: AgentsSettings = AgentsSettings()
    people: PeopleSettings = PeopleSettings()
    orgs: OrgsSettings = OrgsSettings()
    reconcile: MemoryReconcileSettings = MemoryReconcileSettings()
    recall: RecallSettings = RecallSettings()
    gc: GcSettings = GcSettings()
    erase: EraseSettings = EraseSettings()
    jobs: JobsSettings = JobsSettings()
    log: LogSettings = LogSettings()
    otel: OtelSettings = OtelSettings()
    grpc: GrpcSettings = GrpcSettings()
    recorder: RecorderSettings = RecorderSettings()
    redis: RedisSettings = RedisSettings()

    @model_validator(mode="after")
    def _local_is_loopback(self) -> "Settings":
        if self.auth.mode == "local" and not _is_loopback(self.server.host):
            raise broken_rule(
                "server.host",
                "should be a loopback address such as 127.0.0.1 while auth.mode is local "
                f"(anybody could claim to be anybody), and is {self.server.host!r}; "
                "set auth.mode to jwt to listen elsewhere",
            )
        return self

    @model_validator(mode="after")
    def _locators_have_a_store(self) -> "Settings":
        locators = self.recorder.locators
        if locators in ("redis", "infinispan") and self.redis.url is None:
            raise broken_rule("redis.url", f"should be set while recorder.locators is {locators}")
        return self

    @model_validator(mode="after")
    def _sealed_index_has_keys(self) -> "Settings":
        if self.encryption.index == "sealed" and not self.encryption.keys:
            raise broken_rule("encryption.keys", "should be set while encryption.index is sealed")
        return self

    @property
    def indexes_raw_text(self) -> bool:
        """`search.index_raw_text`, or its default: yes unless contents are encrypted and the index
        is not."""
        if self.search.index_raw_text is None:
            return not self.encryption.keys or self.encryption.index == "sealed"
        return self.search.index_raw_text

    @property
    def makes_vectors(self) -> bool:
        """Is search by meaning enabled, and an embedding provider configured?"""
        return self.search.semantic.enabled and self.embedding.provider != "none"

    @property
    def makes_memory_vectors(self) -> bool:
        """Are vectors made for memories? A vector reveals what its text is about, so there is none
        where texts are encrypted and must not be indexed in plain text."""
        return self.makes_vectors and (not self.encryption.keys or self.indexes_raw_text)

    @property
    def data_folder(self) -> Path:
        """The folder for our files: that of the SQLite file, else ./recollect-data."""
        path = self.database.sqlite_path
        return Path("recollect-data") if path is None else path.parent

    @property
    def local_key_path(self) -> Path:
        """The file with the signing secret of local mode."""
        return self.data_folder / LOCAL_KEY_NAME


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
