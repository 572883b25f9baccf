"""What is ready when a server has started."""

import asyncio
from pathlib import Path

from recollect.app.application import build
from recollect.screening.pii.postal import address_pattern
from recollect.screening.sensitive_words import confidence_pattern, sensitive_pattern
from recollect.settings.load import load
from tests.support.hosting import DEFAULT_FLAGS


def test_no_write_waits_for_a_large_pattern_to_be_compiled(tmp_path: Path) -> None:
    large = (address_pattern, confidence_pattern, sensitive_pattern)
    for pattern in large:
        pattern.cache_clear()
    flags = DEFAULT_FLAGS | {"database.url": f"sqlite:///{tmp_path}/recollect.db"}
    app = build(load(flags=flags, environ={}).settings)

    async def start_and_close() -> None:
        await app.start()
        await app.close()

    asyncio.run(start_and_close())
    assert [pattern.cache_info().currsize for pattern in large] == [1, 1, 1]
