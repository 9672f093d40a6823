"""The command line: names, options and help texts. What the commands do is in the layers below."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

import tengen
from tengen.frontends.loopback import LOOPBACK
from tengen.network.backends.registry import AUTO, DEVICES, TRAINING_DEVICES
from tengen.network.files.bundled import BUNDLED
from tengen.user_messages import say

MODEL = "A network file of Tengen's or KataGo's; else the one that comes with Tengen."
SEED = "The same one makes the same moves; else each game has its own."
DEVICE = f"One of {', '.join(DEVICES)}."
TRAINING_DEVICE = f"One of {', '.join(TRAINING_DEVICES)}."
LEVEL = "Strength, from beginner to full; docs/levels.md lists them."

app = typer.Typer(
    help="A complete Go AI in Python.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

net = typer.Typer(help="Look into network files and convert them.", rich_markup_mode=None)
app.add_typer(net, name="net")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tengen {tengen.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def play(
    model: Annotated[str, typer.Option(help=MODEL)] = BUNDLED,
    level: Annotated[str, typer.Option(help=LEVEL)] = "casual",
    board_size: Annotated[int, typer.Option(min=2, max=19, help="Side of the board.")] = 9,
    rules: Annotated[str, typer.Option(help="Name of a rule set, such as chinese.")] = "chinese",
    komi: Annotated[float | None, typer.Option(help="Points for White.")] = None,
    color: Annotated[str, typer.Option(help="Your colour: black or white.")] = "black",
    device: Annotated[str, typer.Option(help=DEVICE)] = AUTO,
    host: Annotated[str, typer.Option(help="Where to serve; elsewhere, with a token.")] = LOOPBACK,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="0: any; else the usual one, or the next.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="What browsers elsewhere must know; made up if need be.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Show a training run, too.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
    terminal: Annotated[bool, typer.Option("--terminal", help="Play in the terminal.")] = False,
    seed: Annotated[int | None, typer.Option(help=SEED)] = None,
) -> None:
    """Play, analyse and review in the browser; or play in the terminal."""
    from tengen.engine.levels import level_named
    from tengen.game.color import parse_color
    from tengen.game.position import Position

    opponent, human = level_named(level), parse_color(color)
    position = Position(board_size, rules, komi)
    if terminal:
        from tengen.engine.engine import Engine
        from tengen.frontends.terminal import play_in_terminal

        with Engine(model, device=device) as engine:
            play_in_terminal(engine, opponent, position, human, _seed(seed))
        return
    from tengen.frontends.web.http.serve import WebOptions, play_in_browser

    options = WebOptions(model, device, host, port, token, run, browser)
    play_in_browser(options, position, human, opponent)


@net.command("list")
def net_list() -> None:
    """List the architectures that have names, with their size and cost."""
    from tengen.frontends.net import list_architectures

    list_architectures()


@net.command("info")
def net_info(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of Tengen's or KataGo's.")],
) -> None:
    """Show what is in a network file."""
    from tengen.frontends.net import show_network

    show_network(file)


@net.command("import")
def net_import(
    file: Annotated[str, typer.Argument(metavar="KATAGO_FILE", help="Such as b18.bin.gz.")],
    out: Annotated[
        str | None,
        typer.Argument(metavar="OUT", help="File to write; else here, ending .safetensors."),
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="Store float16: half the size.")] = False,
) -> None:
    """Convert a network of KataGo's to Tengen's format."""
    from tengen.frontends.net import import_network

    import_network(file, out, half)


@net.command("export")
def net_export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of Tengen's or KataGo's.")],
    katago: Annotated[
        str | None, typer.Option(metavar="OUT.bin.gz", help="Write a file that KataGo reads.")
    ] = None,
    onnx: Annotated[
        str | None, typer.Option(metavar="OUT.onnx", help="Write ONNX; needs tengen[train].")
    ] = None,
    half: Annotated[
        str | None,
        typer.Option(metavar="OUT.safetensors", help="Write Tengen's own format as float16."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="What it is called then, with --half.")] = None,
    rules: Annotated[
        str | None,
        typer.Option(help="With --half: it learned by these alone, and takes others for them."),
    ] = None,
) -> None:
    """Convert a network to other programs' formats, or make it smaller."""
    from tengen.frontends.net import export_as_half, export_to_katago, export_to_onnx

    if katago is None and onnx is None and half is None:
        formats = "--katago OUT.bin.gz, --onnx OUT.onnx or --half OUT.safetensors"
        raise typer.BadParameter(f"say what to write: {formats}")
    if katago is not None:
        export_to_katago(file, katago)
    if onnx is not None:
        export_to_onnx(file, onnx)
    if half is not None:
        export_as_half(file, half, name, rules)


