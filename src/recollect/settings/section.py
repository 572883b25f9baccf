"""The base class of all sections, types they share, and the error of a broken rule."""

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
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

_PASSWORD = re.compile(r"(?<=://)([^:@/]*):.*@")
_PASSWORD_PARAMETER = re.compile(r"(?i)([?&](?:ssl)?password=)[^&#]*")


def mask_url(url: str) -> str:
    """The URL with its passwords replaced by `***`."""
    return _PASSWORD_PARAMETER.sub(r"\1***", _PASSWORD.sub(r"\1:***@", url))


def _check_web_url(url: str) -> str:
    if re.match(r"https?://[^/\s]+", url):
        return url
    raise ValueError("should be an http or https URL")


MaskedUrl = PlainSerializer(mask_url, when_used="json")
WebUrl = Annotated[str, AfterValidator(_check_web_url), MaskedUrl]
Key = Annotated[SecretStr, Field(min_length=1)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=255)]
Port = Annotated[int, Field(ge=0, le=65_535)]
Share = Annotated[float, Field(ge=0, le=1)]


_LONGEST = {
    "days": 36_500,
    "hours": 36_500 * 24,
    "minutes": 36_500 * 24 * 60,
    "seconds": 36_500 * 24 * 60 * 60,
    "ms": 36_500 * 24 * 60 * 60 * 1_000,
}


class Section(BaseModel):
    """A named group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @field_validator("*")
    @classmethod
    def _check_duration(cls, value: object, info: ValidationInfo) -> object:
        """Bound every length of time: beyond some thousand years no date can be computed."""
        longest = _LONGEST.get((info.field_name or "").rpartition("_")[2])
        if longest is not None and isinstance(value, int | float) and value > longest:
            raise ValueError(f"should be at most {longest}, a hundred years")
        return value


def broken_rule(key: str, reason: str) -> PydanticCustomError:
    """The error for a broken rule between settings; `key` is the setting to change."""
    return PydanticCustomError("setting", "{reason}", {"key": key, "reason": reason})
