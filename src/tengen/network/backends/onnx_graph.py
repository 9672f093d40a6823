"""Networks as ONNX files, for ONNX Runtime and other programs. Needs the package onnx alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from tengen.atomic_files import replace_file
from tengen.network.backends.network_graph import (
    ANY,
    Floats,
    input_shapes,
    network_graph,
)
from tengen.network.decoding import RawOutputs
from tengen.network.evaluator import INPUTS
from tengen.network.network_data import NetworkData

OPSET = 17
IR_VERSION = 8  # which readers know that know the opset
BATCH, HEIGHT, WIDTH = "batch", "height", "width"  # sides of inputs that are not fixed
Node: TypeAlias = Any  # the name of a value, or an array


def export_onnx(data: NetworkData, path: Path) -> None:
    """Write a network for boards of all sizes in one batch; raises OSError, and ValueError.

    The board size is fixed if the network plays on one alone.
    """
    replace_file(path, onnx_model(data, masked=True))


def onnx_model(data: NetworkData, *, masked: bool) -> bytes:
    """The file of a network; without `masked`, only for boards that fill their tensor.

    Inputs, outputs, convolutions and linear layers have the names that `network_graph` says.
    """
    architecture = data.architecture
    side = architecture.board_size or None
    sides = [(BATCH, None, side or HEIGHT, side or WIDTH), *[(BATCH, None)] * 2]
    inputs = [
        helper.make_tensor_value_info(
            name,
            TensorProto.FLOAT,
            [
                length if length != ANY else free
                for length, free in zip(shape, by_name, strict=True)
            ],
        )
        for name, shape, by_name in zip(INPUTS, input_shapes(architecture), sides, strict=False)
        if shape[1]  # a network without globals has no such input
    ]
    ops = _Ops()
    outputs = network_graph(ops, data, INPUTS[: len(input_shapes(architecture))], masked=masked)
    shapes = (
        (BATCH, architecture.policy_outputs, None),
        (BATCH, 3),
        (BATCH, architecture.score_outputs),
        (BATCH, side or HEIGHT, side or WIDTH),
    )
    results = []
    for name, value, shape in zip(RawOutputs._fields, outputs, shapes, strict=True):
        ops.emit("Identity", value, output=name)
        results.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)))
    graph = helper.make_graph(ops.nodes, data.name, inputs, results, ops.constants)
    model = helper.make_model(
        graph,
        producer_name="tengen",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString()
    return content


class _Ops:
    """ONNX's operations, noted down; a value is its name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._names: Counter[str] = Counter()

    def emit(self, kind: str, *inputs: Node, output: str = "", **attributes: Any) -> str:
        """Note an operation; returns the name of its value."""
        output = output or self._new_name(kind.lower())
        named = [self._named(each) for each in inputs]
        self.nodes.append(helper.make_node(kind, named, [output], **attributes))
        return output

    def _new_name(self, stem: str) -> str:
        self._names[stem] += 1
        return f"{stem}.{self._names[stem]}"

    def _named(self, value: Node) -> str:
        if isinstance(value, str):
            return value
        name = self._new_name("constant")
        self.constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def add(self, a: Node, b: Node) -> str:
        return self.emit("Add", a, b)

    def subtract(self, a: Node, b: Node) -> str:
        return self.emit("Sub", a, b)

    def multiply(self, a: Node, b: Node) -> str:
        return self.emit("Mul", a, b)

    def divide(self, a: Node, b: Node) -> str:
        return self.emit("Div", a, b)

    def maximum(self, a: Node, b: Node) -> str:
        return self.emit("Max", a, b)

    def square(self, x: Node) -> str:
        return self.emit("Mul", x, x)

    def sqrt(self, x: Node) -> str:
        return self.emit("Sqrt", x)

    def cos(self, x: Node) -> str:
        return self.emit("Cos", x)

    def sin(self, x: Node) -> str:
        return self.emit("Sin", x)

    def relu(self, x: Node) -> str:
        return self.emit("Relu", x)

    def mish(self, x: Node) -> str:
        return self.multiply(x, self.emit("Tanh", self.emit("Softplus", x)))

    def silu(self, x: Node) -> str:
        return self.multiply(x, self.emit("Sigmoid", x))

    def softmax(self, x: Node) -> str:
        return self.emit("Softmax", x, axis=-1)

    def convolution(self, name: str, x: Node, weight: Floats) -> str:
        pads = [weight.shape[2] // 2] * 4
        return self.emit("Conv", x, weight, name=name, pads=pads)

    def linear(self, name: str, x: Node, weight: Floats) -> str:
        return self.emit("MatMul", x, weight.T, name=name)

    def matmul(self, a: Node, b: Node, *, transpose_b: bool = False) -> str:
        return self.emit("MatMul", a, self.transpose(b, (0, 1, 3, 2)) if transpose_b else b)

    def reduce_sum(self, x: Node, axes: Sequence[int], *, keep: bool = False) -> str:
        return self.emit("ReduceSum", x, _integers(axes), keepdims=int(keep))

    def reduce_mean(self, x: Node, axes: Sequence[int], *, keep: bool = False) -> str:
        return self.emit("ReduceMean", x, axes=list(axes), keepdims=int(keep))

    def reduce_max(self, x: Node, axes: Sequence[int], *, keep: bool = False) -> str:
        return self.emit("ReduceMax", x, axes=list(axes), keepdims=int(keep))

    def concat(self, values: Sequence[Node], axis: int) -> str:
        return self.emit("Concat", *values, axis=axis)

    def halves(self, x: Node, axis: int) -> tuple[str, str]:
        first, second = self._new_name("half"), self._new_name("half")
        self.nodes.append(helper.make_node("Split", [self._named(x)], [first, second], axis=axis))
        return first, second

    def first(self, x: Node, count: int) -> str:
        return self.emit("Slice", x, _integers([0]), _integers([count]), _integers([1]))

    def unsqueeze(self, x: Node, axes: Sequence[int]) -> str:
        return self.emit("Unsqueeze", x, _integers(axes))

    def squeeze(self, x: Node, axes: Sequence[int]) -> str:
        return self.emit("Squeeze", x, _integers(axes))

    def transpose(self, x: Node, order: Sequence[int]) -> str:
        return self.emit("Transpose", x, perm=list(order))

    def reshape(self, x: Node, shape: Sequence[int]) -> str:
        return self.emit("Reshape", x, _integers(shape))

    def reshape_like(self, x: Node, other: Node) -> str:
        return self.emit("Reshape", x, self.emit("Shape", other))

    def points(self, x: Node) -> str:
        sides = self.emit("Gather", self.emit("Shape", x), _integers([2, 3]))
        product = self.emit("ReduceProd", sides, axes=[0], keepdims=1)
        return self.emit("Cast", product, to=TensorProto.FLOAT)

    def steps(self, x: Node, axis: int) -> str:
        side = self.emit("Gather", self.emit("Shape", x), np.array(axis))
        steps = self.emit("Range", np.array(0), side, np.array(1))
        return self.emit("Cast", steps, to=TensorProto.FLOAT)


def _integers(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)