@app.command()
def match(
    first: Annotated[
        str,
        typer.Argument(
            metavar="ENGINE",
            help="NET@VISITS, NET@SECONDSs, level:NAME or gtp:COMMAND; NET may be bundled.",
        ),
    ],
    second: Annotated[str, typer.Argument(metavar="ENGINE", help="Its opponent.")],
    games: Annotated[int, typer.Option(min=1, help="Games, half with each colour.")] = 100,
    board_size: Annotated[int, typer.Option(min=2, max=19, help="Side of the board.")] = 9,
    rules: Annotated[str, typer.Option(help="Name of a rule set.")] = "tromp-taylor",
    komi: Annotated[float, typer.Option(help="Points for White.")] = 7.0,
    opening_moves: Annotated[
        int, typer.Option(min=0, help="Moves drawn from a network's policy to begin with.")
    ] = 4,
    parallel: Annotated[int, typer.Option(min=1, help="Games at a time with GTP engines.")] = 2,
    sprt: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOW HIGH", help="Stop when the Elo is clearly below or above."),
    ] = None,
    device: Annotated[str, typer.Option(help=DEVICE)] = AUTO,
    seed: Annotated[int, typer.Option(help="Seed of openings and searches.")] = 1,
    out: Annotated[
        str | None, typer.Option(help="Folder for results and games; a stopped match goes on.")
    ] = None,
) -> None:
    """Let two engines play, and say how much stronger one is."""
    from tengen.evaluation.engine_spec import parse_engine
    from tengen.evaluation.sprt import Sprt
    from tengen.frontends.match import MOVES_PER_POINT, MatchOptions, run_match
    from tengen.game.position import Position

    limit = MOVES_PER_POINT * board_size**2
    empty = Position(board_size, rules, komi, move_limit=limit)
    engines = parse_engine(first), parse_engine(second)
    test = Sprt(*sprt) if sprt else None
    options = MatchOptions(games, opening_moves, parallel, device, seed, out, test)
    run_match(engines, empty, options)


@app.command()
def gtp(
    model: Annotated[str | None, typer.Option(help=MODEL)] = None,
    level: Annotated[str | None, typer.Option(help=LEVEL)] = None,
    visits: Annotated[int | None, typer.Option(min=1, help="For each move.")] = None,
    seconds: Annotated[float | None, typer.Option(help="For each move.")] = None,
    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Fewer visits where the move is clear.")
    ] = False,
    board_size: Annotated[int, typer.Option(min=2, max=19, help="Until the client sets it.")] = 19,
    rules: Annotated[str, typer.Option(help="Name of a rule set.")] = "tromp-taylor",
    komi: Annotated[float | None, typer.Option(help="Points for White.")] = None,
    resign: Annotated[bool, typer.Option(help="Give up lost games.")] = True,
    ponder: Annotated[bool, typer.Option(help="Think while the opponent does.")] = False,
    name: Annotated[str, typer.Option(help="What the client is told.")] = "Tengen",
    device: Annotated[str | None, typer.Option(help=DEVICE)] = None,
    seed: Annotated[int | None, typer.Option(help=SEED)] = None,
    config: Annotated[str | None, typer.Option(metavar="FILE", help="Settings.")] = None,
    log: Annotated[str | None, typer.Option(metavar="FILE", help="Keep all that is said.")] = None,
) -> None:
    """Speak GTP on stdin and stdout, for Sabaki, Lizzie, q5Go, GoGui and servers."""
    from tengen.frontends.gtp import GtpOptions, run_gtp

    options = GtpOptions(
        model=model or BUNDLED,
        device=device or AUTO,
        level=level,
        visits=visits,
        seconds=seconds,
        adaptive=adaptive,
        rules=rules,
        komi=komi,
        board_size=board_size,
        resign=resign,
        ponder=ponder,
        seed=_seed(seed),
        name=name,
        log_file=log,
    )
    if config is not None:
        from dataclasses import replace

        from tengen.engine.settings import load_config

        settings = load_config(config)
        options = replace(
            options,
            model=model or settings.engine.model,
            device=device or settings.engine.device,
            # A level has limits of its own; only who says others on the command line is refused.
            visits=visits or (None if level else settings.engine.visits),
            seconds=seconds or (None if level else settings.engine.seconds or None),
            leaves=settings.engine.leaves or None,
            params=settings.search,
        )
    run_gtp(options)


