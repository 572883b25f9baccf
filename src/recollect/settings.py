"""What can be set: sections, types, defaults, bounds and the rules between them.

Everything is frozen. `model_dump(mode="json")` masks every secret, so it may always be shown.
Where the values come from is `config.py`'s part.
"""

import base64
import binascii
import ipaddress
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    StringConstraints,
    model_validator,
)
from pydantic_core import PydanticCustomError

from recollect.policy.principals import Role

SECRET_BYTES_MIN = 32
SQLITE_PREFIX = "sqlite:///"
LOCAL_KEY_NAME = "recollect.key"
# Values that no message may repeat.
SECRETS = frozenset(
    {
        "database.url",
        "auth.jwt_secret",
        "auth.jwks_url",
        "auth.api_keys",
        "encryption.keys",
        "search.qdrant.url",
        "search.qdrant.api_key",
        "embedding.openai.base_url",
        "embedding.openai.api_key",
    }
)

_PASSWORD = re.compile(r"(?<=://)([^:@/]*):.*@")
_PASSWORD_PARAMETER = re.compile(r"(?i)([?&](?:ssl)?password=)[^&#]*")


def masked_url(url: str) -> str:
    """The URL without the passwords in it."""
    return _PASSWORD_PARAMETER.sub(r"\1***", _PASSWORD.sub(r"\1:***@", url))


def _database_url(url: str) -> str:
    path = url.removeprefix(SQLITE_PREFIX)
    if re.match(r"postgresql://[^?]*[@/][^?]*@", url):
        # libpq would take a part of the password for the host, and say so in its messages.
        raise ValueError("should have `@` and `/` of its user and password written as %40 and %2F")
    if url.startswith("postgresql://") or (
        path not in (url, "", "/", ":memory:") and not re.search(r"[?#]", path)
    ):
        return url
    raise ValueError(
        "should be sqlite:///relative/file.db, sqlite:////absolute/file.db or "
        "postgresql://user:password@host/database"
    )


def _web_url(url: str) -> str:
    if re.match(r"https?://[^/\s]+", url):
        return url
    raise ValueError("should be an http or https URL")


def _encryption_key(key: SecretStr) -> SecretStr:
    try:
        size = len(base64.b64decode(key.get_secret_value(), validate=True))
    except binascii.Error:
        size = 0
    if size != 32:
        raise ValueError("should be 32 random bytes in base64, as `openssl rand -base64 32` prints")
    return key


def _distinct_ids(keys: "tuple[EncryptionKey, ...]") -> "tuple[EncryptionKey, ...]":
    twice = [id_ for id_, count in Counter(key.id for key in keys).items() if count > 1]
    if twice:
        raise ValueError(f"should have distinct ids, and {twice[0]!r} is there twice")
    return keys


def _distinct_keys(keys: "dict[str, tuple[_Key, ...]]") -> "dict[str, tuple[_Key, ...]]":
    owners: dict[str, str] = {}
    for client, own in keys.items():
        for key in own:
            owner = owners.setdefault(key.get_secret_value(), client)
            if owner != client or own.count(key) > 1:
                raise ValueError(
                    f"should hold each key once, and {client!r} repeats one of {owner!r}"
                )
    return keys


_MaskedUrl = PlainSerializer(masked_url, when_used="json")
_Key = Annotated[SecretStr, Field(min_length=1)]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=255)]
_KeyId = Annotated[str, StringConstraints(pattern=r"\A[A-Za-z0-9._-]{1,20}\z")]
_Port = Annotated[int, Field(ge=0, le=65_535)]


