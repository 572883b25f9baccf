"""What is ready when a server has started."""

import asyncio
from pathlib import Path
from typing import Any

from recollect.app.application import build
from recollect.screening.injection.signs import message_signs, text_signs
from recollect.screening.pii.postal import address_pattern
from recollect.screening.sensitivity import confidence_phrases, harmless_phrases, sensitive_phrases
from recollect.settings.load import load
from tests.support.hosting import DEFAULT_FLAGS


def test_no_write_waits_for_large_patterns_or_lists_of_phrases(
    tmp_path: Path,
) -> None:
    sets = (sensitive_phrases, harmless_phrases, confidence_phrases, text_signs, message_signs)
    large: list[Any] = [address_pattern, *sets]
    for pattern in large:
        pattern.cache_clear()
    flags = DEFAULT_FLAGS | {"database.url": f"sqlite:///{tmp_path}/recollect.db"}
    app = build(load(flags=flags, environ={}).settings)

    async def start_and_close() -> None:
        await app.start()
        await app.close()

    asyncio.run(start_and_close())
    assert [pattern.cache_info().currsize for pattern in large] == [1] * 6
