"""Tengen: a complete Go AI in Python.

The names below are imported on first use, to keep start-up short. Nothing is imported here, so
that the command, whose first module this is, sees to Ctrl-C at once (`tengen.__main__`).
"""

__version__ = "0.2.0"

TYPE_CHECKING = False  # type checkers take it as true; `typing` would take a while to load
if TYPE_CHECKING:
    from tengen.engine.engine import Engine as Engine
    from tengen.game.color import Color as Color
    from tengen.game.geometry import Point as Point
    from tengen.game.geometry import Size as Size
    from tengen.game.geometry import Symmetry as Symmetry
    from tengen.game.illegal_moves import IllegalMoveError as IllegalMoveError
    from tengen.game.outcome import Outcome as Outcome
    from tengen.game.outcome import Reason as Reason
    from tengen.game.position import Move as Move
    from tengen.game.position import Position as Position
    from tengen.game.rules import Rules as Rules
    from tengen.game.rules import RulesError as RulesError
    from tengen.game.rules import parse_rules as parse_rules
    from tengen.game.scoring import Score as Score
    from tengen.game.scoring import Tally as Tally
    from tengen.game.sgf.records import SgfError as SgfError
    from tengen.game.sgf.records import SgfGame as SgfGame
    from tengen.game.sgf.records import SgfNode as SgfNode
    from tengen.game.sgf.records import load_sgf as load_sgf
    from tengen.game.sgf.records import read_sgf as read_sgf
    from tengen.game.sgf.records import record as record
    from tengen.game.sgf.records import save_sgf as save_sgf
    from tengen.reviewing.rows import analyse as analyse

_HOMES = {
    "tengen.engine.engine": ("Engine",),
    "tengen.game.color": ("Color",),
    "tengen.game.geometry": ("Point", "Size", "Symmetry"),
    "tengen.game.illegal_moves": ("IllegalMoveError",),
    "tengen.game.position": ("Move", "Position"),
    "tengen.game.rules": ("Rules", "RulesError", "parse_rules"),
    "tengen.game.outcome": ("Outcome", "Reason"),
    "tengen.game.scoring": ("Score", "Tally"),
    "tengen.game.sgf.records": (
        "SgfError",
        "SgfGame",
        "SgfNode",
        "load_sgf",
        "read_sgf",
        "record",
        "save_sgf",
    ),
    "tengen.reviewing.rows": ("analyse",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tengen' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
