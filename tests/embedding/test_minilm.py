"""The model in the process: its own files, its own runtime."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.embedding.minilm import MiniLmEmbedder
from recollect.embedding.model_files import MODEL_FILE, VOCABULARY_FILE
from recollect.embedding.port import Vectors
from recollect.kernel.errors import EmbeddingFailed

# Made by the graph that `models/build_minilm.py --reference` writes.
FULL_PRECISION = json.loads(
    (Path(__file__).parent / "full_precision.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def minilm() -> MiniLmEmbedder:
    return MiniLmEmbedder()


def embed(minilm: MiniLmEmbedder, *texts: str) -> Vectors:
    return asyncio.run(minilm.embed(texts))


def test_vectors_are_rows_of_single_precision_and_of_length_one(minilm: MiniLmEmbedder) -> None:
    rows = embed(minilm, "one", "two words", "", "🎉", "long " * 2000)
    assert rows.shape == (5, minilm.dimensions)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_no_texts_are_no_rows(minilm: MiniLmEmbedder) -> None:
    assert embed(minilm).shape == (0, minilm.dimensions)


def test_vectors_are_those_of_the_model_in_full_precision(minilm: MiniLmEmbedder) -> None:
    expected = np.array([sample["vector"] for sample in FULL_PRECISION])
    cosines = (embed(minilm, *(sample["text"] for sample in FULL_PRECISION)) * expected).sum(axis=1)
    assert cosines.mean() >= 0.99
    assert cosines.min() >= 0.98


def test_a_paraphrase_is_nearer_than_another_subject(minilm: MiniLmEmbedder) -> None:
    told, asked, other = embed(
        minilm,
        "I can't eat peanuts, they make me ill.",
        "Which food is she allergic to?",
        "The train to Dublin leaves at nine.",
    )
    assert told @ asked > told @ other + 0.2


@settings(max_examples=8)
@given(st.lists(st.text(max_size=200), min_size=1, max_size=12))
def test_a_text_has_its_vector_whatever_stands_beside_it(
    minilm: MiniLmEmbedder, texts: list[str]
) -> None:
    together = embed(minilm, "the same text", *texts, "the same text")
    alone = embed(minilm, "the same text")[0]
    assert together[0] @ alone > 1 - 1e-3
    assert together[-1] @ alone > 1 - 1e-3


def test_rows_are_in_the_order_of_the_texts(minilm: MiniLmEmbedder) -> None:
    texts = [f"{'word ' * (number * 7 % 20)}{number}" for number in range(40)]
    together = embed(minilm, *texts)
    alone = np.stack([embed(minilm, text)[0] for text in texts])
    assert (together * alone).sum(axis=1).min() > 1 - 1e-3


def test_a_query_has_the_vector_of_its_text(minilm: MiniLmEmbedder) -> None:
    vector = asyncio.run(minilm.embed_query("where is it?"))
    assert vector.shape == (minilm.dimensions,)
    assert vector @ embed(minilm, "where is it?")[0] > 1 - 1e-3


def test_the_loop_goes_on_while_vectors_are_made(minilm: MiniLmEmbedder) -> None:
    async def turns() -> int:
        work = asyncio.create_task(minilm.embed(["some words " * 100] * 5))
        count = 0
        while not work.done():
            await asyncio.sleep(0)
            count += 1
        return count

    assert asyncio.run(turns()) > 100


def test_many_first_calls_at_once_load_it_well() -> None:
    async def many() -> list[Vectors]:
        fresh = MiniLmEmbedder()
        return await asyncio.gather(*(fresh.embed_query("hello") for _ in range(8)))

    first, *others = asyncio.run(many())
    assert all(np.array_equal(first, other) for other in others)


def test_a_model_that_was_not_built_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingFailed, match="make install") as caught:
        embed(MiniLmEmbedder(tmp_path), "hello")
    assert str(tmp_path) not in caught.value.message


def test_a_broken_model_file_fails_as_an_embedding(tmp_path: Path) -> None:
    (tmp_path / MODEL_FILE).write_bytes(b"no model")
    (tmp_path / VOCABULARY_FILE).write_text("[UNK]\n[CLS]\n[SEP]\n", encoding="utf-8")
    with pytest.raises(EmbeddingFailed, match="not what the build made"):
        embed(MiniLmEmbedder(tmp_path), "hello")


def test_the_runtime_reports_to_nobody_and_leaves_nothing_behind(tmp_path: Path) -> None:
    program = (
        "import asyncio\n"
        "from recollect.embedding.minilm import MiniLmEmbedder\n"
        "print(asyncio.run(MiniLmEmbedder().embed_query('a heron')).shape)\n"
        "import os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    )
    environ = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["(384,)", "1"]
    assert list(tmp_path.iterdir()) == []
