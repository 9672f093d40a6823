"""Reviews as flat rows of plain values, for pandas, polars or csv."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tengen.engine.engine import Engine
from tengen.engine.search_many import OnDone, reporting
from tengen.game.color import Color
from tengen.game.geometry import point_text
from tengen.game.sgf.files import sgf_files
from tengen.game.sgf.records import SgfError, SgfGame, load_sgf
from tengen.reviewing.review import DEFAULT_VISITS, GameReview, main_line, review_game
from tengen.user_messages import say


def analyse(
    games: str | Path | SgfGame | Iterable[str | Path | SgfGame],
    engine: Engine | None = None,
    *,
    visits: int = DEFAULT_VISITS,
    progress: bool | OnDone = False,
) -> list[dict[str, Any]]:
    """Review games and return a row for each of their moves.

    Games are SGF files with any number of games, folders of such, or games that were loaded. Those
    that cannot be reviewed are named on stderr and left out. Without an engine the bundled networks
    are used. Columns that begin with `black_` are for Black, those that end with `_lost` for the
    side that moved. `progress` is as in `Engine.search_many`, by moves. Raises SgfError if there is
    no game.
    """
    chosen = [games] if isinstance(games, str | Path | SgfGame) else list(games)
    loaded = list(_reviewable(chosen))
    if not loaded:
        raise SgfError(", ".join(map(str, chosen)) or "games", 0, "there is no game to review")
    total = sum(len(main_line(game).turns) for game in loaded)
    rows: list[dict[str, Any]] = []
    with ExitStack() as opened:
        engine = engine or opened.enter_context(Engine())
        report = opened.enter_context(reporting(progress))
        for number, game in enumerate(loaded, 1):
            review = review_game(engine, game, visits)
            rows += [{"game": number, **row} for row in review_rows(review, game)]
            report(len(rows), total)
    return rows


def review_rows(review: GameReview, game: SgfGame) -> Iterator[dict[str, Any]]:
    """A flat row for each move of a review."""
    outcome = game.outcome
    of_game = {
        "source": game.source,
        "black": game.player(Color.BLACK),
        "white": game.player(Color.WHITE),
        "result": "" if outcome is None else str(outcome),
        "size": str(game.size),
        "network": review.network,
        "trained_for_it": review.unfamiliar is None,
    }
    height = game.size.height
    for turn in review.turns:
        yield {
            **of_game,
            "move_number": turn.number,
            "color": str(turn.color),
            "move": point_text(turn.move, height),
            "best": point_text(turn.best, height),
            "best_line": " ".join(point_text(move, height) for move in turn.line),
            "points_lost": turn.points_lost,
            "winrate_lost": turn.winrate_lost,
            "black_winrate_before": turn.before.winrate,
            "black_lead_before": turn.before.lead,
            "black_winrate": turn.after.winrate,
            "black_lead": turn.after.lead,
            "visits": turn.visits,
        }


def _reviewable(games: Iterable[str | Path | SgfGame]) -> Iterator[SgfGame]:
    """The games with moves; what is wrong with others is said on stderr."""
    for each in games:
        sources = [each] if isinstance(each, SgfGame) else sgf_files([each])
        for source in sources:
            try:
                for game in [source] if isinstance(source, SgfGame) else load_sgf(source):
                    main_line(game)
                    yield game
            except SgfError as error:
                say(f"left out: {error}")
