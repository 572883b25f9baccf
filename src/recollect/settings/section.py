"""What all sections are made of: their base, the types they share, and how a rule is broken."""

import re
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    StringConstraints,
)
from pydantic_core import PydanticCustomError

_PASSWORD = re.compile(r"(?<=://)([^:@/]*):.*@")
_PASSWORD_PARAMETER = re.compile(r"(?i)([?&](?:ssl)?password=)[^&#]*")


def masked_url(url: str) -> str:
    """The URL without the passwords in it."""
    return _PASSWORD_PARAMETER.sub(r"\1***", _PASSWORD.sub(r"\1:***@", url))


def _web_url(url: str) -> str:
    if re.match(r"https?://[^/\s]+", url):
        return url
    raise ValueError("should be an http or https URL")


MaskedUrl = PlainSerializer(masked_url, when_used="json")
WebUrl = Annotated[str, AfterValidator(_web_url), MaskedUrl]
Key = Annotated[SecretStr, Field(min_length=1)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=255)]
Port = Annotated[int, Field(ge=0, le=65_535)]
Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """A named group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def broken(key: str, reason: str) -> PydanticCustomError:
    """A rule between settings that does not hold; `key` is the one to change."""
    return PydanticCustomError("setting", "{reason}", {"key": key, "reason": reason})
