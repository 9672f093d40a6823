"""The trainer: draws batches, steps the optimizer, averages the weights for self-play.

A batch has boards of one size, and sizes alternate; with several, norms are renormalised, see
`tengen.network.torch.blocks.Norm`. On CUDA the network and its losses are compiled, and a whole
step is captured as one graph for each size, so that it costs the host one launch.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tengen.game.geometry import Size
from tengen.network.network_data import NetworkData
from tengen.network.torch.blocks import Norm, follow_batches, renormalise
from tengen.network.torch.compiling import compiled
from tengen.network.torch.model import Outputs
from tengen.training.heads_and_losses import (
    EXAMINED,
    LOSSES,
    SCALING,
    Losses,
    TrainingNetwork,
    examined,
    loss_weights,
    losses_of,
)
from tengen.training.params import TrainingParams, average_weight
from tengen.training.replay_buffer import ReplayBuffer, TrainingBatch
from tengen.user_messages import say

BY_SIZE = ("policy", "value")  # losses that are reported for each board size
METRICS = (*LOSSES, "total", "accuracy", "gradient", "spoiled", "steps")  # sums over steps
SNAPSHOT_STEPS = 200  # between two snapshots to roll back to: seconds on a GPU
MOST_ROLL_BACKS = 8  # in a row, before training gives up
WARM_UP_STEPS = 3  # before a graph is captured, while torch chooses its kernels
_MEASURED = 256  # rows of each board size that the statistics of norms are found from
_EXAMINED_AT_A_TIME = 256  # rows that are held out
RENORM_STEPS = 500, 2000  # steps over which batch renormalization replaces batch norm


class DivergedError(RuntimeError):
    """Losses or gradients are not finite even after the learning rate was lowered several times."""


class Trainer:
    """Trains a network from a replay buffer, on the buffer's device.

    `ema` has the averaged weights, with which self-play plays; on CUDA it changes on the buffer's
    stream.
    """

    def __init__(
        self,
        network: TrainingNetwork,
        replay: ReplayBuffer,
        params: TrainingParams,
        seed: int,
        *,
        measure_norms: bool = False,
    ) -> None:
        """With `measure_norms` the first step finds the statistics of norms that have none."""
        self.replay, self.params, self.device = replay, params, replay.device
        self._sizes = list(replay.rings)
        self.steps = 0
        self._measure_norms = measure_norms
        self.rate_factor = 1.0  # halved by each roll-back
        self.stream = replay.stream  # None, which changes nothing, unless on CUDA
        self._cuda = self.device.type == "cuda"
        with torch.cuda.stream(self.stream):
            self._network = network.to(self.device).train()
            self._network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
            if self._cuda:
                torch.backends.cudnn.benchmark = True  # batches have few shapes
            self._norms = [module for module in network.modules() if isinstance(module, Norm)]
            for norm in self._norms:
                norm.prepare_to_learn()
            self.ema = copy.deepcopy(network.network).eval().requires_grad_(False)
            self._renorm = torch.zeros((), device=self.device)
            if len(self._sizes) > 1:
                renormalise(self._norms, self._renorm)
            self._rate = torch.zeros((), device=self.device)
            self._newest = torch.ones((), device=self.device)  # their weight in the average
            self._parameters = list(network.parameters())
            self._optimizer = self._new_optimizer()
            self._weights = loss_weights(params).to(self.device)
            self._key = torch.full((), seed << 32, dtype=torch.int64, device=self.device)
            self._sums = torch.zeros(len(self._sizes), len(METRICS), device=self.device)
            self._live = self._named_tensors()
            averages = self.ema.state_dict()
            names = [name for name, each in averages.items() if each.is_floating_point()]
            self._averaged = [self._live[f"network.network.{name}"] for name in names]
            self._averages = [self._live[f"ema.{name}"] for name in names]
            # Whole numbers have no average; only trunks of one's own have such, counters of norms.
            counters = [name for name in averages if name not in names]
            self._counted = [self._live[f"network.network.{name}"] for name in counters]
            self._counts = [self._live[f"ema.{name}"] for name in counters]
            self._good = {name: tensor.clone() for name, tensor in self._live.items()}
        self._losses_of = compiled(self._losses) if self._cuda else self._losses
        self._good_step = 0
        self._roll_backs = 0  # since the last good state
        self._graphs: dict[Size, torch.cuda.CUDAGraph] = {}
        if self._cuda:
            self._done = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._capture()

    def step(self, rate: float) -> None:
        """Do one step at this learning rate times `rate_factor`; on CUDA only start it.

        Raises ValueError if the replay buffer is empty.
        """
        rate *= self.rate_factor
        with self.replay.changing, torch.cuda.stream(self.stream):
            size = self.replay.size_at(self.steps)
            if self._measure_norms and self.steps == 0:
                self._find_statistics()
            self._newest.fill_(average_weight(self.params, self.steps))
            self._renorm.fill_(renorm_share(self.steps))
            if self._cuda:
                self._rate.fill_(rate)
                self._graphs[size].replay()
                self._done.record(self.stream)
            else:
                for group in self._optimizer.param_groups:
                    group["lr"] = rate
                self._step(size)
        self.steps += 1

    def examine(self, held_out: ReplayBuffer) -> dict[str, float]:
        """How well the averaged network predicts held-out rows; waits for the device.

        Mean losses of policy and value, and how often it prefers the same move as the target.
        """
        sums, count = torch.zeros(3, device=self.device), 0
        with torch.no_grad(), torch.cuda.stream(self.stream), self._autocast():
            for ring in held_out.rings.values():
                for at in range(0, ring.window, _EXAMINED_AT_A_TIME):
                    rows = torch.arange(at, min(at + _EXAMINED_AT_A_TIME, ring.window))
                    rows = rows.to(self.device)
                    batch = ring.gathered(rows, torch.zeros_like(rows))
                    outputs = self.ema.on_full_boards(batch.planes, batch.globals)
                    sums += examined(Outputs(*(each.float() for each in outputs)), batch)
                    count += len(rows)
        means: list[float] = (sums / max(1, count)).tolist()
        return dict(zip(EXAMINED, means, strict=True)) if count else {}

    def ready(self) -> bool:
        """Whether the last step has finished."""
        return not self._cuda or bool(self._done.query())  # type: ignore[no-untyped-call]

    def metrics(self) -> dict[str, float]:
        """Mean losses over the steps since the last call, and their number; waits for the device.

        With several board sizes also each size's losses of policy and value, as "9x9/policy".
        Rolls back if a loss was not finite; then there are no means, and `spoiled` is not 0.
        """
        by_size = self._metrics_by_size()
        sums = {name: sum(found[name] for found in by_size.values()) for name in METRICS}
        steps, spoiled = sums.pop("steps"), sums.pop("spoiled")
        if not self.check():
            return {"steps": steps, "spoiled": spoiled}
        with torch.cuda.stream(self.stream):
            self._sums.zero_()
        means = {name: value / steps for name, value in sums.items()} if steps else {}
        if len(by_size) > 1:
            means |= {
                f"{size}/{name}": found[name] / found["steps"]
                for size, found in by_size.items()
                for name in BY_SIZE
                if found["steps"]
            }
        return {**means, "steps": steps, "spoiled": 0.0}

    def _metrics_by_size(self) -> dict[Size, dict[str, float]]:
        """The sums of METRICS so far; waits for the device."""
        with torch.cuda.stream(self.stream):
            sums = self._sums.tolist()
        return {
            size: dict(zip(METRICS, row, strict=True))
            for size, row in zip(self._sizes, sums, strict=True)
        }

    def check(self) -> bool:
        """Roll back if a loss was not finite since the last snapshot; returns whether all is well.

        Waits for the device. Takes a new snapshot every SNAPSHOT_STEPS steps.
        """
        if any(found["spoiled"] for found in self._metrics_by_size().values()):
            self.roll_back()
            return False
        if self.steps - self._good_step >= SNAPSHOT_STEPS:
            self._keep()
        return True

    def roll_back(self) -> None:
        """Return to the last snapshot and halve the rate; raises DivergedError after too many."""
        self._roll_backs += 1
        if self._roll_backs > MOST_ROLL_BACKS:
            raise DivergedError(
                f"losses or gradients were not finite after each of {MOST_ROLL_BACKS} returns to "
                f"step {self._good_step:,}; resume from an earlier checkpoint, or use a lower rate"
            )
        self.rate_factor /= 2
        self._restore(self._good)
        say(
            f"a loss or gradient was not finite before step {self.steps:,}; went back to the "
            f"weights of step {self._good_step:,}, now at {self.rate_factor:g} of the rate"
        )

    def ema_data(self, name: str, provenance: Mapping[str, str]) -> NetworkData:
        """The averaged network, checked, as data for files and evaluators."""
        self.check()
        with torch.cuda.stream(self.stream):
            weights = {  # copies, since steps change the tensors
                key: np.array(tensor.float().cpu().numpy(), order="C").reshape(tensor.shape)
                for key, tensor in self.ema.state_dict().items()
            }
        architecture = self.ema.architecture
        return NetworkData(name, architecture, weights, SCALING, dict(provenance))

    def state(self) -> dict[str, Tensor]:
        """Everything that another trainer needs to continue exactly; waits for the device."""
        self.check()
        with torch.cuda.stream(self.stream):
            state = {name: tensor.detach().cpu().clone() for name, tensor in self._live.items()}
            state["key"] = self._key.cpu().clone()
        state["steps"] = torch.tensor(self.steps)
        state["rate_factor"] = torch.tensor(self.rate_factor, dtype=torch.float64)
        return {name: tensor.contiguous() for name, tensor in state.items()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Continue from a state; raises ValueError if it is another network's or optimizer's."""
        wanted = {name: tensor.shape for name, tensor in self._live.items()}
        wanted |= dict.fromkeys(("key", "steps", "rate_factor"), torch.Size())
        for name in sorted(wanted.keys() | state.keys()):
            if name not in state or name not in wanted or state[name].shape != wanted[name]:
                raise ValueError(f"the saved training is of another network or optimizer: {name}")
        self._restore(state)
        with torch.cuda.stream(self.stream):
            self._key.copy_(state["key"])
        self.steps = int(state["steps"])
        self.rate_factor = float(state["rate_factor"])
        self._keep()

    def _step(self, size: Size) -> None:
        """One whole step on boards of this size, without waiting for the device."""
        batch = self.replay.rings[size].draw(self.params.batch, self._key)
        self._key.add_(1)
        self._optimizer.zero_grad(set_to_none=True)
        losses = self._losses_of(batch)
        losses.total.backward()  # type: ignore[no-untyped-call]
        follow_batches(self._norms)
        gradient = nn.utils.clip_grad_norm_(self._parameters, self.params.clip, foreach=True)
        self._optimizer.step()
        with torch.no_grad():
            steps_on = torch._foreach_sub(self._averaged, self._averages)
            torch._foreach_mul_(steps_on, self._newest)
            torch._foreach_add_(self._averages, steps_on)
            for count, counted in zip(self._counts, self._counted, strict=True):
                count.copy_(counted)
            total = losses.total.detach()
            spoiled = ~(total.isfinite() & gradient.isfinite())
            rest = (total, losses.accuracy, gradient, spoiled.float(), torch.ones_like(total))
            self._sums[self._sizes.index(size)].add_(torch.cat([losses.heads, torch.stack(rest)]))

    def _autocast(self) -> torch.autocast:
        """bf16 on CUDA; without a cache of cast weights, which captured graphs never refresh."""
        return torch.autocast(
            self.device.type, torch.bfloat16, enabled=self._cuda, cache_enabled=False
        )

    def _find_statistics(self) -> None:
        """Measure the inputs of all norms, which so far have none; evaluations stay the same."""
        seen = [_Moments(norm) for norm in self._norms]
        self._network.eval()
        with torch.no_grad(), self._autocast():
            for size, ring in self.replay.rings.items():
                if ring.window:
                    batch = self.replay.rings[size].draw(_MEASURED, self._key)
                    self._network(batch.planes, batch.globals)
        self._network.train()
        for each in seen:
            each.end()
        for averaged, average in zip(self._averaged, self._averages, strict=True):
            average.copy_(averaged)
        self._keep()

    def _losses(self, batch: TrainingBatch) -> Losses:
        """The losses of a batch."""
        with self._autocast():
            outputs, training = self._network(batch.planes, batch.globals)
        return losses_of(outputs, training, batch, self._weights, self.params.search_share)

    def _capture(self) -> None:
        """Compile and capture a step for each board size, then undo what they learned."""
        if len(self._sizes) > 1:
            say(f"compiling training for {len(self._sizes)} board sizes, up to a minute each")
        with torch.cuda.stream(self.stream):
            key = self._key.clone()
        for size in self._sizes:
            self._graphs[size] = self._captured(size)
        self._restore(self._good)
        with torch.cuda.stream(self.stream):
            self._key.copy_(key)
            self._done.record(self.stream)

    def _captured(self, size: Size) -> torch.cuda.CUDAGraph:
        """A step on boards of this size as a CUDA graph."""
        assert self.stream is not None
        with torch.cuda.stream(self.stream):
            for _ in range(WARM_UP_STEPS):
                self._step(size)
        torch.cuda.synchronize(self.device)
        graph = torch.cuda.CUDAGraph()
        # Thread-local: other threads may use the device meanwhile.
        with torch.cuda.graph(graph, stream=self.stream, capture_error_mode="thread_local"):
            self._step(size)
        return graph

    def _new_optimizer(self) -> torch.optim.Optimizer:
        """The optimizer with its state allocated, so that it can be saved and captured."""
        p = self.params
        groups = [
            {"params": [w for w in self._parameters if w.ndim > 1], "weight_decay": p.decay},
            {"params": [w for w in self._parameters if w.ndim <= 1], "weight_decay": 0.0},
        ]
        rate: Any = self._rate if self._cuda else 0.0
        optimizer: torch.optim.Optimizer
        if p.optimizer == "adamw":
            betas = (p.beta1, p.beta2)
            optimizer = torch.optim.AdamW(groups, rate, betas, fused=True, capturable=self._cuda)
        else:
            optimizer = torch.optim.SGD(groups, rate, p.momentum, fused=True)
        for weight in self._parameters:
            weight.grad = torch.zeros_like(weight)
        optimizer.step()  # at a rate of 0
        for state in optimizer.state.values():
            for tensor in state.values():
                tensor.zero_()
        return optimizer

    def _named_tensors(self) -> dict[str, Tensor]:
        """All tensors that steps change in place, except the key."""
        tensors = {f"network.{n}": t for n, t in self._network.state_dict().items()}
        tensors |= {f"ema.{n}": t for n, t in self.ema.state_dict().items()}
        for name, weight in self._network.named_parameters():
            for key, tensor in self._optimizer.state[weight].items():
                tensors[f"optimizer.{name}.{key}"] = tensor
        return tensors

    def _keep(self) -> None:
        with torch.cuda.stream(self.stream), torch.no_grad():
            torch._foreach_copy_(list(self._good.values()), list(self._live.values()))
        self._good_step, self._roll_backs = self.steps, 0

    def _restore(self, tensors: Mapping[str, Tensor]) -> None:
        with torch.cuda.stream(self.stream), torch.no_grad():
            for name, tensor in self._live.items():
                tensor.copy_(tensors[name])
            self._sums.zero_()


class _Moments:
    """The mean and the variance of what a norm is given, while they are measured."""

    def __init__(self, norm: Norm) -> None:
        self._norm, self._count = norm, 0
        self._sums = torch.zeros(2, len(norm.scale), dtype=torch.float64, device=norm.scale.device)
        self._hook = norm.register_forward_pre_hook(self._see)

    def _see(self, _: nn.Module, arguments: tuple[Any, ...]) -> None:
        x: Tensor = arguments[0].double()  # [batch, channels, height, width]
        self._sums += torch.stack([x.sum((0, 2, 3)), x.square().sum((0, 2, 3))])
        self._count += x.numel() // x.shape[1]

    def end(self) -> None:
        """Set the norm's statistics to those measured."""
        self._hook.remove()
        mean, square = self._sums / max(1, self._count)
        variance = (square - mean.square()).clamp_min(0)
        self._norm.take_statistics(mean.float(), variance.float())


def renorm_share(steps: int) -> float:
    """How far norms are from batch norm to batch renormalization, after this many steps.

    At first running statistics are far behind the weights, which change quickly.
    """
    first, last = RENORM_STEPS
    return min(1.0, max(0.0, (steps - first) / (last - first)))
