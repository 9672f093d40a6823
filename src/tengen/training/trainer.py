"""The trainer: draws batches, steps a network and keeps the average of its weights that plays.

On CUDA network and losses are compiled, and a whole step is one captured graph, so that it costs
the host one launch.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tengen.network.data import NetworkData
from tengen.network.torch.blocks import Norm
from tengen.network.torch.compiling import compiled
from tengen.training.heads import TrainingNetwork
from tengen.training.losses import LOSSES, SCALING, Losses, loss_weights, losses_of
from tengen.training.params import TrainingParams, average_weight
from tengen.training.rows_on_device import RowsOnDevice, TrainingBatch
from tengen.user_messages import say

METRICS = (*LOSSES, "total", "accuracy", "gradient", "spoiled", "steps")  # sums over steps
SNAPSHOT_STEPS = 200  # between two states to go back to: seconds on a GPU
MOST_ROLL_BACKS = 8  # in a row, before training gives up
WARM_UP_STEPS = 3  # before a capture, while torch chooses its kernels


class DivergedError(RuntimeError):
    """Training cannot go on: losses or gradients are not finite whatever the rate."""


class Trainer:
    """A network that learns from rows, on the device where these lie.

    `ema` is the network that plays; on CUDA it changes on the stream of the rows.
    """

    def __init__(
        self, network: TrainingNetwork, rows: RowsOnDevice, params: TrainingParams, seed: int
    ) -> None:
        self.rows, self.params, self.device = rows, params, rows.device
        self.steps = 0
        self.rate_factor = 1.0  # halved by each roll-back
        self.stream = rows.stream
        self._cuda = self.device.type == "cuda"
        with self._on_stream():
            self._network = network.to(self.device).train()
            self._network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
            if self._cuda:
                torch.backends.cudnn.benchmark = True  # batches are all of one shape
            for module in network.modules():
                if isinstance(module, Norm):
                    module.prepare_to_learn(rows.one_size)
            self.ema = copy.deepcopy(network.network).eval().requires_grad_(False)
            self._rate = torch.zeros((), device=self.device)
            self._newest = torch.ones((), device=self.device)  # its weight in the average
            self._parameters = list(network.parameters())
            self._optimizer = self._new_optimizer()
            self._weights = loss_weights(params).to(self.device)
            self._key = torch.full((), seed << 32, dtype=torch.int64, device=self.device)
            self._sums = torch.zeros(len(METRICS), device=self.device)
            self._live = self._named_tensors()
            self._averaged = [self._live[f"network.network.{name}"] for name in self._names()]
            self._averages = [self._live[f"ema.{name}"] for name in self._names()]
            self._good = {name: tensor.clone() for name, tensor in self._live.items()}
        self._losses_of = compiled(self._losses) if self._cuda else self._losses
        self._good_step = 0
        self._roll_backs = 0  # since the last good state
        self._graph: torch.cuda.CUDAGraph | None = None
        if self._cuda:
            self._done = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._capture()

    def step(self, rate: float) -> None:
        """One step at this learning rate, times the factor; on CUDA it is only started.

        Raises ValueError if there are no rows.
        """
        if not self.rows.window:
            raise ValueError("nothing to learn from: add rows and set their window first")
        rate *= self.rate_factor
        with self.rows.changing, self._on_stream():
            self._newest.fill_(average_weight(self.params, self.steps))
            if self._graph is None:
                for group in self._optimizer.param_groups:
                    group["lr"] = rate
                self._step()
            else:
                self._rate.fill_(rate)
                self._graph.replay()
                self._done.record(self.stream)
        self.steps += 1

    def ready(self) -> bool:
        """Is the last step over?"""
        return not self._cuda or bool(self._done.query())  # type: ignore[no-untyped-call]

    def metrics(self) -> dict[str, float]:
        """Means over the steps since the last call, and how many these were; waits for the device.

        Rolls back if they were not finite; then there are no means, and `spoiled` is not 0.
        """
        with self._on_stream():
            sums = dict(zip(METRICS, self._sums.tolist(), strict=True))
        steps, spoiled = sums.pop("steps"), sums.pop("spoiled")
        if not self.check():
            return {"steps": steps, "spoiled": spoiled}
        with self._on_stream():
            self._sums.zero_()
        means = {name: value / steps for name, value in sums.items()} if steps else {}
        return {**means, "steps": steps, "spoiled": 0.0}

    def check(self) -> bool:
        """Roll back unless all was finite since the last good state; is it as it was?

        Waits for the device. Now and then what is good is kept to go back to.
        """
        with self._on_stream():
            spoiled = self._sums[METRICS.index("spoiled")].item()
        if spoiled:
            self.roll_back()
            return False
        if self.steps - self._good_step >= SNAPSHOT_STEPS:
            self._keep()
        return True

    def roll_back(self) -> None:
        """Return to the last good state and go on at half the rate; raises DivergedError."""
        self._roll_backs += 1
        if self._roll_backs > MOST_ROLL_BACKS:
            raise DivergedError(
                f"losses or gradients were not finite after each of {MOST_ROLL_BACKS} returns to "
                f"step {self._good_step:,}; start again from an earlier checkpoint, or with other "
                "games or a smaller rate"
            )
        self.rate_factor /= 2
        self._restore(self._good)
        say(
            f"a loss or gradient was not finite before step {self.steps:,}; went back to the "
            f"weights of step {self._good_step:,}, and on at {self.rate_factor:g} of the rate"
        )

    def ema_data(self, name: str, provenance: Mapping[str, str]) -> NetworkData:
        """The network that plays, checked, as data for files and evaluators."""
        self.check()
        with self._on_stream():
            weights = {key: _on_host(tensor) for key, tensor in self.ema.state_dict().items()}
        architecture = self.ema.architecture
        return NetworkData(name, architecture, weights, SCALING, dict(provenance))

    def state(self) -> dict[str, Tensor]:
        """All that a later trainer needs to go on exactly as this one would; waits."""
        self.check()
        with self._on_stream():
            state = {name: tensor.detach().cpu().clone() for name, tensor in self._live.items()}
            state["key"] = self._key.cpu().clone()
        state["steps"] = torch.tensor(self.steps)
        state["rate_factor"] = torch.tensor(self.rate_factor, dtype=torch.float64)
        return {name: tensor.contiguous() for name, tensor in state.items()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go on from a state; raises ValueError if it is another network's or optimizer's."""
        wanted = {name: tensor.shape for name, tensor in self._live.items()}
        single = ("key", "steps", "rate_factor")
        wanted |= dict.fromkeys(single, torch.Size())
        for name in sorted(wanted.keys() | state.keys()):
            if name not in state or name not in wanted or state[name].shape != wanted[name]:
                raise ValueError(f"the saved training is of another network or optimizer: {name}")
        self._restore(state)
        with self._on_stream():
            self._key.copy_(state["key"])
        self.steps = int(state["steps"])
        self.rate_factor = float(state["rate_factor"])
        self._keep()

    def _step(self) -> None:
        """Everything of one step, without a word from the device to the host."""
        batch = self.rows.draw(self.params.batch, self._key)
        self._key.add_(1)
        self._optimizer.zero_grad(set_to_none=True)
        losses = self._losses_of(batch)
        losses.total.backward()  # type: ignore[no-untyped-call]
        gradient = nn.utils.clip_grad_norm_(self._parameters, self.params.clip, foreach=True)
        self._optimizer.step()
        with torch.no_grad():
            steps_on = torch._foreach_sub(self._averaged, self._averages)
            torch._foreach_mul_(steps_on, self._newest)
            torch._foreach_add_(self._averages, steps_on)
            total = losses.total.detach()
            spoiled = ~(total.isfinite() & gradient.isfinite())
            rest = (total, losses.accuracy, gradient, spoiled.float(), torch.ones_like(total))
            self._sums.add_(torch.cat([losses.heads, torch.stack(rest)]))

    def _losses(self, batch: TrainingBatch) -> Losses:
        """What a batch says of the network."""
        # Weights cast once would stay as they were when the graph was captured: no cache.
        with torch.autocast(
            self.device.type, torch.bfloat16, enabled=self._cuda, cache_enabled=False
        ):
            outputs, training = self._network(batch.planes, batch.globals)
        return losses_of(outputs, training, batch, self._weights, self.params.search_share)

    def _capture(self) -> None:
        """Record a step as a graph. What is learned on the way is undone."""
        assert self.stream is not None
        with self._on_stream():
            key = self._key.clone()
            for _ in range(WARM_UP_STEPS):
                self._step()
        torch.cuda.synchronize(self.device)
        graph = torch.cuda.CUDAGraph()
        # Other threads may use the device meanwhile.
        with torch.cuda.graph(graph, stream=self.stream, capture_error_mode="thread_local"):
            self._step()
        self._graph = graph
        self._restore(self._good)
        with self._on_stream():
            self._key.copy_(key)
            self._done.record(self.stream)

    def _new_optimizer(self) -> torch.optim.Optimizer:
        """The optimizer, with its state made, so that it can be saved and captured."""
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
        """All tensors that steps change, but for the key: they stay where they are."""
        tensors = {f"network.{n}": t for n, t in self._network.state_dict().items()}
        tensors |= {f"ema.{n}": t for n, t in self.ema.state_dict().items()}
        for name, weight in self._network.named_parameters():
            for key, tensor in self._optimizer.state[weight].items():
                tensors[f"optimizer.{name}.{key}"] = tensor
        return tensors

    def _names(self) -> list[str]:
        return list(self.ema.state_dict())

    def _keep(self) -> None:
        with self._on_stream(), torch.no_grad():
            torch._foreach_copy_(list(self._good.values()), list(self._live.values()))
        self._good_step, self._roll_backs = self.steps, 0

    def _restore(self, tensors: Mapping[str, Tensor]) -> None:
        with self._on_stream(), torch.no_grad():
            for name, tensor in self._live.items():
                tensor.copy_(tensors[name])
            self._sums.zero_()

    def _on_stream(self) -> AbstractContextManager[Any]:
        return nullcontext() if self.stream is None else torch.cuda.stream(self.stream)


def _on_host(tensor: Tensor) -> np.ndarray[Any, np.dtype[np.float32]]:
    # A copy: steps change the tensor, not what was given out.
    return np.array(tensor.float().cpu().numpy(), order="C").reshape(tensor.shape)
