"""The typed command of the doctor."""

from typing import Annotated

from pydantic import Field

from recollect.doctor.model import DoctorCheck
from recollect.http.bodies import exact_word
from recollect.http.operation import JustifiedStrict


class ExamineMemories(JustifiedStrict, title="DoctorBody"):
    """Which checks, all if none is named; whether to mend. `with_model` lets checks ask a model;
    it is refused where no model is set up."""

    checks: (
        Annotated[
            list[Annotated[DoctorCheck, exact_word(DoctorCheck)]],
            Field(min_length=1, max_length=len(DoctorCheck)),
        ]
        | None
    ) = Field(
        default=None,
        description="The checks to make; all if none is named.",
        examples=[["near_duplicates"]],
    )
    repair: bool = Field(default=False, description="Whether to mend what can be mended.")
    with_model: bool = Field(
        default=False,
        description="Whether checks may ask a language model. Refused where none is set up.",
    )
