"""A fleet's network on a GPU: bits in, answers out, and one graph launch between them."""

from __future__ import annotations

import copy

import numba
import torch
from torch import Tensor

from tengen.features.feature_set import FEATURE_SETS
from tengen.features.kernels.katago import SUPERKO, TERRITORY
from tengen.game.geometry import Size
from tengen.network.backends.torch_gpu import in_half
from tengen.network.data import Scaling
from tengen.network.evaluator import Evaluation, check_boards
from tengen.network.torch.blocks import Norm
from tengen.network.torch.compiling import compiled
from tengen.network.torch.model import Network, Outputs
from tengen.network.torch.unpacking import unpacked

_WARM_UPS = 3  # runs before a graph is captured, in which libraries choose their kernels


def decode_on_device(
    outputs: Outputs, globals_: Tensor, scaling: Scaling
) -> tuple[Tensor, Tensor, Tensor]:
    """What `decode` makes of a network's outputs, without the ownership.

    Policy [batch, moves], value [batch, 3] and, as rows of [6, batch], score, spread, lead,
    variance time, value error and score error.
    """
    logits = outputs.value.float()
    never = torch.zeros_like(logits)
    if globals_.shape[1] > SUPERKO:  # other feature sets do not show the rules there
        decided = (globals_[:, SUPERKO] > 0) & (globals_[:, TERRITORY] == 0)
        never[:, 2] = torch.where(decided, -torch.inf, 0.0)
    value = torch.softmax(logits + never, 1)
    counted = 1 - value[:, 2]
    score = outputs.score.float()
    n_outputs = score.shape[1]
    nothing = torch.zeros_like(counted)
    softplus = torch.nn.functional.softplus
    mean = score[:, 0] * scaling.score_mean
    spread = softplus(score[:, 1]) * scaling.score_stdev if n_outputs > 1 else nothing
    square = (mean.square() + spread.square()) * counted
    rest = torch.stack(
        [
            mean * counted,
            (square - (mean * counted).square()).clamp_min(0).sqrt(),
            (score[:, 2] * scaling.lead if n_outputs > 2 else mean) * counted,
            softplus(score[:, 3]) * scaling.variance_time if n_outputs > 3 else nothing,
            _error(score[:, 4], scaling.value_error, scaling) if n_outputs > 4 else nothing,
            _error(score[:, 5], scaling.score_error, scaling) if n_outputs > 5 else nothing,
        ]
    )
    return outputs.policy[:, 0].float(), value, rest


def _error(x: Tensor, factor: float, scaling: Scaling) -> Tensor:
    softplus = torch.nn.functional.softplus
    root: Tensor = softplus(x / 2) if scaling.halved_errors else softplus(x).sqrt()
    return root.mul(factor**0.5)


class PlayingNetwork:
    """A network in bf16 whose weights can be replaced while it plays."""

    def __init__(self, network: Network, scaling: Scaling) -> None:
        """A copy of a network that is on the GPU; it stays as it is."""
        self._staging = copy.deepcopy(network).eval().requires_grad_(False)
        self._half = copy.deepcopy(self._staging)
        in_half(self._half)
        self._half.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.features = FEATURE_SETS[network.architecture.features]
        self.board_size = network.architecture.board_size
        self._scaling = scaling
        self.evaluate = compiled(self._evaluate)

    def publish(self, network: Network) -> None:
        """Play with these weights from now on; the caller sees to it that nothing is under way."""
        with torch.no_grad():
            _copy_tensors(self._staging, network)
            for module in self._staging.modules():
                if isinstance(module, Norm):
                    module.fold()
            _copy_tensors(self._half, self._staging)

    def _evaluate(self, bits: Tensor, packed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        planes, globals_ = unpacked(self.features, bits, packed, torch.bfloat16)
        outputs = self._half(planes, globals_.to(torch.bfloat16))
        return decode_on_device(outputs, globals_, self._scaling)


def _copy_tensors(target: Network, source: Network) -> None:
    pairs = zip(
        (*target.parameters(), *target.buffers()),
        (*source.parameters(), *source.buffers()),
        strict=True,
    )
    for mine, theirs in pairs:
        mine.copy_(theirs)


class CudaBuffers:
    """Half of a fleet's rows: pinned buffers, a stream and a captured graph."""

    def __init__(self, network: PlayingNetwork, rows: int, size: Size) -> None:
        check_boards("this network", network.board_size, (size.height, size.width))
        self._network = network  # a graph does not keep the weights that it reads
        self.features = network.features
        self.threads = numba.get_num_threads()
        bits = torch.ones((rows, size.height, size.width), dtype=torch.int32).pin_memory()
        globals_ = torch.zeros((rows, self.features.packed_globals)).pin_memory()
        self._host = (bits, globals_)
        self._inputs = tuple(tensor.cuda() for tensor in self._host)
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self._graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.stream(self._stream):
            for _ in range(_WARM_UPS):
                outputs = network.evaluate(*self._inputs)
            self._results = tuple(torch.zeros(o.shape).pin_memory() for o in outputs)
            torch.cuda.synchronize()
            with torch.cuda.graph(self._graph, stream=self._stream):
                self._send_evaluate_fetch()
        policy, value, rest = (result.numpy() for result in self._results)
        score, spread, lead, variance_time, value_error, score_error = rest
        self.planes = bits.numpy().view("uint32")
        self.globals = globals_.numpy()
        nobody = torch.zeros((0, size.height, size.width)).numpy()
        self.evaluation = Evaluation(
            policy,
            value,
            score,
            spread,
            lead,
            variance_time,
            value_error,
            score_error,
            nobody,
        )

    def _send_evaluate_fetch(self) -> None:
        for on_device, host in zip(self._inputs, self._host, strict=True):
            on_device.copy_(host, non_blocking=True)
        for result, output in zip(
            self._results, self._network.evaluate(*self._inputs), strict=True
        ):
            result.copy_(output, non_blocking=True)

    def launch(self) -> None:
        """Send the rows, evaluate them and fetch the answers, all without waiting."""
        with torch.cuda.stream(self._stream):
            self._graph.replay()

    def wait(self) -> None:
        """Wait for the answers."""
        self._stream.synchronize()
