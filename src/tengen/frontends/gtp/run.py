"""`tengen gtp`: a session on stdin and stdout."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from tengen.engine.loading import EngineLoader
from tengen.frontends.command_options import GtpOptions
from tengen.frontends.gtp.analyze import AnalyzeCommands
from tengen.frontends.gtp.game_commands import GameCommands
from tengen.frontends.gtp.genmove import GenmoveCommands
from tengen.frontends.gtp.gogui import GoguiCommands
from tengen.frontends.gtp.inspection import InspectionCommands
from tengen.frontends.gtp.protocol import CommandTable, Inbox, Outlet, note, serve
from tengen.frontends.gtp.session import GtpSession
from tengen.frontends.gtp.settings_commands import SettingsCommands
from tengen.frontends.protocol_stdio import Log, own_stdout
from tengen.interrupt import end_at_once, end_process

if TYPE_CHECKING:
    from tengen.engine.engine import Engine


def run_gtp(options: GtpOptions) -> None:
    """Answer commands until `quit` or the end of input; raises ValueError for bad options."""
    # Not sys.stdin: the interpreter cannot end while a thread waits for that one.
    stdin = open(0, "rb", closefd=False)  # noqa: SIM115
    with (
        Log(options.log) as log,
        own_stdout() as descriptor,
        suppress(OSError),  # nobody may be listening any more
        open(descriptor, "wb", closefd=False) as stdout,
    ):
        loader = EngineLoader(lambda: _load(options))
        inbox, outlet = Inbox(stdin, log), Outlet(stdout, log)
        session = GtpSession(options, loader, inbox)
        try:
            serve(inbox, outlet, all_commands(session).call, log)
            session.rest()
        except KeyboardInterrupt as error:
            end_at_once(error)  # closing stdout would wait for somebody to read what is left
        if not session.loading_is_over:
            end_process()  # a thread in native code does not survive an orderly end
        loader.close()


def _load(options: GtpOptions) -> Engine:
    from tengen.engine.engine import Engine
    from tengen.engine.levels import level_named
    from tengen.game.position import Position

    engine = Engine(
        options.model,
        **options.placement,
        leaves=options.leaves,
        seed=options.seed,
        human_model=options.human_model,
        first_game=Position(options.board_size, options.rules),
    )
    engine.check_style(options.human if options.level is None else level_named(options.level).human)
    note(f"ready: {engine.name} on {engine.device}")
    human = engine.human_network
    imitates = human is not None and human.evaluator.imitates_people
    if imitates and not options.human.profile and options.level is None:
        note("the network that imitates people is used once humanSLProfile is set")
    return engine


def all_commands(session: GtpSession) -> CommandTable:
    """Everything that a session obeys."""
    table = CommandTable(
        SettingsCommands(session),
        GameCommands(session),
        GenmoveCommands(session),
        AnalyzeCommands(session),
        InspectionCommands(session),
        GoguiCommands(session),
    )
    session.command_names = table.names
    return table
