"""A time to live that nobody can mean is refused wherever one is taken."""

from typing import Any

import pytest

from recollect.ir import MemoryScope, apply_default_ttl, create_memory
from recollect.kernel.retention_rules import TTL_SECONDS_MAX
from tests.support.memory.callers import Callers

MINE: dict[str, Any] = {"space": {"kind": "user"}}
TOO_LONG = 10**15


@pytest.mark.surfaces("grpc")
def test_a_write_a_change_and_a_batch_refuse_it(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("plain", **MINE)
    body = {"content": "for ever", "ttl_seconds": TOO_LONG} | MINE
    longer = {"ttl_seconds": TOO_LONG}
    for reply in (
        ann.post("/memories", body=body),
        ann.patch("/memories/{}", memory["id"], body=longer),
        ann.post("/memories/batch", body={"items": [{"op": "create"} | body]}),
        ann.post(
            "/memories/batch", body={"items": [{"op": "update", "id": memory["id"]} | longer]}
        ),
    ):
        (fault,) = reply.refused(422, "validation_error")["violations"]
        assert fault["field"] == "ttl_seconds"
        assert str(TTL_SECONDS_MAX) in fault["message"]
    assert ann.lists("/memories", spaces="user") == [memory]
    assert ann.adds("long", ttl_seconds=TTL_SECONDS_MAX, **MINE)["expiry_rule"] == "explicit"


def test_a_preview_refuses_it(callers: Callers) -> None:
    body = {"scope": "long_term", "ttl_seconds": TOO_LONG}
    reply = callers.person("ann").post("/retention/preview", body=body)
    (fault,) = reply.refused(422, "validation_error")["violations"]
    assert fault["field"] == "ttl_seconds"


def test_an_entry_refuses_it_and_stays_as_it_was() -> None:
    wanted = (MemoryScope.LONG_TERM, "agent", "key", {"a": 1})
    with pytest.raises(ValueError, match=f"ttl_seconds: .*{TTL_SECONDS_MAX}"):
        create_memory(*wanted, ttl_seconds=TOO_LONG)
    entry = create_memory(*wanted, ttl_seconds=apply_default_ttl(MemoryScope.LONG_TERM))
    before = entry.model_dump()
    with pytest.raises(ValueError, match=f"ttl_seconds: .*{TTL_SECONDS_MAX}"):
        entry.set_ttl(TOO_LONG)
    assert entry.model_dump() == before
