"""The command line: one function a command. Options are declared by dataclasses.

All heavy imports are inside the functions: `tengen gtp` must answer at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import tengen
from tengen.atomic_files import replace_text
from tengen.engine.settings import MODEL, EngineOptions, NetworkOptions
from tengen.frontends.command_options import (
    ALL_PRECISIONS,
    AnalysisOptions,
    BenchmarkOptions,
    DistilOptions,
    ExportOptions,
    GtpOptions,
    MatchOptions,
    PlayOptions,
    ProblemsOptions,
    ReviewOptions,
    SelfPlayOptions,
    SweepOptions,
    TrainOptions,
    VerifyOptions,
    write_settings,
)
from tengen.frontends.typer_options import with_options
from tengen.interrupt import cause_of, end_at_once, end_process, raise_when_terminated
from tengen.network.files.bundled import BUNDLED
from tengen.pip_package import EXTRAS, install_command
from tengen.user_messages import failure_text, say


# What to do about an error of a file that nobody foresaw.
class _CommandGroup(TyperGroup):
    """The commands, each of which a signal ends without a crash."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; lists show the whole first paragraph of its help, which would be cut."""
        command = super().get_command(ctx, cmd_name)
        if command is not None and command.help and not command.short_help:
            command.short_help = " ".join(command.help.split("\n\n")[0].split())
        return command

    def invoke(self, ctx: Any) -> object:
        """Run a command; typer itself would let Python end as usual after an interrupt."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            end_at_once(error)


app = typer.Typer(
    cls=_CommandGroup,
    help="A complete Go AI in Python.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

net = typer.Typer(
    cls=_CommandGroup,
    help="Keep network files, look into them and convert them.",
    rich_markup_mode=None,
)
app.add_typer(net, name="net")

problems = typer.Typer(
    cls=_CommandGroup,
    help="Make problems of life and death out of games, and check them.",
    rich_markup_mode=None,
)
app.add_typer(problems, name="problems")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tengen {tengen.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # noqa: ARG001 (its callback does it)
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
    module: Annotated[
        list[str],
        typer.Option(
            metavar="FILE.py", help="Run this Python file first; it registers a trunk of your own."
        ),
    ] = [],  # noqa: B006 (typer wants it so)
) -> None:
    from tengen.network.own_trunks import load_module

    for file in module:
        load_module(file)


@app.command()
@with_options
def play(options: PlayOptions) -> None:
    """Play, analyse and review in the browser; or play in the terminal."""
    from tengen.engine.levels import level_named
    from tengen.game.color import parse_color
    from tengen.game.position import Position

    opponent, human = level_named(options.level), parse_color(options.color)
    position = Position(options.board_size, options.rules, options.komi)
    if options.terminal:
        from tengen.engine.engine import Engine
        from tengen.frontends.terminal_game import play_in_terminal

        with Engine(
            options.model,
            **options.placement,
            human_model=options.human_model,
            first_game=position,
        ) as engine:
            play_in_terminal(engine, opponent, position, human, options.seed)
        return
    from tengen.frontends.web.http.serve import play_in_browser

    play_in_browser(options, position, human, opponent)


@net.command("list")
def net_list() -> None:
    """List the networks and architectures that have names, and say where to get more networks."""
    from tengen.frontends.network_files import list_networks

    list_networks()


@net.command("add")
def net_add(
    source: Annotated[str, typer.Argument(metavar="FILE_OR_ADDRESS", help="Such as b18.bin.gz.")],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its name; by default that of the file.")
    ] = None,
    sha256: Annotated[
        str | None, typer.Option("--sha256", metavar="HEX", help="The checksum it must have.")
    ] = None,
) -> None:
    """Keep a network, from a file or an address, under a name that every --model understands."""
    from tengen.frontends.network_files import add_to_library

    add_to_library(source, name, sha256)


@net.command("remove")
def net_remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A network that was added.")],
) -> None:
    """Remove a network that was added."""
    from tengen.frontends.network_files import remove_from_library

    remove_from_library(name)


@net.command("info")
def net_info(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of Tengen's or KataGo's.")],
) -> None:
    """Show what is in a network file."""
    from tengen.frontends.network_files import show_network

    show_network(file)


@net.command("import")
def net_import(
    file: Annotated[str, typer.Argument(metavar="KATAGO_FILE", help="Such as b18.bin.gz.")],
    out: Annotated[
        str | None,
        typer.Argument(
            metavar="OUT", help="File to write; by default in this folder, ending in .safetensors."
        ),
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="Store float16: half the size.")] = False,
) -> None:
    """Convert a network of KataGo's to Tengen's format."""
    from tengen.frontends.network_files import import_network

    import_network(file, out, half)


@net.command("export")
@with_options
def net_export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of Tengen's or KataGo's.")],
    options: ExportOptions,
) -> None:
    """Convert a network to other programs' formats, or make it smaller."""
    from tengen.frontends.network_files import export_network

    export_network(file, options)


