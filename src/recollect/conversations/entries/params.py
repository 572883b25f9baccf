"""The query parameter `epoch`."""

from recollect.conversations.entries.entry import EpochFilter
from recollect.http.params import Param
from recollect.kernel.errors import InvalidInput

EPOCH_MAX = 2**63 - 1


def epoch_param(default: EpochFilter) -> Param:
    """The epoch, that is the version, of a client's memory entries."""
    number = {"type": "integer", "minimum": 1, "maximum": EPOCH_MAX}
    words = {"type": "string", "enum": ["latest", "all"]}
    schema = {"anyOf": [words, number], "default": default}
    return Param("epoch", _read_epoch, schema, "Which epoch of memory entries to show.", default)


def _read_epoch(value: str) -> EpochFilter:
    match value.lower():
        case "latest":
            return "latest"
        case "all":
            return "all"
    if not (value.isascii() and value.isdigit() and value.strip("0")):
        # The contract calls a bad epoch a broken rule, not bad syntax.
        raise InvalidInput("epoch must be latest, all or an integer from 1", field="epoch")
    if len(value) > len(str(EPOCH_MAX)) or int(value) > EPOCH_MAX:
        raise ValueError(f"must be at most {EPOCH_MAX}")
    return int(value)
