"""`tengen review`: a game with comments on every move, as SGF and as a page, and a summary."""

from __future__ import annotations

import threading
from pathlib import Path

from rich.box import SIMPLE
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from tengen.engine.engine import Engine
from tengen.frontends.options import ReviewOptions
from tengen.game.color import Color
from tengen.game.geometry import point_text
from tengen.game.sgf.records import SgfGame, load_sgf
from tengen.interrupt import interruptible
from tengen.reviewing.annotated_sgf import annotated_sgf
from tengen.reviewing.html_page import html_page
from tengen.reviewing.review import GameReview, Searched, main_line, review_game
from tengen.reviewing.wording import line_text, points_text, remarks, side_text
from tengen.terminal_console import TerminalConsole
from tengen.user_messages import say

CACHE_MEGABYTES = 128.0  # positions of a second look were seen in the first
LISTED = 5  # mistakes of each side in the summary


def run_review(file: str, options: ReviewOptions) -> GameReview:
    """Review the first game of a file, write what was found, and print a summary.

    Ctrl-C writes what is known by then, and raises KeyboardInterrupt. Raises ValueError.
    """
    games = load_sgf(file)
    game = games[0]
    if len(games) > 1:
        say(f"{file} has {len(games)} games; the first is reviewed")
    turns = main_line(game).turns  # what has none should not wait for a network
    folder = Path(options.out) if options.out else Path(file).parent
    folder.mkdir(parents=True, exist_ok=True)
    stop = threading.Event()
    engine = Engine(
        options.model,
        **options.placement,
        cache_megabytes=CACHE_MEGABYTES,
        first_game=turns[0].before,
    )
    with engine, interruptible(stop, "stopping; what is known is written (Ctrl-C again: at once)"):
        review = _with_progress(engine, game, len(turns), options.visits, stop)
    if not review.turns:
        say("no move was reviewed yet; nothing is written")
        raise KeyboardInterrupt
    written = [folder / f"{Path(file).stem}.review{ending}" for ending in (".sgf", ".html")]
    for path, text in zip(
        written, (annotated_sgf(game, review), html_page(game, review)), strict=True
    ):
        path.write_text(text, "utf-8", newline="\n")
    _print_summary(game, review, written)
    if stop.is_set():
        raise KeyboardInterrupt
    return review


def _with_progress(
    engine: Engine, game: SgfGame, moves: int, visits: int, stop: threading.Event
) -> GameReview:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=TerminalConsole(stderr=True)
    ) as progress:
        task = progress.add_task("searching", total=moves + 1)

        def on_turn(searched: Searched) -> None:
            stage = "searching" if searched.node is not None else "comparing"
            progress.update(task, description=stage, completed=searched.done, total=searched.total)

        return review_game(engine, game, visits, on_turn, stop.is_set)


def _print_summary(game: SgfGame, review: GameReview, written: list[Path]) -> None:
    console = TerminalConsole()
    height = game.size.height
    for color in Color:
        played = side_text(review, color)
        if played:
            name = game.player(color)
            who = f"{color.name.title()} ({name})" if name else color.name.title()
            console.print(Text(f"{who}: {played}"), soft_wrap=True)
    worst = [turn for color in Color for turn in review.side(color).mistakes[:LISTED]]
    if worst:
        table = Table("move", "", "lost", "win rate", "better", box=SIMPLE)
        for turn in sorted(worst, key=lambda turn: -turn.points_lost):
            table.add_row(
                str(turn.number),
                f"{turn.color.name.title()} {point_text(turn.move, height)}",
                points_text(turn.points_lost),
                f"{turn.winrate_lost:.0%}",
                line_text(turn.line, height),
            )
        console.print(table)
    for remark in remarks(review):
        say(remark)
    for path in written:
        console.print(Text(f"Written: {path}"), soft_wrap=True)
