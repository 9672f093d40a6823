"""Training continued from a network: of an earlier run as it is, of KataGo with additions.

KataGo's files have outputs that are not trained here, and norms without statistics, which are
folded into scale and bias. `Trainer` measures statistics on the first rows; evaluations stay the
same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from tengen.network.network_data import NetworkData, Weights
from tengen.training.heads_and_losses import SCALING, TrainingNetwork
from tengen.training.initial_network import clear_empty_planes, initial_network

# Each score output: its factor in `Scaling`, whether it is linear in points, its name for people.
_SCORES = (
    ("score_mean", True, "the score"),
    ("score_stdev", False, "its spread"),
    ("lead", True, "the lead"),
    ("variance_time", False, "the variance time"),
    ("value_error", False, "the error of values"),
    ("score_error", False, "the error of scores"),
)
_ERRORS = ("value_error", "score_error")
_POLICY = ("policy.conv2.weight", "policy.pass1.weight", "policy.pass2.weight")  # the last layers


class Continued(NamedTuple):
    """A network to continue training with."""

    network: TrainingNetwork
    remarks: list[str]  # on what changed, for people
    needs_statistics: bool  # of its norms


def continued_network(data: NetworkData, seed: int) -> Continued:
    """A network with these weights to continue training with; weights that are missing are random.

    Raises ValueError for networks that cannot be trained here.
    """
    a = data.architecture
    if a.imitates_people or a.board_size:
        kind = "imitates people" if a.imitates_people else f"is for {a.board_size}x{a.board_size}"
        what = f"{data.name} {kind}, and such networks are not trained here"
        raise ValueError(f"{what}; start from another one")
    architecture = replace(a, policy_outputs=1, score_outputs=len(_SCORES))
    training = initial_network(architecture, seed)
    weights = {name: torch.from_numpy(values) for name, values in _plain_policy(data).items()}
    remarks = []
    if a.policy_outputs > 1:
        remarks.append("only its plain policy is trained; the optimistic one is left out")
    state = training.network.state_dict()
    missing = _take_scores(data, weights, state)
    if missing:
        remarks.append(f"begins at random: {', '.join(missing)}")
    training.network.load_state_dict(weights)
    with torch.no_grad():
        clear_empty_planes(training)
    bare = [name for name, values in data.weights.items() if _lacks_statistics(name, values)]
    if bare:
        remarks.append(
            f"{len(bare)} norms have no statistics: they are measured on the first positions"
        )
    return Continued(training, remarks, bool(bare))


def _plain_policy(data: NetworkData) -> Weights:
    """The weights with only the first of several policies."""
    last = _POLICY[2] if data.architecture.pass_hidden else _POLICY[1]
    return {
        name: values[:1] if name in (_POLICY[0], last) else values
        for name, values in data.weights.items()
    }


def _take_scores(
    data: NetworkData, weights: dict[str, Tensor], start: dict[str, Tensor]
) -> list[str]:
    """Bring the score outputs to our scaling; returns those left random, as in `start`."""
    scores, missing = ("value.score.weight", "value.score.bias"), []
    rows: dict[str, list[Tensor]] = {name: [] for name in scores}
    for k, (factor, is_linear, what) in enumerate(_SCORES):
        given, ours = getattr(data.scaling, factor), getattr(SCALING, factor)
        same = given == ours and (factor not in _ERRORS or data.scaling.halved_errors)
        is_there = k < data.architecture.score_outputs and (same or is_linear)
        if not is_there:
            missing.append(what)
        for name in scores:
            rows[name].append(weights[name][k] * (given / ours) if is_there else start[name][k])
    for name in scores:
        weights[name] = torch.stack(rows[name])
    return missing


def _lacks_statistics(name: str, values: object) -> bool:
    return name.endswith(".mean") and not torch.as_tensor(values).any()
