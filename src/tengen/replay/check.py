"""Checks of game records, since kernels do not check their input."""

from __future__ import annotations

import numpy as np

from tengen.game.color import BLACK, WHITE
from tengen.game.geometry import MAX_SIDE
from tengen.game.kernels.board import SITUATIONAL_SUPERKO, TAX_ON_GROUPS
from tengen.selfplay.record import BY_DECISION, FULL, Games, offsets

MAX_WEIGHT = 1000.0  # rows that a turn may become


def check_games(games: Games) -> None:
    """Raise ValueError that names the first value which is impossible or inconsistent."""
    played, turns, targets = games.games, games.turns, games.targets
    width, height, terms = played["width"], played["height"], played["terms"]
    _demand((width >= 1) & (width <= MAX_SIDE), "the width of a board")
    _demand((height >= 1) & (height <= MAX_SIDE), "the height of a board")
    _demand(np.isfinite(terms["komi"]), "a komi")
    _demand((terms["ko_rule"] >= 0) & (terms["ko_rule"] <= SITUATIONAL_SUPERKO), "a ko rule")
    _demand((terms["tax"] >= 0) & (terms["tax"] <= TAX_ON_GROUPS), "a tax")
    for switch in ("suicide_allowed", "territory", "friendly_pass", "button"):
        _demand((terms[switch] == 0) | (terms[switch] == 1), f"a rule ({switch})")
    _demand((played["end"] >= 0) & (played["end"] <= BY_DECISION), "the end of a game")
    _demand(np.isfinite(played["score"]), "the score of a game")
    area = width * height
    for count, array, what in (
        (played["n_turns"], turns, "turns"),
        (played["n_targets"], targets, "targets"),
        (area, games.ownership, "points"),
    ):
        _demand(count >= 0, f"the number of {what} of a game")
        _demand(np.array(count.sum(dtype=np.int64) == len(array)), f"the number of {what}")
    area_of_turn = np.repeat(area, played["n_turns"])
    n_targets = turns["n_targets"]
    _demand(turns["place"] <= area_of_turn, "the place of a move")
    _demand((turns["color"] == BLACK) | (turns["color"] == WHITE), "the colour of a move")
    _demand(turns["kind"] <= FULL, "the kind of a turn")
    weight = turns["weight"]
    _demand((weight >= 0) & (weight <= MAX_WEIGHT), "the weight of a turn")
    for number in ("value", "no_result", "score", "lead"):
        _demand(np.isfinite(turns[number]), f"a search result ({number})")
    # By game, so that one game's surplus cannot hide another's lack.
    by_game = offsets(n_targets)[offsets(played["n_turns"])]
    _demand(by_game == offsets(played["n_targets"]), "the number of targets of a turn")
    _demand(targets["place"] <= np.repeat(area_of_turn, n_targets), "the place of a target")
    _demand((games.ownership >= -1) & (games.ownership <= 1), "the owner of a point")


def _demand(holds: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], what: str) -> None:
    if not holds.all():
        raise ValueError(f"{what} is impossible")
