"""Networks as OpenVINO graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import openvino
from openvino import opset13 as op

from tengen.network.backends.network_graph import Floats, input_shapes, network_graph
from tengen.network.decoding import RawOutputs
from tengen.network.evaluator import INPUTS
from tengen.network.network_data import NetworkData

Node: TypeAlias = Any  # openvino.Node or an array; the package has no types
OUTPUTS = RawOutputs._fields


def build_graph(data: NetworkData, masked: bool) -> openvino.Model:
    """Build the graph of a network; without `masked`, only for boards that fill their tensor.

    Inputs, outputs, convolutions and linear layers have the names that `network_graph` says.
    """
    inputs = [
        op.parameter(list(shape), np.float32, name=name)
        for name, shape in zip(INPUTS, input_shapes(data.architecture), strict=False)
    ]
    results = []
    outputs = network_graph(_Ops(), data, inputs, masked=masked)
    for name, output in zip(OUTPUTS, outputs, strict=True):
        result = op.result(output)
        result.output(0).set_names({name})
        results.append(result)
    for name, parameter in zip(INPUTS, inputs, strict=False):
        parameter.output(0).set_names({name})
    return openvino.Model(results, inputs, data.name)


class _Ops:
    """OpenVINO's operations."""

    add = staticmethod(op.add)
    subtract = staticmethod(op.subtract)
    multiply = staticmethod(op.multiply)
    divide = staticmethod(op.divide)
    maximum = staticmethod(op.maximum)
    sqrt = staticmethod(op.sqrt)
    cos = staticmethod(op.cos)
    sin = staticmethod(op.sin)
    relu = staticmethod(op.relu)
    silu = staticmethod(op.swish)

    def square(self, x: Node) -> Node:
        return op.power(x, op.constant(np.float32(2)))

    def mish(self, x: Node) -> Node:
        """Between two linear layers, over an axis more.

        OpenVINO 2026.4 joins Mish with such layers, and then cannot compile it.
        """
        if x.get_output_partial_shape(0).rank.get_length() != 2:
            return op.mish(x)
        return self.squeeze(op.mish(self.unsqueeze(x, (2,))), (2,))

    def softmax(self, x: Node) -> Node:
        return op.softmax(x, x.get_output_partial_shape(0).rank.get_length() - 1)

    def convolution(self, name: str, x: Node, weight: Floats) -> Node:
        pad = [weight.shape[2] // 2] * 2
        found = op.convolution(x, weight, [1, 1], pad, pad, [1, 1])
        found.friendly_name = name
        return found

    def linear(self, name: str, x: Node, weight: Floats) -> Node:
        found = op.matmul(x, weight, transpose_a=False, transpose_b=True)
        found.friendly_name = name
        return found

    def matmul(self, a: Node, b: Node, *, transpose_b: bool = False) -> Node:
        return op.matmul(a, b, transpose_a=False, transpose_b=transpose_b)

    def reduce_sum(self, x: Node, axes: Sequence[int], *, keep: bool = False) -> Node:
        return op.reduce_sum(x, np.array(axes), keep_dims=keep)

    def reduce_mean(self, x: Node, axes: Sequence[int], *, keep: bool = False) -> Node:
        return op.reduce_mean(x, np.array(axes), keep_dims=keep)

    def reduce_max(self, x: Node, axes: Sequence[int], *, keep: bool = False) -> Node:
        return op.reduce_max(x, np.array(axes), keep_dims=keep)

    def concat(self, values: Sequence[Node], axis: int) -> Node:
        return op.concat(list(values), axis)

    def halves(self, x: Node, axis: int) -> tuple[Node, Node]:
        first, second = op.split(x, np.array(axis), 2).outputs()
        return first, second

    def first(self, x: Node, count: int) -> Node:
        return op.gather(x, np.arange(count), 1)

    def unsqueeze(self, x: Node, axes: Sequence[int]) -> Node:
        return op.unsqueeze(x, np.array(axes))

    def squeeze(self, x: Node, axes: Sequence[int]) -> Node:
        return op.squeeze(x, np.array(axes))

    def transpose(self, x: Node, order: Sequence[int]) -> Node:
        return op.transpose(x, np.array(order))

    def reshape(self, x: Node, shape: Sequence[int]) -> Node:
        return op.reshape(x, np.array(shape), special_zero=True)

    def reshape_like(self, x: Node, other: Node) -> Node:
        return op.reshape(x, op.shape_of(other), special_zero=False)

    def points(self, x: Node) -> Node:
        sides = op.gather(op.shape_of(x), np.array([2, 3]), 0)
        return op.convert(op.reduce_prod(sides, 0, keep_dims=True), np.float32)

    def steps(self, x: Node, axis: int) -> Node:
        side = op.gather(op.shape_of(x), np.array(axis), np.array(0))
        return op.range(np.int64(0), side, np.int64(1), "f32")