@app.command()
def analysis(
    model: Annotated[str, typer.Option(help=MODEL)] = BUNDLED,
    visits: Annotated[int, typer.Option(min=1, help="Where a query does not say.")] = 500,
    searches: Annotated[
        int | None, typer.Option(min=1, help="Positions at a time; else what suits the device.")
    ] = None,
    perspective: Annotated[
        str, typer.Option(help="Whose win rates: BLACK, WHITE or SIDETOMOVE.")
    ] = "BLACK",
    listen: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Serve a WebSocket in place of stdin.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="What WebSocket clients must know; needed beyond loopback.")
    ] = None,
    quit_without_waiting: Annotated[
        bool, typer.Option("--quit-without-waiting", help="Drop open queries at the end of input.")
    ] = False,
    device: Annotated[str, typer.Option(help=DEVICE)] = AUTO,
    log: Annotated[str | None, typer.Option(metavar="FILE", help="Keep all that is said.")] = None,
) -> None:
    """Speak KataGo's JSON analysis protocol, for KaTrain and other programs."""
    from tengen.frontends.analysis.options import AnalysisOptions
    from tengen.frontends.analysis.server import run_analysis

    run_analysis(
        AnalysisOptions(
            model=model,
            device=device,
            visits=visits,
            searches=searches,
            perspective=perspective,
            quit_without_waiting=quit_without_waiting,
            listen=listen,
            token=token,
            log=log,
        )
    )


@app.command()
def review(
    game: Annotated[str, typer.Argument(metavar="GAME.sgf", help="The game.")],
    visits: Annotated[int, typer.Option(min=2, help="For each position.")] = 100,
    model: Annotated[
        str | None, typer.Option(help="A network file; else the one that comes with Tengen.")
    ] = None,
    device: Annotated[str, typer.Option(help=DEVICE)] = AUTO,
    out: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where to write; else beside the game.")
    ] = None,
) -> None:
    """Review a game: GAME.review.sgf with comments and better lines, GAME.review.html to look at.

    Ctrl-C writes what is known by then.
    """
    from tengen.frontends.review import ReviewOptions, run_review

    run_review(game, ReviewOptions(visits=visits, model=model, device=device, out=out))


@app.command()
def train(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Folder of the run, new or old.")],
    minutes: Annotated[float | None, typer.Option(help="How long the whole run takes.")] = None,
    games: Annotated[int | None, typer.Option(help="Or how many games.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Or how many iterations.")] = None,
    model: Annotated[
        str | None, typer.Option(help="Architecture, such as b6c96; see `tengen net list`.")
    ] = None,
    board_size: Annotated[
        int | None, typer.Option(min=2, max=19, help="Side of the board.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="A recipe: katago (the default), gumbel or tutorial.")
    ] = None,
    config: Annotated[str | None, typer.Option(metavar="FILE", help="Settings.")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="One of them, as in training.rate=0.001."),
    ] = None,
    device: Annotated[str | None, typer.Option(help=TRAINING_DEVICE)] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of weights and games.")] = None,
    serve: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="Show it learning on a page at this port."
        ),
    ] = None,
) -> None:
    """Learn from nothing by self-play; started again it goes on. Ctrl-C saves and stops."""
    from tengen.frontends.train import TrainOptions, run_training

    settings = tuple(setting or ())
    run_training(
        run,
        TrainOptions(
            preset,
            config,
            model,
            board_size,
            device,
            seed,
            minutes,
            games,
            iterations,
            settings,
        ),
        serve,
    )


