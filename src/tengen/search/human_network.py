"""A second network, which imitates people, and its evaluations of roots and leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features.human_profile import DEFAULT_PROFILE, profile_rows
from tengen.game.geometry import MAX_POINTS
from tengen.game.kernels.moves import PASS
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation, Evaluator, Pending
from tengen.search.human_style import NO_STYLE, HumanStyle
from tengen.search.kernels.forest import OTHER_TURN, OWN_TURN, ROOT, Forest, HumanPolicies
from tengen.search.kernels.human import take_in_human
from tengen.search.leaf_batch import LeafBatch
from tengen.search.request import RootOptions
from tengen.search.root_symmetry import averaged


def check_style(style: HumanStyle, evaluator: Evaluator, human: Evaluator | None) -> None:
    """Raise ValueError if a style needs a network that imitates people and none is open.

    `human` is the one beside the network of the search.
    """
    imitated = evaluator.imitates_people or (human is not None and human.imitates_people)
    wanted = ""
    if style.profile and not imitated:
        wanted = f"the profile {style.profile}"
    elif style.explores and human is None:
        wanted = "exploring the moves of people"
    elif style.move_share and human is None and not evaluator.imitates_people:
        wanted = "choosing moves as people do"
    if wanted:
        raise ValueError(
            f"{wanted} needs a network that imitates people: name its file with --human-model "
            "(human_model in Python and settings files)"
        )


def policies_of(style: HumanStyle) -> HumanPolicies:
    """The nodes whose policy of people a forest has to keep, by the style."""
    return HumanPolicies.NODES if style.explores_below_root else HumanPolicies.ROOTS


class HumanQuestion(NamedTuple):
    """Leaves that this network evaluates."""

    rows: NDArray[np.int64]  # [n] among all leaves
    batch: Batch  # what it sees of them
    pending: Pending


@dataclass
class People:
    """The network, and its evaluations of the roots of a forest."""

    evaluator: Evaluator
    forest: Forest

    def __post_init__(self) -> None:
        # [trees] without the batch axis; None: not known
        self.roots: list[Evaluation | None] = [None] * len(self.forest.trees)
        self._points = np.zeros(MAX_POINTS, np.int32)
        self._shares = np.zeros(MAX_POINTS, np.float32)

    def is_asked(self, root: RootOptions) -> bool:
        """Is the network of use to a search?"""
        return bool(root.human.profile) or not self.evaluator.imitates_people

    def set_style(self, g: int, root: RootOptions) -> None:
        """Let kernels explore tree g by the root's style."""
        style = root.human if self.is_asked(root) else NO_STYLE
        record = self.forest.styles[g]
        record["exploration"] = style.exploration
        record["permanent_exploration"] = style.permanent_exploration
        for whose, less, ful in (
            (ROOT, style.root_weightless, style.root_weightful),
            (OWN_TURN, style.own_weightless, style.own_weightful),
            (OTHER_TURN, style.other_weightless, style.other_weightful),
        ):
            record["weightless"][whose], record["weightful"][whose] = less, ful

    def forget_root(self, g: int) -> None:
        """Note that the root of tree g has no evaluation by this network."""
        self.roots[g] = None
        forest = self.forest
        if len(forest.human) == len(forest.trees):  # else each node has what is known of it
            forest.human[g, PASS] = -1

    def ask(
        self, leaves: LeafBatch, used: int, roots: list[RootOptions], policies: HumanPolicies
    ) -> HumanQuestion | None:
        """Start the evaluation of those among the first `used` leaves that need one."""
        paths = leaves.paths[:used]
        of_tree = np.array([self.is_asked(root) for root in roots])
        wanted = of_tree[paths["tree"]]
        if policies is HumanPolicies.ROOTS:
            wanted &= paths["depth"] == 0
        rows = np.flatnonzero(wanted)
        if not len(rows):
            return None
        own = len(leaves.human_planes) > 0
        planes = (leaves.human_planes if own else leaves.planes)[rows]
        globals_ = (leaves.human_globals if own else leaves.globals)[rows]
        metadata = None
        if self.evaluator.imitates_people:
            metadata = leaf_metadata(self.forest, leaves, rows, roots)
        batch = Batch(planes, globals_, None, metadata)
        return HumanQuestion(rows, batch, self.evaluator.submit(batch))

    def take_in(
        self,
        question: HumanQuestion,
        leaves: LeafBatch,
        positions: list[Position | None],
        roots: list[RootOptions],
        settings: np.void,
    ) -> None:
        """Wait for an evaluation, and keep it in the forest; those of roots as a whole, too."""
        found = question.pending.result()
        found = Evaluation(*(np.ascontiguousarray(field) for field in found))
        paths = leaves.paths[question.rows]
        for n in np.flatnonzero(paths["depth"] == 0).tolist():
            g = int(paths["tree"][n])
            position, root = positions[g], roots[g]
            one = Evaluation(*(np.copy(field[n]) for field in found))
            if root.symmetries > 1 and position is not None:
                seen = question.batch.rows([n])
                one = averaged(one, self.evaluator, seen, position, root.symmetries)
                found.policy[n] = one.policy
            self.roots[g] = one
        take_in_human(
            self.forest, leaves, question.rows, found, settings, self._shares, self._points
        )


def leaf_metadata(
    forest: Forest, leaves: LeafBatch, rows: NDArray[np.int64], roots: list[RootOptions]
) -> NDArray[np.float32]:
    """[rows, 192] who plays at these leaves, by the profiles of their trees."""
    paths = leaves.paths[rows]
    nodes = paths["nodes"][np.arange(len(rows)), paths["depth"]]
    boards = forest.boards[paths["tree"]]
    areas = boards["width"].astype(int) * boards["height"]
    asked = zip(
        paths["tree"].tolist(),
        areas.tolist(),
        forest.nodes["to_play"][nodes].tolist(),
        strict=True,
    )
    return np.stack(
        [
            profile_rows(roots[g].human.profile or DEFAULT_PROFILE, area)[color]
            for g, area, color in asked
        ]
    )
