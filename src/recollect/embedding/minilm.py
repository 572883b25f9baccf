"""The embedding model in the process: all-MiniLM-L6-v2 as int8, each call on one thread by default.

Files and runtime are loaded with the first text, so a server that uses an endpoint never loads
them.
"""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from recollect.embedding.model_files import (
    ADVICE,
    MODEL_FILE,
    MODEL_FOLDER,
    VOCABULARY_FILE,
)
from recollect.embedding.port import Vectors
from recollect.embedding.wordpiece import WordPiece
from recollect.kernel.errors import EmbeddingFailed
from recollect.settings.load import silence_libraries

DIMENSIONS = 384
# Texts per call of a worker thread: after so many a cancelled caller stops computing.
TEXTS_PER_THREAD_CALL = 32
# Batching makes short texts a quarter faster; larger batches no longer fit into the CPU's caches.
BATCH_TOKENS = 256


class MiniLmEmbedder:
    """Unit vectors of 384 dimensions, for English. Only the first 254 tokens of a text count."""

    model = "minilm-l6-v2-int8"
    dimensions = DIMENSIONS

    def __init__(self, folder: Path = MODEL_FOLDER, *, threads: int = 1) -> None:
        self._folder = folder
        self._threads = threads
        self._loading = threading.Lock()
        self._network: _OnnxNetwork | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text. A text's vector does not depend on the other texts in the call."""
        rows = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for at in range(0, len(texts), TEXTS_PER_THREAD_CALL):
            part = texts[at : at + TEXTS_PER_THREAD_CALL]
            rows[at : at + TEXTS_PER_THREAD_CALL] = await asyncio.to_thread(self._compute, part)
        return rows

    async def embed_query(self, text: str) -> Vectors:
        """The vector of one text."""
        vector: Vectors = (await self.embed([text]))[0]
        return vector

    async def close(self) -> None:
        """Release the model's memory. A later text would load it again."""
        self._network = None

    def _compute(self, texts: Sequence[str]) -> Vectors:
        network = self._load_network()
        tokens = [network.token_ids(text) for text in texts]
        rows = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for batch in _batches_by_length([len(ids) for ids in tokens]):
            rows[batch] = network.compute_vectors([tokens[index] for index in batch])
        return rows

    def _load_network(self) -> "_OnnxNetwork":
        # Under the lock: several threads may come with the first text.
        with self._loading:
            if self._network is None:
                self._network = _OnnxNetwork(self._folder, self._threads)
            return self._network


class _OnnxNetwork:
    """Vocabulary and ONNX session, used by several threads at once."""

    def __init__(self, folder: Path, threads: int) -> None:
        if not all((folder / name).is_file() for name in (MODEL_FILE, VOCABULARY_FILE)):
            raise EmbeddingFailed(ADVICE["embedding_model_missing"])
        silence_libraries()
        runtime = import_module("onnxruntime")
        self._failures = _runtime_exceptions(runtime)
        lines = (folder / VOCABULARY_FILE).read_text(encoding="utf-8")
        self._words = WordPiece(lines.removesuffix("\n").split("\n"))
        options = runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        try:
            self._session = runtime.InferenceSession(
                str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
            )
        except self._failures as error:
            raise EmbeddingFailed(ADVICE["embedding_model_damaged"]) from error

    def token_ids(self, text: str) -> list[int]:
        """The token ids of a text; never empty, because start and end are tokens too."""
        return self._words.token_ids(text)

    def compute_vectors(self, batch: Sequence[Sequence[int]]) -> Vectors:
        """One row for each list of ids, padded to the longest."""
        ids = np.zeros((len(batch), max(map(len, batch))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        try:
            (rows,) = self._session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})
        except self._failures as error:
            raise EmbeddingFailed("the embedding model failed on a text") from error
        found: Vectors = rows
        return found


def _batches_by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Groups of text indexes. Texts of similar length are batched, so that little is padded."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[index] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _runtime_exceptions(runtime: Any) -> tuple[type[Exception], ...]:
    """The runtime's exception classes, which have no common base class."""
    found = vars(runtime.capi.onnxruntime_pybind11_state).values()
    return tuple(kind for kind in found if isinstance(kind, type) and issubclass(kind, Exception))