@net.command("verify")
@with_options
def net_verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of Tengen's or KataGo's.")],
    options: VerifyOptions,
) -> None:
    """Compare what two libraries compute from a network; fails if they differ beyond rounding."""
    from tengen.frontends.network_files import verify_network

    if not verify_network(file, options):
        raise typer.Exit(1)


@app.command()
@with_options
def match(
    first: Annotated[
        str,
        typer.Argument(
            metavar="ENGINE",
            help="NET@VISITS, NET@SECONDSs, level:NAME, firstday, gtp:COMMAND; NET may be bundled.",
        ),
    ],
    second: Annotated[str, typer.Argument(metavar="ENGINE", help="Its opponent.")],
    options: MatchOptions,
) -> None:
    """Let two engines play, and say how much stronger one is."""
    from tengen.evaluation.match import parse_engine
    from tengen.frontends.match import run_match

    run_match((parse_engine(first), parse_engine(second)), options)


@app.command()
@with_options
def gtp(options: GtpOptions) -> None:
    """Speak GTP on stdin and stdout, for Sabaki, Lizzie, q5Go, GoGui and servers."""
    from tengen.frontends.gtp.run import run_gtp

    run_gtp(options)
    end_process()


@app.command()
@with_options
def analysis(options: AnalysisOptions) -> None:
    """Speak KataGo's JSON analysis protocol, for KaTrain and other programs."""
    from tengen.frontends.analysis.server import run_analysis

    run_analysis(options)
    end_process()


@app.command()
@with_options
def review(
    games: Annotated[
        list[str], typer.Argument(metavar="GAMES...", help="SGF files, and folders with such.")
    ],
    options: ReviewOptions,
) -> None:
    """Review games: GAME.review.sgf with comments and better lines, GAME.review.html to look at.

    Ctrl-C writes what has been reviewed so far.
    """
    from tengen.frontends.review import run_reviews

    run_reviews(games, options)


@app.command()
@with_options
def train(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Folder of the run, new or old.")],
    options: TrainOptions,
    serve: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=0, max=65535, help="Show it learning on a page there."),
    ] = None,
) -> None:
    """Train a network: from nothing by self-play, or from game records.

    Ctrl-C saves and stops; the same command resumes.
    """
    from tengen.frontends.train import run_training

    run_training(run, options, partial(shown_at, serve))


@contextmanager
def shown_at(port: int | None, folder: str) -> Iterator[None]:
    """Show the run in a folder on a web page at this port, if there is one; raises ValueError.

    Training without a page needs no web server.
    """
    if port is None:
        yield
        return
    try:
        from tengen.frontends.web.runs.serve import RunPage
    except ImportError as error:
        need = f"--serve needs a web server ({error})"
        raise ValueError(f"{need}: pip install fastapi uvicorn, or train without it") from None
    with RunPage(Path(folder), port) as page:
        say(f"watch it learn at {page.address}")
        yield
    say(f"its page is closed; look at it again with: tengen play --run {folder}")


@app.command()
@with_options
def distil(
    teacher: Annotated[str, typer.Argument(metavar="TEACHER", help="The network to learn from.")],
    run: Annotated[str, typer.Argument(metavar="RUN", help="Folder of the run, new or old.")],
    options: DistilOptions,
    serve: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=0, max=65535, help="Show it learning on a page there."),
    ] = None,
) -> None:
    """Train a network to give the same answers as another, usually larger one.

    Ctrl-C saves and stops; the same command resumes, and so does `tengen train RUN`.
    """
    from tengen.frontends.distil import as_training
    from tengen.frontends.train import run_training

    run_training(run, as_training(teacher, run, options), partial(shown_at, serve))


@app.command()
@with_options
def sweep(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="Settings file, or the name of a recipe.")
    ],
    options: SweepOptions,
) -> None:
    """Train a recipe with several settings and seeds, and draw their curves with intervals.

    Ctrl-C saves and stops; the same command resumes.
    """
    from tengen.frontends.sweep import run_sweep

    run_sweep(recipe, options)