@app.command()
def selfplay(
    out: Annotated[str, typer.Option(metavar="FOLDER", help="Where the games go.")],
    model: Annotated[str, typer.Argument(metavar="NETWORK", help=MODEL)] = BUNDLED,
    games: Annotated[int, typer.Option(min=1, help="How many.")] = 1000,
    board_size: Annotated[int, typer.Option(min=2, max=19, help="Side of the board.")] = 9,
    visits: Annotated[int, typer.Option(min=1, help="Of full searches.")] = 96,
    sgf: Annotated[bool, typer.Option(help="Write each game as SGF, too.")] = True,
    rows: Annotated[
        str | None, typer.Option(metavar="katago", help="Write training rows for KataGo, too.")
    ] = None,
    device: Annotated[str, typer.Option(help=DEVICE)] = AUTO,
    seed: Annotated[int, typer.Option(help="Seed of the games.")] = 1,
) -> None:
    """Let a network play itself, and write the games as shards and SGF."""
    from tengen.frontends.selfplay import SelfPlayOptions, run_self_play
    from tengen.selfplay.params import SelfPlayParams

    if rows not in (None, "katago"):
        raise typer.BadParameter("rows are written for katago alone: --rows katago")
    params = SelfPlayParams(visits=visits, board_sizes=(board_size,), stagger=False)
    options = SelfPlayOptions(Path(out), games, sgf, rows == "katago", device, seed)
    run_self_play(model, params, options)


@app.command()
def benchmark(
    model: Annotated[str, typer.Option(help=MODEL)] = BUNDLED,
    board_size: Annotated[int, typer.Option(min=2, max=19, help="Side of the board.")] = 19,
    seconds: Annotated[float, typer.Option(min=0.1, help="For each measurement.")] = 3.0,
    device: Annotated[str, typer.Option(help=DEVICE)] = AUTO,
    config: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the recommended settings.")
    ] = None,
) -> None:
    """Measure visits/s with more and more leaves in flight, and recommend settings."""
    from tengen.frontends.benchmark import run_benchmark

    run_benchmark(model, device, board_size, seconds, config)


@app.command("config")
def write_settings(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Such as tengen.toml.")],
    model: Annotated[str, typer.Option(help=MODEL)] = BUNDLED,
    device: Annotated[str, typer.Option(help=DEVICE)] = AUTO,
) -> None:
    """Write a file of settings, each explained; `tengen benchmark --config` tunes it."""
    from tengen.engine.settings import Config, EngineConfig, write_config

    if Path(file).exists():
        raise ValueError(f"{file} is there already; name another file, or remove it")
    settings = Config(EngineConfig(model=model, device=device))
    Path(file).write_text(write_config(settings), "utf-8")


@app.command()
def doctor(
    model: Annotated[str, typer.Option(help=MODEL)] = BUNDLED,
) -> None:
    """Show what is installed, what would run networks, what is missing, and whether it works."""
    from tengen.frontends.doctor import examine

    if not examine(model):
        raise typer.Exit(1)


def _seed(wanted: int | None) -> int:
    """The seed that is wanted, or any."""
    from secrets import randbits

    return randbits(32) if wanted is None else wanted


def main() -> None:
    """Run a command; what goes wrong is one line on stderr, never a traceback.

    Exit code 2 stands for bad usage or bad input, 1 for anything else.
    """
    try:
        raise SystemExit(app(sys.argv[1:] or ["--help"], "tengen", standalone_mode=False) or 0)
    except (KeyboardInterrupt, typer.Abort):
        raise SystemExit(130) from None
    except Exception as error:
        if os.environ.get("TENGEN_TRACEBACK"):
            raise
        message, status = _explained(error)
        say(" ".join(message.split()))
        raise SystemExit(status) from None


def _explained(error: Exception) -> tuple[str, int]:
    """What to tell the user, and the exit code."""
    if hasattr(error, "format_message"):  # the command line could not be understood
        return f"{error.format_message()} (tengen --help shows what there is)", 2
    if isinstance(error, ValueError):
        return str(error), 2
    if isinstance(error, OSError):
        return f"{error.filename or 'input or output'}: {error.strerror}", 1
    what = f"{type(error).__name__}: {error}"
    return f"this should not happen: {what} (set TENGEN_TRACEBACK=1 to see where)", 1
