"""What each part of a run gets of a cluster."""

from __future__ import annotations

import pytest

from tengen.cluster.ray_setup import ClusterError
from tengen.cluster.resources import Machine, plan

ONE_GPU = Machine(16, 1)


@pytest.mark.parametrize(
    ("machines", "wanted", "workers", "cores"),
    [
        ([Machine(2)], None, 1, 2),
        ([Machine(2)], 2, 2, 1),
        ([Machine(2)], 5, 5, 1 / 3),  # 3 fit on each core
        ([Machine(1), Machine(1)], 1, 1, 1),  # a worker is on one machine
        ([Machine(6), Machine(2)], 2, 2, 3),
        ([Machine(64)], None, 8, 8),
        ([Machine(0), Machine(4)], None, 1, 4),  # a head that offers nothing
    ],
)
def test_workers_without_gpus_fit_on_the_machines(
    machines: list[Machine], wanted: int | None, workers: int, cores: float
) -> None:
    made = plan(machines, "auto", wanted)
    assert (made.device, made.workers) == ("cpu", workers)
    assert made.worker_cpus == pytest.approx(cores)
    assert made.room(machines) >= workers
    assert made.learner_gpus == made.worker_gpus == 0


@pytest.mark.parametrize(
    ("machines", "wanted", "workers", "share", "learner"),
    [
        ([ONE_GPU], None, 1, 0.6, 0.4),  # shared with the learner
        ([Machine(32, 2)], None, 2, 0.6, 0.4),
        ([Machine(32, 2)], 3, 3, 0.5, 0.4),
        ([ONE_GPU] * 4, None, 3, 1.0, 1.0),  # the learner has one alone
        ([ONE_GPU] * 4, 6, 6, 0.5, 1.0),
        ([ONE_GPU] * 4, 1, 1, 1.0, 1.0),
    ],
)
def test_gpus_are_divided(
    machines: list[Machine], wanted: int | None, workers: int, share: float, learner: float
) -> None:
    made = plan(machines, "auto", wanted)
    assert (made.device, made.workers) == ("cuda", workers)
    assert (made.worker_gpus, made.learner_gpus) == (share, learner)
    assert made.room(machines) >= workers
    assert made.threads == 16


def test_machines_that_join_make_room_for_more() -> None:
    made = plan([Machine(2)], "cpu")
    assert made.room([Machine(2), Machine(2)]) == 2
    made = plan([ONE_GPU], "cuda")
    assert made.room([ONE_GPU] * 3) == 3


def test_what_is_impossible_is_explained() -> None:
    with pytest.raises(ClusterError, match="no machine of the cluster has a GPU"):
        plan([Machine(4)], "cuda")
    with pytest.raises(ClusterError, match="no machine of the cluster offers processor cores"):
        plan([Machine(0)], "cpu")
    with pytest.raises(ClusterError, match="200 workers do not fit on 1 GPUs; 6 would"):
        plan([ONE_GPU], "cuda", 200)
