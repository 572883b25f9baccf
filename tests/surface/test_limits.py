"""The limits that the guide names against those that hold."""

from recollect.agents.model import DESCRIPTION_CHARS_MAX
from recollect.agents.run import ERROR_CHARS_MAX
from recollect.audit.model import JUSTIFICATION_CHARS_MAX
from recollect.conversations.entries.entry import (
    CONTENT_ITEMS_MAX,
    CONTENT_TYPE_CHARS_MAX,
    INDEXED_CHARS_MAX,
    SYNC_ITEMS_MAX,
)
from recollect.conversations.model import TITLE_CHARS_MAX
from recollect.erasure.model import IDENTIFIERS_MAX
from recollect.http.validation import BODY_BYTES_MAX
from recollect.idempotency import service as idempotency
from recollect.kernel.ids import USER_ID_CHARS_MAX
from recollect.kernel.owner import AGENT_ID_CHARS_MAX
from recollect.kernel.pages import LIMIT_MAX
from recollect.kernel.strict_json import DEPTH_MAX
from recollect.kernel.validation import METADATA_BYTES_MAX
from recollect.memories.commands import BATCH_ITEMS_MAX
from recollect.memories.model import (
    CONTENT_CHARS_MAX,
    ID_CHARS_MAX,
    KEY_CHARS_MAX,
    MESSAGES_BYTES_MAX,
    MESSAGES_MAX,
    OBSERVED_AHEAD_MAX,
    SOURCES_MAX,
    SUBJECTS_MAX,
    TAG_CHARS_MAX,
    TAGS_MAX,
    VALUE_BYTES_MAX,
    VALUE_DEPTH_MAX,
)
from recollect.people.model import ALIASES_MAX
from recollect.search import commands as search
from recollect.search.model import INDEX_ITEMS_MAX, QUERY_CHARS_MAX
from tests.support.documents import rows

LIMITS = {
    "request body": f"{BODY_BYTES_MAX >> 20} MiB",
    "depth of JSON": f"{DEPTH_MAX}",
    "`limit` of a list": f"{LIMIT_MAX:,} items",
    "`title`": f"{TITLE_CHARS_MAX} characters",
    "`metadata`": f"{METADATA_BYTES_MAX >> 10} KiB",
    "`content` of an append": f"{CONTENT_ITEMS_MAX:,} items",
    "`content` of a sync": f"{SYNC_ITEMS_MAX:,} items",
    "`contentType`": f"{CONTENT_TYPE_CHARS_MAX} characters",
    "`indexedContent`": f"{INDEXED_CHARS_MAX:,} characters",
    "`query` of a search": f"{QUERY_CHARS_MAX:,} characters",
    "items of an index call": f"{INDEX_ITEMS_MAX:,}",
    "`userId`": f"{USER_ID_CHARS_MAX} characters",
    "`justification`": f"{JUSTIFICATION_CHARS_MAX:,} characters",
    "`id` of an agent": f"{AGENT_ID_CHARS_MAX} characters",
    "`description` of an agent": f"{DESCRIPTION_CHARS_MAX:,} characters",
    "`id` of a memory": f"{ID_CHARS_MAX} characters",
    "`content` of a memory": f"{CONTENT_CHARS_MAX:,} characters",
    "`messages`": f"{MESSAGES_MAX:,} items, {MESSAGES_BYTES_MAX >> 20} MiB",
    "`key`": f"{KEY_CHARS_MAX} characters",
    "`value`": f"{VALUE_BYTES_MAX >> 10} KiB, {VALUE_DEPTH_MAX} deep",
    "`tags`": f"{TAGS_MAX} of {TAG_CHARS_MAX} characters",
    "`subjects`": f"{SUBJECTS_MAX}",
    "`source_entries`": f"{SOURCES_MAX:,}",
    "`observed_at`": f"{OBSERVED_AHEAD_MAX.total_seconds() / 60:.0f} minutes ahead",
    "items of a batch": f"{BATCH_ITEMS_MAX:,}",
    "`limit` of a search of memories": f"{search.HITS_MAX}",
    "`token_budget`": f"{search.TOKEN_BUDGET_MAX:,}",
    "`max_items` of a recall": f"{search.RECALL_ITEMS_MAX}",
    "`aliases` of a new person": f"{ALIASES_MAX}",
    "`error` of a run": f"{ERROR_CHARS_MAX:,} characters",
    "`identifiers` of a verification": f"{IDENTIFIERS_MAX}",
    "`Idempotency-Key`": f"{idempotency.KEY_CHARS_MAX} characters",
}


def test_the_guide_names_every_limit() -> None:
    named = dict(rows("docs/guide/errors.md", 2))
    for what, most in LIMITS.items():
        assert named[what].startswith(most), what
