"""`tengen review`: games with comments on every move, as SGF and as pages, and a summary."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.box import SIMPLE
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from tengen.atomic_files import replace_text, why_not_writable
from tengen.engine.engine import Engine
from tengen.frontends.command_options import ReviewOptions
from tengen.game.color import Color
from tengen.game.geometry import point_text
from tengen.game.sgf.files import WRITTEN, sgf_files
from tengen.game.sgf.records import SgfGame, load_sgf
from tengen.interrupt import interruptible
from tengen.reviewing.annotated_sgf import annotated_sgf
from tengen.reviewing.html_page import check_language, html_page
from tengen.reviewing.review import GameReview, Searched, Turn, main_line, review_game
from tengen.reviewing.wording import line_text, points_text, remarks, side_text
from tengen.terminal_console import TerminalConsole
from tengen.user_messages import say

CACHE_MEGABYTES = 128.0  # positions of a second look were seen in the first
LISTED = 5  # mistakes of each side in the summary


def run_reviews(sources: Sequence[str], options: ReviewOptions) -> list[GameReview]:
    """Review the first game of each file, and of each SGF file in folders; write what was found.

    Of several games, those that cannot be reviewed are named and left out. Ctrl-C writes what is
    known by then, and raises KeyboardInterrupt. Raises ValueError.
    """
    check_language(options.language)
    games = _load(sources)
    _check_targets(games, options)
    stop = threading.Event()
    engine = Engine(
        options.model,
        **options.placement,
        cache_megabytes=CACHE_MEGABYTES,
        first_game=games[0].turns[0].before,
    )
    with engine, interruptible(stop, "stopping; what is known is written (Ctrl-C again: at once)"):
        reviews = _with_progress(engine, games, options, stop)
    if not reviews:
        say("no move was reviewed yet; nothing is written")
        raise KeyboardInterrupt
    if len(games) == 1:
        _print_summary(games[0].game, reviews[0], _targets(games[0].file, options))
    else:
        reviewed = [(game.file, review) for game, review in zip(games, reviews, strict=False)]
        _print_table(reviewed, f"to {options.out}" if options.out else "beside each game")
    if stop.is_set():
        raise KeyboardInterrupt
    return reviews


class _Loaded(NamedTuple):
    file: Path
    game: SgfGame
    turns: tuple[Turn, ...]


def _load(sources: Sequence[str]) -> list[_Loaded]:
    """The games to review; raises ValueError if there is none, or if the only one cannot be."""
    files = sgf_files(sources)
    found = []
    for file in files:
        try:
            games = load_sgf(file)
            turns = main_line(games[0]).turns  # what has none should not wait for a network
        except ValueError as error:
            if len(files) == 1:
                raise
            say(f"left out: {error}")
            continue
        if len(games) > 1:
            say(f"{file} has {len(games)} games; the first is reviewed")
        found.append(_Loaded(file, games[0], turns))
    if not found:
        where = ", ".join(map(str, sources))
        raise ValueError(f"there is no game to review in {where}; name SGF files, or their folder")
    return found


def _targets(file: Path, options: ReviewOptions) -> list[Path]:
    folder = Path(options.out) if options.out else file.parent
    return [folder / f"{file.stem}{ending}" for ending in WRITTEN]


def _check_targets(games: Sequence[_Loaded], options: ReviewOptions) -> None:
    """Raise ValueError where two reviews would be written to the same file, or one to none."""
    taken: dict[Path, Path] = {}
    for game in games:
        other = taken.setdefault(_targets(game.file, options)[0], game.file)
        if other is not game.file:
            what = f"{other} and {game.file} have one name, and {options.out} takes one of them"
            raise ValueError(f"{what}; review them without --out, or one by one")
    for folder in dict.fromkeys(target.parent for target in taken):
        if reason := why_not_writable(folder):
            raise ValueError(f"{reason}; name another folder: --out FOLDER")


def _with_progress(
    engine: Engine, games: Sequence[_Loaded], options: ReviewOptions, stop: threading.Event
) -> list[GameReview]:
    """Review games in turn under one progress bar, each written when it is done."""
    reviews: list[GameReview] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=TerminalConsole(stderr=True)
    ) as progress:
        left = sum(len(game.turns) + 1 for game in games)  # positions, as far as is known
        task = progress.add_task("searching", total=left)
        done = 0
        for number, each in enumerate(games, 1):
            left -= len(each.turns) + 1
            of = f" game {number} of {len(games)}" if len(games) > 1 else ""
            searched_before = done

            def on_turn(
                searched: Searched, of: str = of, before: int = searched_before, after: int = left
            ) -> None:
                nonlocal done
                done = before + searched.done
                stage = "searching" if searched.node is not None else "comparing"
                total = before + searched.total + after
                progress.update(task, description=f"{stage}{of}", completed=done, total=total)

            review = review_game(engine, each.game, options.visits, on_turn, stop.is_set)
            if review.turns:
                _write(each, review, options)
                reviews.append(review)
            if stop.is_set():
                break
    return reviews


def _write(loaded: _Loaded, review: GameReview, options: ReviewOptions) -> None:
    page = html_page(loaded.game, review, options.language)
    texts = annotated_sgf(loaded.game, review), page
    for path, text in zip(_targets(loaded.file, options), texts, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)


def _print_table(reviews: Sequence[tuple[Path, GameReview]], where: str) -> None:
    """A line for each of several games, and where their reviews were written."""
    table = Table("game", "moves", "Black", "White", "worst", "lost", box=SIMPLE)
    for file, review in reviews:
        worst = max(review.turns, key=lambda turn: turn.points_lost)
        losses = (f"{review.side(color).mean_loss:.2f} a move" for color in Color)
        what = f"{worst.number}, {worst.color.name.title()}"
        table.add_row(
            Text(file.name),
            str(len(review.turns)),
            *losses,
            what,
            points_text(worst.points_lost),
        )
    console = TerminalConsole()
    console.print(table)
    for remark in dict.fromkeys(remark for _, review in reviews for remark in remarks(review)):
        say(remark)
    console.print(Text(f"Written {where}: {' and '.join(WRITTEN)}"), soft_wrap=True)


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
