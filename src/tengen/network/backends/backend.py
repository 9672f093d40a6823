"""What a back end is: a probe of this machine, and functions that open networks. Imports little."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tengen.user_messages import say

if TYPE_CHECKING:
    from tengen.network.evaluator import Evaluator
    from tengen.network.inference_buffers import BufferShape, InferenceBuffers
    from tengen.network.network_data import NetworkData

    BuffersOpener = Callable[[NetworkData, Sequence[BufferShape]], list[InferenceBuffers]]


class Probe(NamedTuple):
    """What a back end finds on this machine."""

    ready: bool
    what: str  # the hardware and versions that were found, or what is missing
    remedy: str = ""  # the command that would get what is missing


class ProcessorOptions(NamedTuple):
    """How OpenVINO uses the processor; other back ends say so where they have no such precision."""

    streams: int = 1  # batches that are computed at the same time, each by a share of the threads
    threads: int | None = None  # None: one for each core
    # None: what was measured to be best, else bf16 where the processor has it, else float32.
    precision: str | None = None

    def warn_unless(self, precision: str, device: str) -> None:
        """Say that a device has one precision alone, if another one is wanted."""
        if self.precision not in (None, precision):
            say(f"{device} computes in {precision}, not in {self.precision}")


@dataclass(frozen=True)
class Backend:
    """A way to run networks."""

    name: str  # of the library that computes
    device: str  # as `--device` names it; of several for one device, the first ready one is used
    probe: Callable[[], Probe | None]  # None: this kind of machine never has such a device
    open_evaluator: Callable[[NetworkData, ProcessorOptions], Evaluator]
    # GPU drivers fail in many ways, and none may stop a game: the CPU takes over after a warning.
    falls_back: bool = False
    runs_own_trunks: bool = False  # torch modules of one's own, see `own_trunks`
    # Self-play: how many games at a time suit the device, and buffers faster than an evaluator's.
    selfplay_games: int = 64
    open_own_buffers: BuffersOpener | None = None

    def open_buffers(
        self, data: NetworkData, shapes: Sequence[BufferShape]
    ) -> list[InferenceBuffers]:
        """Inference buffers of these shapes, for one network."""
        if self.open_own_buffers is not None:
            return self.open_own_buffers(data, shapes)
        from tengen.network.inference_buffers import EvaluatorBuffers

        evaluator = self.open_evaluator(data, ProcessorOptions())
        return [EvaluatorBuffers(evaluator, shape) for shape in shapes]


def is_installed(package: str) -> bool:
    """Can a package be imported? Does not import it."""
    return importlib.util.find_spec(package) is not None


def first_line(error: Exception) -> str:
    """The first line of an error's message, or its type if there is none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