@app.command()
@with_options
def selfplay(
    options: SelfPlayOptions,
    model: Annotated[str, typer.Argument(metavar="NETWORK", help=MODEL)] = BUNDLED,
) -> None:
    """Let a network play itself, and write the games as shards and SGF."""
    from tengen.frontends.selfplay import run_self_play
    from tengen.selfplay.params import SelfPlayParams

    if options.rows not in (None, "katago"):
        raise typer.BadParameter("rows are written for KataGo alone: --rows katago")
    sizes = (options.board_size,)
    params = SelfPlayParams(visits=options.visits, board_sizes=sizes, stagger=False)
    run_self_play(model, params, options)


@problems.command("make")
@with_options
def problems_make(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where they go, new or old.")],
    options: ProblemsOptions,
    games: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAMES]...", help="SGF files or folders; by default games are played."
        ),
    ] = None,
) -> None:
    """Find positions in games where one move decides the fate of stones; solve and grade them.

    Ctrl-C stops; the same command resumes.
    """
    from tengen.frontends.problems import make_problems

    make_problems(folder, games or [], options)


@problems.command("check")
def problems_check(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="By default the problems that come with Tengen."),
    ] = None,
) -> None:
    """Check each problem of a file by the rules and by a new search of its region."""
    from tengen.frontends.problems import check_problems

    if not check_problems(file):
        raise typer.Exit(1)


@app.command()
@with_options
def benchmark(options: BenchmarkOptions) -> None:
    """Measure how fast searches are with batches of different sizes, and recommend settings."""
    from tengen.frontends.benchmark import run_benchmark
    from tengen.frontends.precision_benchmark import compare_precisions

    if options.precision == ALL_PRECISIONS:
        compare_precisions(options)
    else:
        run_benchmark(options)


@app.command("config")
@with_options
def write_settings_file(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Such as tengen.toml.")],
    options: NetworkOptions,
) -> None:
    """Write a settings file with each setting explained; `tengen benchmark --config` tunes it."""
    if Path(file).exists():
        raise ValueError(f"{file} exists; name another file, or remove it")
    engine = EngineOptions(model=options.model, **options.placement)
    replace_text(Path(file), write_settings({"engine": engine}))


@app.command()
@with_options
def doctor(options: NetworkOptions) -> None:
    """Show what is installed, what would run networks, what is missing, and whether it works."""
    from tengen.frontends.doctor import examine

    if not examine(options):
        raise typer.Exit(1)


@app.command("uninstall-data")
def uninstall_data(
    caches: Annotated[
        bool, typer.Option("--caches", help="Remove only caches, which are made again when needed.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove all files that Tengen keeps for you: caches, games of the page, networks."""
    from tengen.frontends.uninstall import remove_files

    remove_files(caches_only=caches, sure=yes)


@app.command()
def docs(
    page: Annotated[
        str | None,
        typer.Argument(metavar="PAGE", help="Such as training; by default the list of pages."),
    ] = None,
) -> None:
    """Show the documentation, which comes with Tengen and needs no network."""
    from tengen.frontends.docs import show_documents

    show_documents(page)


def main() -> None:
    """Run a command. An error is one line on stderr, not a traceback.

    Exit code 2: bad usage or bad input; 1: anything else; 128 and the number of a signal that
    ended it.
    """
    raise_when_terminated()
    try:
        raise SystemExit(app(_arguments(), "tengen", standalone_mode=False) or 0)
    except typer.Abort:
        raise SystemExit(130) from None
    except Exception as error:
        if os.environ.get("TENGEN_TRACEBACK"):
            raise
        if (interrupt := cause_of(error)) is not None:
            end_at_once(interrupt)
        message, status = _explained(error)
        say(" ".join(message.split()))
        raise SystemExit(status) from None


def _arguments() -> list[str]:
    """The words of the command line; KataGo's options have one hyphen."""
    words = sys.argv[1:] or ["--help"]
    if words[0] not in ("gtp", "analysis"):
        return words
    from tengen.frontends.katago_settings import with_double_hyphens

    return with_double_hyphens(words)


def _explained(error: Exception) -> tuple[str, int]:
    """The message for the user, and the exit code."""
    if hasattr(error, "format_message"):  # of the command line's parser
        command = getattr(getattr(error, "ctx", None), "command_path", "tengen")
        return f"{error.format_message()} ({command} --help shows what there is)", 2
    if isinstance(error, ValueError):
        return str(error), getattr(error, "exit_status", 2)
    if isinstance(error, ModuleNotFoundError) and (extra := EXTRAS.get(error.name or "")):
        return f"this needs {error.name}, which is not installed: {install_command(extra)}", 1
    if isinstance(error, OSError):
        return f"{error.filename or 'input or output'}: {failure_text(error)}", 1
    what = f"{type(error).__name__}: {error}"
    return f"internal error: {what} (set TENGEN_TRACEBACK=1 to see where)", 1
