"""Section `visibility`: in which space of an agent a text goes that names none."""

from collections.abc import Callable
from functools import cache

from pydantic import Field, field_validator
from pydantic_core import SchemaError, SchemaValidator, core_schema

from recollect.kernel.space import Visibility
from recollect.settings.section import Section


class VisibilityRuleSettings(Section):
    """Texts that match the pattern get the visibility."""

    pattern: str = Field(min_length=1)
    visibility: Visibility

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        linear_search(pattern)
        return pattern


def linear_search(pattern: str) -> Callable[[str], bool]:
    """Whether a text contains a match, without regard to case. ValueError for a pattern that does
    not compile.

    The engine is Rust's, which pydantic brings: its time is linear in the text for every pattern,
    so it has no look-around and no back-references.
    """
    return _compile(pattern).isinstance_python


@cache
def _compile(pattern: str) -> SchemaValidator:
    schema = core_schema.str_schema(pattern=f"(?i){pattern}", regex_engine="rust-regex")
    try:
        return SchemaValidator(schema)
    except SchemaError as error:
        reason = str(error).rstrip().splitlines()[-1].strip()
        reason = reason.removeprefix("SchemaError: ").removeprefix("error: ")
        raise ValueError(f"should be a regular expression of linear time: {reason}") from None


# What an agent knows of its user is for its owner, general knowledge is for everybody.
_ABOUT_THE_USER = (
    r"\b(the |this |our )?(user|owner) (also |often |always |never |usually |still |now )?"
    r"(is|was|has|had|likes?|loves?|hates?|dislikes?|wants?|needs?|uses|works?|lives?|owns|speaks"
    r"|said|says|told|asked|mentioned|plans|thinks|believes|knows|feels|goes|studies)\b"
)
DEFAULT_RULES = tuple(
    VisibilityRuleSettings(pattern=pattern, visibility=Visibility.PRIVATE)
    for pattern in (
        r"\b(api[ _-]?keys?|passwords?|secrets?)\b",
        r"\b(preferences?|prefers|personal)\b",
        r"\b(user|owner)['’]s\b",
        _ABOUT_THE_USER,
        r"(^|[.!?]\s+)(currently|right now|at the moment)\b",
        r"\b(this|the current) (session|task|conversation|chat)\b",
    )
)


class VisibilitySettings(Section):
    """The space of an agent that a memory goes to if nothing names its visibility."""

    rules: tuple[VisibilityRuleSettings, ...] = Field(
        DEFAULT_RULES,
        description="agents in dual mode: the first rule whose `pattern` is found in the text "
        "(without regard to case) gives its `visibility`, if the request names neither "
        "`visibility` nor `scope`; replaces the whole list; patterns have no look-around and no "
        "back-references",
        examples=[[{"pattern": "(preference|personal)", "visibility": "private"}]],
    )
    default: Visibility = Field(
        Visibility.PUBLIC,
        description="`public` or `private`: visibility of a text that matches no rule",
    )
