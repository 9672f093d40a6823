"""Symmetries at the root: of moves, of which one of each kind is searched, and of evaluations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tengen.game.color import Color
from tengen.game.geometry import Point, Size, Symmetry, symmetry_points
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation, Evaluator
from tengen.search.request import Avoid, RootOptions
from tengen.search.result import MoveResult


def symmetric_moves_to_avoid(position: Position, root: RootOptions) -> list[Avoid]:
    """The moves that are mirror images of others, all but one of each kind.

    The one is Black's nearest to the upper right corner, White's to the lower left, as in KataGo.
    """
    symmetries = _symmetries_of(position) if root.symmetry_pruning else []
    if not symmetries:
        return []
    avoided = _avoided_now(position, root)
    side = -1 if position.to_play is Color.BLACK else 1
    kept: set[Point] = set()
    avoid = []
    for point in sorted(position.legal_moves(), key=lambda p: (side * p.x, -side * p.y)):
        if point in avoided:
            continue
        images = {symmetry.point(point, position.size) for symmetry in symmetries} - {point}
        if images & kept:
            avoid.append(Avoid(position.to_play, point))
        else:
            kept.add(point)
    return avoid


def with_symmetric_moves(
    moves: tuple[MoveResult, ...], position: Position, root: RootOptions
) -> tuple[MoveResult, ...]:
    """These moves, each followed by the mirror images that were not searched themselves."""
    symmetries = _symmetries_of(position)
    if not symmetries:
        return moves
    avoided = _avoided_now(position, root)
    shown = []
    for each in moves:
        shown.append(each)
        known = {*avoided, each.move}
        for image in (_image(each, symmetry, position) for symmetry in symmetries):
            if image.move not in known:
                known.add(image.move)
                shown.append(image)
    return tuple(replace(move, order=i) for i, move in enumerate(shown))


def _symmetries_of(position: Position) -> list[Symmetry]:
    """The symmetries that leave stones and legal moves as they are, the identity left out."""
    size = position.size
    points = np.stack([position.stones.ravel(), position.legal_mask()[:-1]])
    return [
        symmetry
        for symmetry in sorted(Symmetry)
        if symmetry is not Symmetry.IDENTITY
        and symmetry.size(size) == size
        and (points[:, symmetry_points(symmetry, size)] == points).all()
    ]


def _avoided_now(position: Position, root: RootOptions) -> set[Point | None]:
    """The moves that the side to play must avoid at the root."""
    return {each.move for each in root.avoid if each.color is position.to_play}


def _image(move: MoveResult, symmetry: Symmetry, position: Position) -> MoveResult:
    """A move's result, turned by a symmetry."""
    line = tuple(None if p is None else symmetry.point(p, position.size) for p in move.pv)
    places = symmetry_points(symmetry, position.size)
    ownership, stdev = (
        None if each is None else each.ravel()[places].reshape(each.shape)
        for each in (move.ownership, move.ownership_stdev)
    )
    return replace(
        move,
        move=line[0],
        symmetry_of=move.move,
        pv=line,
        ownership=ownership,
        ownership_stdev=stdev,
    )


def averaged(
    evaluation: Evaluation,
    evaluator: Evaluator,
    seen: Batch,
    position: Position,
    symmetries: int,
) -> Evaluation:
    """The mean evaluation of a position and its images by some of the other symmetries.

    `evaluation` is that of the position, without the batch axis; `seen` are its inputs. The
    policy's mean is one of probabilities.
    """
    _, count, rows, columns = seen.planes.shape
    at = _places(position.size, columns)
    others = np.random.default_rng(position.stones_hash).permutation(list(Symmetry)[1:])[
        : symmetries - 1
    ]
    found = [evaluation]
    for symmetry in map(Symmetry, others.tolist()):
        shape = (columns, rows) if symmetry.transposes else (rows, columns)
        turned = _places(symmetry.size(position.size), shape[1])
        origins = at[symmetry_points(symmetry, position.size)]
        planes = np.zeros((1, count, *shape), np.float32)
        _points(planes)[:, turned] = _points(seen.planes)[:, origins]
        one = evaluator.submit(seen._replace(planes=planes)).result()
        policy, ownership = np.copy(evaluation.policy), np.copy(evaluation.ownership)
        policy[origins], policy[-1] = one.policy[0, turned], one.policy[0, -1]
        ownership.reshape(-1)[origins] = one.ownership.reshape(-1)[turned]
        image = Evaluation(*(field[0] for field in one))
        found.append(image._replace(policy=policy, ownership=ownership))
    mean = Evaluation(*(np.mean(field, 0) for field in zip(*found, strict=True)))
    squares = np.mean([each.score**2 + each.spread**2 for each in found])
    mask = position.legal_mask()
    legal = np.zeros(len(evaluation.policy), np.bool_)
    legal[at], legal[-1] = mask[:-1], mask[-1]
    return mean._replace(
        policy=np.log(np.mean([_softmax(each.policy, legal) for each in found], 0) + 1e-30),
        spread=np.sqrt(np.maximum(squares - mean.score**2, 0)),
    )


def _places(size: Size, columns: int) -> NDArray[np.int64]:
    """[area] where a board's points are in the network's arrays, which may be larger."""
    return (np.arange(size.height)[:, None] * columns + np.arange(size.width)).ravel()


def _points(planes: NDArray[np.float32]) -> NDArray[np.float32]:
    """[planes, height * width] the planes of one position, from [1, planes, height, width]."""
    return planes.reshape(planes.shape[1], -1)


def _softmax(logits: NDArray[np.float32], legal: NDArray[np.bool_]) -> NDArray[np.float32]:
    shares = np.where(legal, np.exp(logits - logits[legal].max()), 0)
    return np.asarray(shares / shares.sum(), np.float32)
