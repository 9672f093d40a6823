"""What a run starts from: random weights or a network, and the teacher it learns from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tengen.features.feature_set import FEATURE_SETS
from tengen.network.architecture import Architecture
from tengen.network.architecture_names import named_architecture
from tengen.network.files.loading import file_sha256, find_network, load_network
from tengen.network.learned_from import NOTHING, learned_on_from, with_source
from tengen.network.network_data import NetworkData
from tengen.runs.folder import RunError
from tengen.runs.params import DataParams, RunParams
from tengen.runs.row_maker import Teacher
from tengen.runs.selfplay_network import evaluator_on
from tengen.training.continued_network import continued_network
from tengen.training.heads_and_losses import TrainingNetwork
from tengen.training.initial_network import initial_network
from tengen.user_messages import say

_FACTS = ("minutes", "games", "rows", "steps")  # of a network's provenance, named in its origin


class StartingNetwork(NamedTuple):
    """The network that training starts from, and where it comes from."""

    network: TrainingNetwork
    started_from: str  # a network and what is known about it; empty: random weights
    learned_from: str  # see `tengen.network.learned_from`
    needs_statistics: bool  # of its norms, before the first step


def starting_network(params: RunParams, facts: Mapping[str, Any] | None) -> StartingNetwork:
    """The start of a new run, or of one with a checkpoint that has these facts.

    For a resumed run only the architecture matters: its weights are in the checkpoint.
    """
    if facts is None and params.start:
        return _from_network(load_network(params.start), params)
    architecture = named_architecture(params.model).seeing(params.feature_set)
    facts = facts or {}
    if "architecture" in facts:
        architecture = Architecture.from_json(str(facts["architecture"]))
    return StartingNetwork(
        initial_network(architecture, params.seed),
        str(facts.get("started_from", "")),
        str(facts.get("learned_from", NOTHING)),
        bool(facts.get("needs_statistics", False)),
    )


def _from_network(data: NetworkData, params: RunParams) -> StartingNetwork:
    features, seen = params.feature_set, FEATURE_SETS[data.architecture.features]
    if (seen.planes, seen.globals) != (features.planes, features.globals):
        raise ValueError(
            f"{data.name} sees {seen.name!r} and the run {features.name!r}; start from another "
            f"network, or begin with --set run.features={seen.name}"
        )
    named = [f"{data.provenance[name]} {name}" for name in _FACTS if name in data.provenance]
    data = replace(data, architecture=data.architecture.seeing(features))
    continued = continued_network(data, params.seed)
    for remark in continued.remarks:
        say(f"{data.name} continues training: {remark}")
    return StartingNetwork(
        continued.network,
        ", ".join([data.name, *named]),
        learned_on_from(data.name, data.provenance),
        continued.needs_statistics,
    )


def open_teacher(data: DataParams, device: str, facts: Mapping[str, Any]) -> Teacher | None:
    """The teacher, if there is one; raises ValueError for a network that cannot teach.

    Raises RunError if the facts of the run's checkpoint name another teacher.
    """
    if not data.teacher:
        return None
    path = find_network(data.teacher)
    sha256, network = file_sha256(path), load_network(data.teacher)
    if network.architecture.imitates_people:
        what = "imitates people, who play well and badly; such a network is no teacher here"
        raise ValueError(f"{network.name}: {what}")
    if facts.get("teacher_sha256", sha256) != sha256:
        what = "is not the network that has taught this run so far; restore that"
        raise RunError(f"{path}: {what}, or begin a new run")
    return Teacher(evaluator_on(device, network), sha256)


def learned_with(earlier: str, data: DataParams, teacher: Teacher | None) -> str:
    """What a network learned from: that of its start, and what these settings add."""
    found = with_source(earlier, "records") if data.records else earlier
    if teacher is not None:
        found = with_source(found, f"teacher {teacher.evaluator.name}")
    return found
