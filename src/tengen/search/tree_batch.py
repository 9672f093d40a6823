"""A batch of search trees that share one network: what drives every search outside self-play.

One deep search is a batch of one tree. Searching is a cycle of two steps: `start` finds leaves and
submits them to the network, `finish` waits for their evaluations and backs them up. The engine's
scheduler, which evaluates leaves of several batches together, calls what these two consist of:
`find_leaves`, `expand` and `prepare`. Several flights of leaves may be under way, so that the
network works while more leaves are found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import Color
from tengen.game.geometry import Point, Size, point_index
from tengen.game.kernels.ladder import mark_ladders
from tengen.game.kernels.moves import PASS, pass_would_end
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation, Evaluator, Pending
from tengen.search.human_choice import with_people
from tengen.search.human_network import HumanQuestion, People, leaf_metadata
from tengen.search.kernels.descend import find_leaves
from tengen.search.kernels.descent_scratch import new_descent_scratches, nth_descent_scratch
from tengen.search.kernels.expand import expand_leaves
from tengen.search.kernels.forest import (
    AS_ASKED,
    AT_ROOT,
    EXPANDED,
    MAX_DEPTH,
    Forest,
    HumanPolicies,
    new_forest,
    reset_tree,
)
from tengen.search.kernels.parallel import expand_leaves_in_parallel, find_leaves_in_parallel
from tengen.search.kernels.reuse import advance, children_by_visits, compact, recenter_utility
from tengen.search.kernels.root import prepare_root
from tengen.search.kernels.root_endings import weigh_endings
from tengen.search.leaf_batch import LeafBatch, new_leaf_batch
from tengen.search.mirror_play import mirror_advantage, mirror_asymmetry
from tengen.search.params import SearchParams, settings_array
from tengen.search.request import ROOT_DEFAULTS, Avoid, RootOptions, Wanted
from tengen.search.result import MoveResult, SearchResult
from tengen.search.result_reading import SearchStart, child_by, read_moves_below, read_result
from tengen.search.root_symmetry import averaged, symmetric_moves_to_avoid, with_symmetric_moves
from tengen.search.tree_memory import bytes_per_node
from tengen.search.useless_moves import useless_moves
from tengen.user_messages import say

ENDLESS = 2**31 - 1
PIPELINE_FROM = 32  # leaves in a flight, from which a deep tree has two flights at a time
CHUNKS_PER_THREAD = 4  # so that no thread waits long for another
# Parameters that a tree can go on with: they select among its moves, or its values are computed
# again. The others are in its priors, its weights or its memory.
_TREE_GOES_ON = {
    *("exploration", "exploration_log", "exploration_base"),
    *("stdev_scale", "stdev_prior", "stdev_prior_weight"),
    *("fpu_reduction", "root_fpu_reduction", "fpu_trusts_tried", "virtual_loss"),
    *("fpu_loss", "root_fpu_loss", "fpu_trust_power", "per_child_visits", "futile_share"),
    *("win_utility", "white_no_result_utility", "value_weight", "value_bias_exponent"),
    *("noise_pruning", "noise_pruning_scale", "noise_pruning_cap"),
    *("static_score", "dynamic_score", "score_scale", "centre_to_zero"),
    *("temperature", "temperature_early", "temperature_halflife", "lcb_stdevs", "lcb_least"),
    *("temperature_below", "lcb_for_first", "chosen_prune", "chosen_subtract"),
}


@dataclass
class LeafFlight:
    """Leaves on their way through the network."""

    leaves: LeafBatch
    trees: NDArray[np.int64]  # [n] whose leaves these are
    ends: NDArray[np.int64]  # [chunks] where the rows of each chunk of trees end
    metadata: NDArray[np.float32] | None  # [rows, 192] for a network that imitates people
    pending: Pending | None = None  # None: no leaf needs the network
    question: HumanQuestion | None = None  # to a network beside it that imitates people

    @property
    def rows(self) -> int:
        """How many rows the network evaluates."""
        return int(self.ends[-1])

    @property
    def inputs(self) -> Batch:
        """What the network sees."""
        rows, leaves = slice(self.rows), self.leaves
        optimism = leaves.optimism[rows]
        return Batch(leaves.planes[rows], leaves.globals[rows], optimism, self.metadata)


class TreeBatch:
    """Trees on boards of up to one area, with the same parameters and room. Not thread-safe.

    After the network failed, leaves stay pending for ever: drop the batch and make a new one.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams,
        *,
        trees: int,
        area: int,
        node_room: int,
        moves: int,
        ownership: bool = False,
        leaves: int = 1,
        threads: int = 1,
        leaf_room: int | None = None,
        candidate_room: int | None = None,
        human: Evaluator | None = None,
        policies: HumanPolicies = HumanPolicies.ROOTS,
    ) -> None:
        """Each tree has room for so many nodes and at most `leaves` leaves in a flight.

        Positions have been reached by at most `moves` moves. A flight has at most `leaf_room`
        leaves; without one, as many as the trees may find. `human` is a network that imitates
        people, and `policies` where its answers are needed.
        """
        self.evaluator, self.ownership, self.leaves = evaluator, ownership, leaves
        self._features = evaluator.features
        self._human_features = self._features if human is None else human.features
        self._sees_ladders = self._features.sees_ladders or self._human_features.sees_ladders
        self.policies = HumanPolicies.NONE if human is None else policies
        self.forest: Forest = new_forest(
            trees,
            area,
            node_room=node_room,
            candidate_room=candidate_room or node_room * (area + 2),
            moves=moves + MAX_DEPTH,
            ladders=self._sees_ladders,
            ownership=ownership,
            biases=params.value_bias > 0,
            human_policies=self.policies,
        )
        self.people = None if human is None else People(human, self.forest)
        self._settings: NDArray[np.void] = settings_array(
            params, has_optimism=evaluator.has_optimism
        )
        self.params = params
        self.positions: list[Position | None] = [None] * trees  # at the roots
        self.roots: list[RootOptions] = [ROOT_DEFAULTS] * trees
        self.root_evaluations: list[Evaluation | None] = [None] * trees  # without the batch axis
        self.keeps_root_evaluation: set[int] = set()  # trees whose root's evaluation is wanted
        self._averages_root: set[int] = set()  # trees whose root is evaluated by symmetries
        self._chunks = 1 if threads == 1 else min(trees, CHUNKS_PER_THREAD * threads)
        self._scratches = new_descent_scratches(self._chunks)
        self._scratch = nth_descent_scratch(self._scratches, 0)  # outside parallel kernels
        self._reuse_scratch = np.zeros((2, node_room), np.int32)
        self._leaf_room = leaf_room or trees * leaves
        self._size = Size(0, 0)  # of the largest board
        self._spare: list[LeafBatch] = []
        self._reported_full = False

    @property
    def settings(self) -> np.void:
        """The parameters as kernels know them."""
        settings: np.void = self._settings[0]
        return settings

    def set_params(self, params: SearchParams) -> bool:
        """Search with other parameters; returns False if trees grown by the old ones are no use."""
        changed = {name for name, value in vars(params).items() if value != vars(self.params)[name]}
        if not changed <= _TREE_GOES_ON:
            return False
        self.params = params
        self._settings = settings_array(params, has_optimism=self.evaluator.has_optimism)
        if changed:
            for g in range(len(self.forest.trees)):
                if self.positions[g] is not None and self.visits(g):
                    recenter_utility(self.forest, g, self.settings)
        return True

    # Roots

    def fits(self, position: Position) -> bool:
        """Is there room for the moves of a position, and is its board of the right size?"""
        enough = position.move_number + MAX_DEPTH < self.forest.histories.shape[1]
        return enough and self._size in (Size(0, 0), position.size)

    def stand_at(
        self,
        g: int,
        position: Position,
        root: RootOptions = ROOT_DEFAULTS,
        *,
        seed: Sequence[int] = (0, 0),
        growth: int = 0,
    ) -> None:
        """Root tree g at a position; the subtree is kept if the tree leads there.

        It is not kept if it would leave no room for `growth` more nodes.
        """
        if not self._keeps_subtree(g, position, root, growth):
            self.set_root(g, position, root, seed=seed)

    def _keeps_subtree(self, g: int, position: Position, root: RootOptions, growth: int) -> bool:
        before = self.positions[g]
        if before is None or root.gumbel or root.fresh or root != self.roots[g]:
            return False
        moves = moves_between(before, position)
        if moves is None or not self.fits(position):
            return False
        if moves and (root.avoid or self._more_to_avoid(position, root)):
            return False
        if moves and self.params.conservative_pass and _pass_would_end(position):
            return False  # in the tree it did
        if moves:
            self.follow(g, moves, position)
            self._apply_root_options(g, position, root)
        self.positions[g] = position
        return int(self.forest.trees[g]["n_nodes"]) + growth <= self.forest.node_room

    def set_root(
        self,
        g: int,
        position: Position,
        root: RootOptions = ROOT_DEFAULTS,
        *,
        seed: Sequence[int] = (0, 0),
    ) -> None:
        """Start tree g anew at a position whose game is not over by the move limit."""
        forest = self.forest
        boards, history = position.arrays(room=0)
        forest.boards[g] = boards[0]
        forest.histories[g, : len(history)] = history
        self._read_earlier_ladders(g, position)
        tree = forest.trees[g]
        tree["move_limit"] = ENDLESS if position.move_limit is None else position.move_limit
        tree["target"] = 0
        tree["rng"] = np.random.SeedSequence(seed).generate_state(1, np.uint64) | 1
        reset_tree(forest, g)
        self.positions[g], self.roots[g] = position, root
        self._forget_root_evaluation(g)
        self._apply_root_options(g, position, root)
        self._grow_board(position.size)

    def _forget_root_evaluation(self, g: int) -> None:
        self.root_evaluations[g] = None
        if self.people is not None:
            self.people.forget_root(g)

    def _apply_root_options(self, g: int, position: Position, root: RootOptions) -> None:
        forest, tree = self.forest, self.forest.trees[g]
        (self._averages_root.add if root.symmetries > 1 else self._averages_root.discard)(g)
        hidden = position.move_number if root.ignore_history else 0
        forest.boards[g]["hidden"] = ENDLESS if root.ignore_all_history else hidden
        tree["bias_freed"] = self.params.value_bias_freed
        tree["noisy"] = root.noisy
        tree["forced"] = self.params.forced_playouts if root.noisy else 0
        tree["gumbel"] = root.gumbel
        if self.people is not None:
            self.people.set_style(g, root)
        tree["leaves"] = self.leaves
        tree["draw_komi"] = self.params.white_draw_wins - 0.5 if may_be_drawn(position) else 0.0
        side = position.to_play if root.advantage_of is None else root.advantage_of
        if self.params.anti_mirror:
            tree["mirror_advantage"] = mirror_advantage(position)
            tree["mirror_asymmetry"] = mirror_asymmetry(position)
        tree["black_advantage"] = root.playout_advantage * (1 if side is Color.BLACK else -1)
        avoid = [*root.avoid, *self._more_to_avoid(position, root)]
        tree["avoids"] = AS_ASKED if root.avoid else AT_ROOT if avoid else 0
        forest.avoid[g] = 0
        for color, move, depth in avoid:
            point = _point_index(move, position)
            forest.avoid[g, color, point] = max(forest.avoid[g, color, point], min(depth, 255))

    def _more_to_avoid(self, position: Position, root: RootOptions) -> list[Avoid]:
        """Moves that are of no use, or mirror images of others."""
        useless = useless_moves(position) if self.params.prune_useless else []
        return [*useless, *symmetric_moves_to_avoid(position, root)]

    def _grow_board(self, size: Size) -> None:
        """Let leaf batches have room for boards of this size."""
        largest = Size(max(self._size.width, size.width), max(self._size.height, size.height))
        if largest != self._size:
            self._size = largest
            self._spare.clear()

    def follow(self, g: int, moves: Sequence[Point | None], position: Position) -> None:
        """Move the root of tree g along moves up to a position, keeping the subtree below it."""
        for move in moves:
            advance(self.forest, g, _point_index(move, position), *self._reuse_scratch)
        self.positions[g] = position
        self._forget_root_evaluation(g)
        self._read_earlier_ladders(g, position)
        self.forest.owner[g] = 0
        if self.roots[g].gumbel:
            reset_tree(self.forest, g)  # its rounds begin without visits
        elif self.visits(g):
            recenter_utility(self.forest, g, self.settings)
            self.forest.trees[g]["renew"] = self._is_seen_otherwise(g)

    def _is_seen_otherwise(self, g: int) -> bool:
        """Is a position evaluated in another way at the root of tree g than below it?"""
        params = self.params
        differs = self.evaluator.has_optimism and params.optimism != params.root_optimism
        differs = differs or params.ending_bonus != 0 or params.fill_dame  # by its ownership
        asks_people = self.people is not None and self.people.is_asked(self.roots[g])
        return differs or asks_people or g in self._averages_root or self.roots[g].ignore_history

    def _read_earlier_ladders(self, g: int, position: Position) -> None:
        """Read the ladders of one and two turns ago, which are inputs of the network."""
        self.forest.caught_before[g] = 0
        if not self._sees_ladders:
            return
        scratch = self._scratch.features
        for turn in range(min(2, position.move_number)):
            position = position.undo()
            boards, _ = position.arrays(room=0)
            caught = self.forest.caught_before[g, turn]
            mark_ladders(boards[0], scratch.ladder, caught, scratch.catching)

    def prepare(self, trees: NDArray[np.int64]) -> None:
        """Give the roots among these that were just evaluated, or became roots, their priors."""
        records = self.forest.trees
        status = self.forest.nodes["status"][records["root"][trees]]
        for g in trees[(status == EXPANDED) & (records["prepared"][trees] == 0)].tolist():
            prepare_root(self.forest, g, self.settings)
            if self.params.ending_bonus:
                weigh_endings(self.forest, g, self.settings, self._scratch.features.life[0])

    # Searching

    def start(self, trees: NDArray[np.int64]) -> LeafFlight:
        """Find leaves in these trees and submit them to the network."""
        flight = self.find_leaves(trees)
        self.ask_people(flight)
        if flight.rows:
            flight.pending = self.evaluator.submit(flight.inputs)
        return flight

    def find_leaves(self, trees: NDArray[np.int64]) -> LeafFlight:
        """Find leaves in these trees; the caller has them evaluated."""
        leaves = self._spare.pop() if self._spare else self._new_leaf_batch()
        forest, kind, human_kind = self.forest, self._features.kind, self._human_features.kind
        ends = np.zeros(self._chunks, np.int64)
        if self._chunks == 1:
            last = len(leaves.paths)
            ends[0] = find_leaves(
                forest, trees, leaves, 0, last, self.settings, self._scratch, kind, human_kind
            )
        else:
            trees = trees[forest.trees["target"][trees] > 0]
            find_leaves_in_parallel(
                forest,
                trees,
                leaves,
                self.leaves,
                ends,
                self._settings,
                self._scratches,
                kind,
                human_kind,
            )
        metadata = None
        if self.evaluator.imitates_people and ends[-1]:
            metadata = leaf_metadata(forest, leaves, np.arange(ends[-1]), self.roots)
        return LeafFlight(leaves, trees, ends, metadata)

    def ask_people(self, flight: LeafFlight) -> None:
        """Have a network that imitates people evaluate the leaves of a flight that need it."""
        if self.people is not None and flight.rows:
            flight.question = self.people.ask(flight.leaves, flight.rows, self.roots, self.policies)

    def _new_leaf_batch(self) -> LeafBatch:
        return new_leaf_batch(self._leaf_room, self._features, self._size, self._human_features)

    def finish(self, flight: LeafFlight) -> None:
        """Wait for the evaluations of a flight, expand its leaves and prepare new roots."""
        self.expand(flight, None if flight.pending is None else flight.pending.result())
        self.prepare(flight.trees)

    def expand(self, flight: LeafFlight, evaluation: Evaluation | None) -> None:
        """Expand the leaves of a flight with their evaluations, and back them up."""
        leaves, ends = flight.leaves, flight.ends
        if self.people is not None and flight.question is not None:
            question, settings = flight.question, self.settings
            self.people.take_in(question, leaves, self.positions, self.roots, settings)
        if evaluation is not None:
            # One memory layout, whatever the network returned: each other compiles kernels anew.
            evaluation = Evaluation(*(np.ascontiguousarray(field) for field in evaluation))
            if self._chunks == 1:
                if self._averages_root:
                    self._average_roots(flight, evaluation)
                if self.keeps_root_evaluation:
                    self._keep_root_evaluations(flight, evaluation)
                shares = self._scratch.shares
                expand_leaves(self.forest, leaves, 0, ends[0], evaluation, self.settings, shares)
            else:
                expand_leaves_in_parallel(
                    self.forest,
                    flight.trees,
                    leaves,
                    self.leaves,
                    ends,
                    evaluation,
                    self._settings,
                    self._scratches,
                )
        self._spare.append(leaves)

    def _average_roots(self, flight: LeafFlight, evaluation: Evaluation) -> None:
        """Average the evaluations of new roots over symmetries, where that is wanted."""
        paths = flight.leaves.paths[: flight.rows]
        for row in np.flatnonzero(paths["depth"] == 0).tolist():
            g = int(paths["tree"][row])
            position = self.positions[g]
            if g in self._averages_root and position is not None:
                one = Evaluation(*(field[row] for field in evaluation))
                seen, symmetries = flight.inputs.rows([row]), self.roots[g].symmetries
                means = averaged(one, self.evaluator, seen, position, symmetries)
                for field, mean in zip(evaluation, means, strict=True):
                    field[row] = mean

    def _keep_root_evaluations(self, flight: LeafFlight, evaluation: Evaluation) -> None:
        paths = flight.leaves.paths[: flight.rows]
        for row in np.flatnonzero(paths["depth"] == 0).tolist():
            g = int(paths["tree"][row])
            if g in self.keeps_root_evaluation:
                self.root_evaluations[g] = Evaluation(
                    *(np.copy(field[row]) for field in evaluation)
                )

    def make_room(self, g: int) -> None:
        """Give up the least visited subtrees of a full tree; no leaf of it may be in flight."""
        forest = self.forest
        if not self._reported_full:
            self._reported_full = True
            used = self.used_bytes(g) / 1e6
            say(
                f"the search tree fills its {used:.0f} MB at {self.visits(g):,} visits; from now "
                "on its least visited branches are given up (raise `megabytes` to keep more)"
            )
        compact(forest, g, _visits_to_keep(forest, g), *self._reuse_scratch)

    def used_bytes(self, g: int) -> int:
        """The memory that the nodes of tree g take now."""
        tree, area = self.forest.trees[g], self.forest.ownership.shape[1]
        node = bytes_per_node(
            area, 0, self._features, self.params, ownership=self.ownership, policies=self.policies
        )
        return int(tree["n_nodes"]) * node + 4 * int(tree["n_candidates"])

    # Reading

    def visits(self, g: int) -> int:
        """The visits of the root of tree g."""
        return int(self.forest.nodes[self.forest.trees[g]["root"]]["visits"])

    def result(self, g: int, wanted: Wanted, start: SearchStart, reason: str) -> SearchResult:
        """What tree g has found at its root."""
        position, root = self.positions[g], self.roots[g]
        assert position is not None
        wanted = wanted.within(ownership=self.ownership)
        result = read_result(self.forest, g, self.settings, position, wanted, start, reason)
        human = None if self.people is None else self.people.roots[g]
        own = self.people is None and self.evaluator.imitates_people
        temperature = self.params.policy_temperature
        result = with_people(result, root, human, imitates=own, temperature=temperature)
        if root.symmetry_pruning:
            moves = with_symmetric_moves(result.moves, position, root)
            result = replace(result, moves=moves)
        if wanted.root_evaluation:
            result = replace(result, root_evaluation=self.root_evaluations[g])
        return result

    def moves_after(
        self, g: int, branch: Iterable[Point | None], wanted: Wanted
    ) -> tuple[Position, tuple[MoveResult, ...]]:
        """The end of a line from the root of tree g, and the moves tried there.

        Raises ValueError for a line that is not legal.
        """
        position = self.positions[g]
        assert position is not None
        index: int | None = int(self.forest.trees[g]["root"])
        for move in branch:
            position = position.play(move)
            if index is not None:
                index = child_by(self.forest, index, move, position.width)
        if index is None:
            return position, ()
        return position, read_moves_below(self.forest, index, self.settings, position, wanted)


