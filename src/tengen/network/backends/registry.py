"""The registry of back ends: all device names, and the choice among them. Imports little.

To add a back end, write a file with `probe` and `open_evaluator`, and add it to `BACKENDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from tengen.network.backends import onnxruntime, openvino, torch_devices
from tengen.network.backends.backend import Backend, Probe, ProcessorOptions, first_line
from tengen.user_messages import say

if TYPE_CHECKING:
    from tengen.network.evaluator import Evaluator
    from tengen.network.inference_buffers import BufferShape, InferenceBuffers
    from tengen.network.network_data import NetworkData

AUTO, CPU, CUDA, MPS = "auto", "cpu", "cuda", "mps"
INTEL_GPU, NPU = "intel-gpu", "npu"
ONNX_RUNTIME = onnxruntime.ONNX_RUNTIME
# The best first. What comes after the CPU was tried on no such device, and has to be asked for.
BACKENDS = (
    Backend(
        "torch",
        CUDA,
        torch_devices.probe_cuda,
        torch_devices.opener(CUDA),
        falls_back=True,
        runs_own_trunks=True,
        selfplay_games=torch_devices.SELFPLAY_GAMES,
        open_own_buffers=torch_devices.open_cuda_buffers,
    ),
    Backend(
        "torch",
        MPS,
        torch_devices.probe_mps,
        torch_devices.opener(MPS),
        falls_back=True,
        runs_own_trunks=True,
    ),
    Backend("openvino", CPU, openvino.probe, openvino.opener()),
    Backend("torch", CPU, torch_devices.probe_cpu, torch_devices.opener(CPU), runs_own_trunks=True),
    *(
        Backend(
            "openvino",
            device,
            partial(openvino.probe, name),
            openvino.opener(name),
            falls_back=True,
        )
        for device, name in ((INTEL_GPU, openvino.GPU), (NPU, openvino.NPU))
    ),
    *onnxruntime.BACKENDS,
)
DEVICES = tuple(dict.fromkeys((AUTO, CPU, *(backend.device for backend in BACKENDS))))
PRECISIONS = (AUTO, "float32", "float16", "bf16", "int8")
TRAINING_DEVICES = (AUTO, CPU, CUDA)

Opened = TypeVar("Opened")


def check_training_device(name: str) -> None:
    """Raise ValueError for a device that networks are not trained on."""
    if name == MPS:
        raise ValueError(f"networks run on {MPS}, but are not trained there; take --device {CPU}")
    if name not in TRAINING_DEVICES:
        raise ValueError(f"device must be {' or '.join(TRAINING_DEVICES)}, not {name!r}")


def probe_devices() -> Iterator[tuple[str, Probe]]:
    """The device and the probe of each back end, the best first; each probed when it is asked for.

    Devices that this kind of machine never has are left out.
    """
    for backend in BACKENDS:
        if (probe := backend.probe()) is not None:
            yield backend.device, probe


def best_device(probes: Iterable[tuple[str, Probe]]) -> str:
    """The device that `auto` stands for; raises ValueError if none is ready."""
    missing = []
    for device, probe in probes:
        if probe.ready:
            return device
        missing.append(probe)
    raise _none_ready(missing)


def open_evaluator(
    data: NetworkData,
    device: str = AUTO,
    precision: str = AUTO,
    *,
    streams: int = 1,
    threads: int | None = None,
) -> Evaluator:
    """Open a network on a device; the other options are OpenVINO's, see `ProcessorOptions`.

    Raises ValueError for an unknown device or precision, and for a device that is not ready. A GPU
    that is not ready or fails gives way to the CPU, after a warning on stderr.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"no precision is called {precision!r}; there are {', '.join(PRECISIONS)}")
    options = ProcessorOptions(streams, threads, None if precision == AUTO else precision)
    return _open_on_first(device, data, lambda backend: backend.open_evaluator(data, options))


def open_reference(data: NetworkData, library: str | None = None) -> Evaluator:
    """Open a network in float32 on the processor by a library, else by the first that is ready.

    What other evaluators are compared with. OpenVINO, by which networks usually run, comes last.
    Raises ValueError for an unknown library or one that is not ready.
    """
    backends = [backend for backend in BACKENDS if backend.device in (CPU, ONNX_RUNTIME)]
    names = [backend.name for backend in backends]
    if library is not None and library not in names:
        raise ValueError(f"no library is called {library!r}; there are {', '.join(names)}")
    missing = []
    ordered = sorted(backends, key=lambda backend: backend.name == "openvino")
    for backend in _able(ordered, data):
        probe = backend.probe() or Probe(False, "this kind of machine has none")
        if library in (None, backend.name):
            if probe.ready:
                return backend.open_evaluator(data, ProcessorOptions(precision="float32"))
            missing.append(probe)
    raise _none_ready(missing)


def open_selfplay_buffers(
    data: NetworkData,
    device: str,
    shapes_for: Callable[[int], Sequence[BufferShape]],
    games: int,
    most_games: int,
) -> list[InferenceBuffers]:
    """Buffers for so many games, or if 0, for as many as suit the device up to a limit.

    `shapes_for` says which buffers a number of games needs. Chooses the device, and raises, as
    `open_evaluator` does.
    """

    def open_buffers(backend: Backend) -> list[InferenceBuffers]:
        chosen = games or min(backend.selfplay_games, most_games)
        return backend.open_buffers(data, shapes_for(chosen))

    return _open_on_first(device, data, open_buffers)


def _open_on_first(device: str, data: NetworkData, open_on: Callable[[Backend], Opened]) -> Opened:
    """The result of `open_on` for the first back end of a device that is ready and works."""
    missing = []
    for backend in _able(_candidates(device), data):
        probe = backend.probe() or Probe(False, "this kind of machine has none")
        if probe.ready:
            try:
                return open_on(backend)
            except Exception as error:
                if not backend.falls_back:
                    raise
                problem = first_line(error)
        else:
            missing.append(probe)
            problem = probe.what
        if backend.falls_back and (probe.ready or device != AUTO):
            say(f"{backend.device} failed ({problem}); using the CPU")
    raise _none_ready(missing)


def _candidates(device: str) -> list[Backend]:
    """The back ends to try for a device, in order; those of a GPU are followed by the CPU's."""
    if device not in DEVICES:
        raise ValueError(f"no device is called {device!r}; there are {', '.join(DEVICES)}")
    if device == AUTO:
        return list(BACKENDS)
    chosen = [backend for backend in BACKENDS if backend.device == device]
    if chosen[0].falls_back:
        chosen += [backend for backend in BACKENDS if backend.device == CPU]
    return chosen


def _able(backends: list[Backend], data: NetworkData) -> list[Backend]:
    """The back ends that can run this kind of network; raises ValueError if none can."""
    trunk = data.architecture.trunk
    able = [backend for backend in backends if backend.runs_own_trunks or not trunk]
    if not able:
        what = f"{data.name} has a trunk of its own, {trunk!r}, which torch alone runs"
        raise ValueError(f"{what}; take --device {AUTO}, {CPU} or {CUDA}")
    return able


def _none_ready(probes: Iterable[Probe]) -> ValueError:
    missing = [f"{probe.what}; try: {probe.remedy}" for probe in probes if probe.remedy]
    return ValueError(f"no device can run the network: {', or '.join(missing)}")