class Section(BaseModel):
    """A named group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ServerSettings(Section):
    """Where the server listens, and how it stops."""

    host: str = Field(
        "127.0.0.1", min_length=1, description="address to listen on; loopback in mode `local`"
    )
    port: _Port = Field(8080, description="TCP port of REST; 0 takes a free one")
    shutdown_grace_seconds: int = Field(
        20, ge=0, description="how long running requests may take to end when the server stops"
    )


class DatabaseSettings(Section):
    """The one database that holds everything."""

    url: Annotated[str, AfterValidator(_database_url), _MaskedUrl] = Field(
        "sqlite:///recollect-data/recollect.db",
        repr=False,
        description="`sqlite:///relative/file.db` (from the working directory), "
        "`sqlite:////absolute/file.db` or `postgresql://user:password@host/database`",
    )
    pool_size: int = Field(8, ge=1, description="PostgreSQL connections of one process")
    readers: int = Field(2, ge=1, description="SQLite reader threads of one process")
    migrate_at_start: bool | None = Field(
        None,
        description="bring the schema up to date when the server starts; "
        "unset: yes on SQLite, no on PostgreSQL (there, run `recollect migrate`)",
    )

    @property
    def sqlite_path(self) -> Path | None:
        """The file of an SQLite database; None on PostgreSQL."""
        path = self.url.removeprefix(SQLITE_PREFIX)
        return None if path == self.url else Path(path)

    @property
    def migrates_at_start(self) -> bool:
        """`migrate_at_start`, decided."""
        if self.migrate_at_start is None:
            return self.sqlite_path is not None
        return self.migrate_at_start


class RoleGrant(Section):
    """Who has a role."""

    users: tuple[_Name, ...] = ()
    clients: tuple[_Name, ...] = ()
    token_roles: tuple[_Name, ...] = ()


class AuthSettings(Section):
    """Who is believed, and who may do more."""

    mode: Literal["local", "jwt"] = Field(
        "local",
        description="`local`: `X-Requester-Id` is believed, loopback only; `jwt`: bearer tokens",
    )
    jwt_secret: _Key | None = Field(
        None, description="checks and signs HS256 tokens; 32 bytes or more are advised"
    )
    jwks_url: Annotated[str, AfterValidator(_web_url), _MaskedUrl] | None = Field(
        None, description="where the public keys of RS256 and ES256 tokens are"
    )
    issuer: _Name | None = Field(None, description="`iss` that tokens must have, if set")
    audience: _Name | None = Field(None, description="`aud` that tokens must have, if set")
    roles_claim: str = Field(
        "",
        description="dotted path of the claim with the token's roles; "
        "empty: `roles`, then `realm_access.roles`",
    )
    api_keys: Annotated[
        dict[_Name, Annotated[tuple[_Key, ...], Field(min_length=1)]],
        AfterValidator(_distinct_keys),
    ] = Field(
        {},
        description="client id → its API keys; a key belongs to one client",
        examples=[{"support-bot": ["key-1", "key-2"]}],
    )
    trusted_clients: tuple[_Name, ...] = Field(
        (),
        description="clients of `auth.api_keys` that may name the user with `X-Requester-Id`",
        examples=[["support-bot"]],
    )
    roles: dict[Role, RoleGrant] = Field(
        {},
        description="`admin`, `auditor` or `indexer` → `users`, `clients` and `token_roles` "
        "that have it",
        examples=[{"admin": {"users": ["ann"], "clients": [], "token_roles": ["ops"]}}],
    )

    @model_validator(mode="after")
    def _trusted_are_known(self) -> "AuthSettings":
        unknown = [client for client in self.trusted_clients if client not in self.api_keys]
        if unknown:
            raise broken(
                "auth.trusted_clients",
                f"should name clients of auth.api_keys, and {unknown[0]!r} is none",
            )
        return self

    @model_validator(mode="after")
    def _tokens_can_be_checked(self) -> "AuthSettings":
        if self.mode == "jwt" and self.jwt_secret is None and self.jwks_url is None:
            raise broken("auth.mode", "jwt needs auth.jwt_secret or auth.jwks_url as well")
        return self


class ApiSettings(Section):
    """What answers look like."""

    emit_after_cursor: bool = Field(
        False, description="repeat the next cursor under its older name `afterCursor` as well"
    )


class AdminSettings(Section):
    """Rules of the admin calls."""

    require_justification: bool = Field(
        False, description="refuse admin calls without a `justification`"
    )


class AuditSettings(Section):
    """The audit log."""

    retention_days: int = Field(365, ge=1, description="age at which events are removed")


class EvictionSettings(Section):
    """Removal of deleted trees for good."""

    batch_size: int = Field(1000, ge=1, description="trees removed between two pauses")
    batch_delay_ms: int = Field(100, ge=0, description="pause between two batches")


class EncryptionKey(Section):
    """A key and the name that stored values know it by."""

    id: _KeyId
    key: Annotated[SecretStr, AfterValidator(_encryption_key)]

    def to_bytes(self) -> bytes:
        """The 32 bytes."""
        return base64.b64decode(self.key.get_secret_value(), validate=True)


class EncryptionSettings(Section):
    """Encryption at rest."""

    keys: Annotated[tuple[EncryptionKey, ...], AfterValidator(_distinct_ids)] = Field(
        (),
        description="the first key encrypts, the others only decrypt; each has an `id` and a "
        "`key` of 32 bytes in base64; empty: contents are stored plain",
        examples=[[{"id": "2026-01", "key": "base64 of 32 bytes"}]],
    )


class SemanticSettings(Section):
    """Search by meaning."""

    enabled: bool = Field(True, description="make vectors, and search by them")
    min_score: float = Field(
        0.2, ge=-1, le=1, description="least cosine similarity of a result found by meaning"
    )


class FulltextSettings(Section):
    """Search by words."""

    enabled: bool = Field(True, description="search by words")


class QdrantSettings(Section):
    """A Qdrant server or cluster that answers for scopes above `search.exact_max`."""

    url: Annotated[str, AfterValidator(_web_url), _MaskedUrl] | None = Field(
        None, description="where it listens; unset: vectors stay in the database alone"
    )
    api_key: _Key | None = Field(None, description="its API key, if it wants one")
    collection: _Name = Field("recollect", description="first part of its collections' names")


class SearchSettings(Section):
    """What is indexed, and how it is searched."""

    index_raw_text: bool | None = Field(
        None,
        description="index an entry's own text when no `indexedContent` was sent; "
        "unset: yes with plain contents, no with encrypted ones",
    )
    candidates: int = Field(
        1_000, ge=1, le=10_000, description="best entries of each type that `auto` looks at"
    )
    exact_max: int = Field(
        50_000,
        ge=1,
        description="permitted entries up to which every vector is compared; above, an index "
        "may miss some candidates (their scores stay exact)",
    )
    cache_mb: int = Field(
        512, ge=1, description="most memory for the words and vectors of recent callers"
    )
    semantic: SemanticSettings = SemanticSettings()
    fulltext: FulltextSettings = FulltextSettings()
    qdrant: QdrantSettings = QdrantSettings()


class OpenAiSettings(Section):
    """An endpoint that speaks OpenAI's `/v1/embeddings`."""

    base_url: Annotated[str, AfterValidator(_web_url), _MaskedUrl] = Field(
        "https://api.openai.com/v1", description="the part of the URL before `/embeddings`"
    )
    model: _Name = Field("text-embedding-3-small", description="name of the model there")
    api_key: _Key | None = Field(None, description="sent as bearer token")
    dimensions: int = Field(
        1_536, ge=1, le=16_000, description="length of its vectors; another length is refused"
    )
    send_dimensions: bool = Field(
        False, description="ask the endpoint for this length, where it can shorten vectors"
    )
    timeout_seconds: float = Field(10, gt=0, description="patience with one request")
    retries: int = Field(2, ge=0, le=10, description="further tries of a failed request")


