"""Which vector database the settings ask for."""

import asyncio
import sys
from typing import Any

import pytest

from recollect.app.embedding import EmbeddingBackends, open_embedding
from recollect.kernel.errors import InvalidInput
from recollect.settings.load import load

URL = {"search.qdrant.url": "http://127.0.0.1:9"}


def opened(flags: dict[str, Any]) -> EmbeddingBackends:
    finding = open_embedding(load(flags=flags, environ={}).settings)
    asyncio.run(finding.close())
    return finding


def test_there_is_none_unless_it_is_asked_for() -> None:
    assert opened({}).vector_index is None
    assert opened(URL | {"embedding.provider": "none"}).vector_index is None


def test_its_name_tells_where_it_is_and_of_which_model() -> None:
    beside = opened(URL | {"search.qdrant.collection": "ours"}).vector_index
    assert beside is not None
    assert beside.name.startswith("127.0.0.1:9/ours_")
    assert beside.name.endswith("_384")


def test_without_its_client_the_server_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    monkeypatch.delitem(sys.modules, "recollect.search.qdrant", raising=False)
    with pytest.raises(InvalidInput, match=r"pip install 'recollect\[qdrant\]'"):
        opened(URL)
