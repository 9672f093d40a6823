"""How many workers a cluster has room for, and what each part gets of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tengen.cluster.ray_setup import ClusterError
from tengen.network.backends.registry import CPU, CUDA

# With one or two GPUs the learner shares one with a worker: it needs less than half of it for each.
LEARNER_SHARE = 0.4
WORKER_SHARES = (1.0, 0.6, 0.5, 0.3, 0.25, 0.2, 0.1)  # of a GPU, as Ray divides them
MOST_CORES = 8  # of a worker without a GPU; more cores make more workers
_EPSILON = 1e-6


class Machine(NamedTuple):
    """What a machine offers."""

    cpus: float
    gpus: float = 0.0


class Plan(NamedTuple):
    """What each part of a run gets."""

    device: str  # of workers
    workers: int
    worker_cpus: float
    worker_gpus: float
    learner_gpus: float
    threads: int  # of a worker's kernels

    def room(self, machines: Sequence[Machine]) -> int:
        """How many such workers fit on these machines."""
        if self.device == CPU:
            return sum(_fits(machine.cpus, self.worker_cpus) for machine in machines)
        return _gpu_room(machines, self.worker_gpus, self.learner_gpus)


def plan(machines: Sequence[Machine], device: str, workers: int | None = None) -> Plan:
    """Divide a cluster among so many workers, or as many as suit it; raises ClusterError."""
    gpus = sum(machine.gpus for machine in machines)
    if device == CUDA and not gpus:
        raise ClusterError("no machine of the cluster has a GPU; take --device cpu")
    if device != CPU and gpus:
        return _on_gpus(machines, gpus, workers)
    if not sum(machine.cpus for machine in machines):
        raise ClusterError("no machine of the cluster offers processor cores")
    cores = _cores_each(machines, workers)
    made = Plan(CPU, 0, cores, 0.0, 0.0, max(1, int(cores)))
    return made._replace(workers=workers or made.room(machines))


def _on_gpus(machines: Sequence[Machine], gpus: float, workers: int | None) -> Plan:
    learner = 1.0 if gpus >= 3 else LEARNER_SHARE
    count = workers or int(gpus - 1 if gpus >= 3 else gpus)
    share = next(
        (each for each in WORKER_SHARES if _gpu_room(machines, each, learner) >= count), None
    )
    if share is None:
        most = _gpu_room(machines, WORKER_SHARES[-1], learner)
        raise ClusterError(f"{count} workers do not fit on {gpus:g} GPUs; {most} would")
    threads = min(int(machine.cpus / machine.gpus) for machine in machines if machine.gpus)
    return Plan(CUDA, count, 1.0, share, learner, max(1, threads))


def _gpu_room(machines: Sequence[Machine], share: float, learner: float) -> int:
    gpus = sum(int(machine.gpus) for machine in machines)
    return (gpus - 1) * _fits(1.0, share) + _fits(1.0 - learner, share)


def _cores_each(machines: Sequence[Machine], workers: int | None) -> float:
    """The most cores for each worker, such that all of them fit."""
    smallest = min(machine.cpus for machine in machines if machine.cpus)
    if workers is None:
        return float(max(1, min(int(smallest), MOST_CORES)))
    for cores in range(int(max(machine.cpus for machine in machines)), 0, -1):
        if sum(_fits(machine.cpus, cores) for machine in machines) >= workers:
            return float(cores)
    of_a_core = 2
    while sum(_fits(machine.cpus, 1 / of_a_core) for machine in machines) < workers:
        of_a_core += 1
    return 1 / of_a_core


def _fits(room: float, each: float) -> int:
    return int(room / each + _EPSILON)