class EmbeddingSettings(Section):
    """What makes vectors of texts."""

    provider: Literal["builtin", "openai", "none"] = Field(
        "builtin",
        description="`builtin`: a small English model in the process; `openai`: an endpoint; "
        "`none`: no vectors",
    )
    threads: int = Field(1, ge=1, description="threads of the built-in model")
    query_cache: int = Field(1_000, ge=0, description="query vectors that are remembered")
    openai: OpenAiSettings = OpenAiSettings()


class JobsSettings(Section):
    """Background work."""

    embedded_worker: bool = Field(
        True, description="`recollect serve` also works on jobs; no: run `recollect worker`"
    )
    attempts_max: int = Field(8, ge=1, description="tries before a job is given up")
    poll_ms: int = Field(500, ge=10, description="pause of an idle worker between two looks")
    lease_seconds: int = Field(
        60, ge=1, description="time after which a job of a vanished worker is taken again"
    )


class LogSettings(Section):
    """What is logged, and how."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="least level that is written"
    )
    format: Literal["auto", "text", "json"] = Field(
        "auto", description="`auto`: text on a terminal, JSON lines elsewhere"
    )


class GrpcSettings(Section):
    """The gRPC listener."""

    port: _Port | None = Field(
        None, description="reserved for the gRPC listener: accepted and shown, not used yet"
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
    encryption: EncryptionSettings = EncryptionSettings()
    search: SearchSettings = SearchSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    jobs: JobsSettings = JobsSettings()
    log: LogSettings = LogSettings()
    grpc: GrpcSettings = GrpcSettings()

    @model_validator(mode="after")
    def _local_is_loopback(self) -> "Settings":
        if self.auth.mode == "local" and not _is_loopback(self.server.host):
            raise broken(
                "server.host",
                "should be a loopback address such as 127.0.0.1 while auth.mode is local "
                f"(anybody could claim to be anybody), and is {self.server.host!r}; "
                "set auth.mode to jwt to listen elsewhere",
            )
        return self

    @property
    def indexes_raw_text(self) -> bool:
        """`search.index_raw_text`, decided."""
        if self.search.index_raw_text is None:
            return not self.encryption.keys
        return self.search.index_raw_text

    @property
    def makes_vectors(self) -> bool:
        """Is there something that makes vectors, and is it wanted?"""
        return self.search.semantic.enabled and self.embedding.provider != "none"

    @property
    def local_key_path(self) -> Path:
        """The file with the secret of local tokens: beside the database, or in ./recollect-data."""
        return (self.database.sqlite_path or Path("recollect-data/-")).with_name(LOCAL_KEY_NAME)

    def warnings(self) -> list[str]:
        """What works and is unwise. No secrets in it."""
        secret = self.auth.jwt_secret
        if secret is None or len(secret.get_secret_value().encode()) >= SECRET_BYTES_MIN:
            return []
        return [f"auth.jwt_secret is shorter than {SECRET_BYTES_MIN} bytes: it can be guessed"]


def broken(key: str, reason: str) -> PydanticCustomError:
    """A rule between settings that does not hold; `key` is the one to change."""
    return PydanticCustomError("setting", "{reason}", {"key": key, "reason": reason})


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