def moves_between(before: Position, after: Position) -> list[Point | None] | None:
    """The moves that lead from one position to a later one of the same game, or None."""
    moves: list[Point | None] = []
    position = after
    while position.move_number > before.move_number and position.last_move is not None:
        if position.previous is None or position.previous.to_play is not position.last_move.color:
            return None
        moves.append(position.last_move.point)
        position = position.previous
    same = (
        position.move_number == before.move_number
        and position == before
        and position.moves == before.moves
        and position.move_limit == before.move_limit
    )
    return moves[::-1] if same else None


def may_be_drawn(position: Position) -> bool:
    """Can both sides have as many points in the end?"""
    return position.komi.is_integer() != position.rules.button


def _pass_would_end(position: Position) -> bool:
    boards, history = position.arrays(room=0)
    return bool(pass_would_end(boards[0], history))


def _point_index(move: Point | None, position: Position) -> int:
    return PASS if move is None else point_index(move, position.width)


def _visits_to_keep(forest: Forest, g: int) -> int:
    """The visits below which subtrees are given up so that about half of the nodes stay."""
    children = np.zeros(32, np.int64)
    children_by_visits(forest, g, children)
    kept = children[::-1].cumsum()[::-1]
    enough = np.flatnonzero(kept <= forest.node_room // 2)
    return 1 << max(1, int(enough[0]))
