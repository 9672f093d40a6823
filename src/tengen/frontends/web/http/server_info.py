"""What clients are told about the server: version, network, levels, rules, limits."""

from __future__ import annotations

import tengen
from tengen.engine.levels import LEVELS
from tengen.engine.loading import EngineLoader
from tengen.frontends.web import limits
from tengen.frontends.web.play.server_messages import Json
from tengen.game.rules import NAMED, Rules

_FIRST = ("chinese", "japanese", "aga")  # listed first
_NAMES = {"aga": "AGA", "aga-button": "AGA with button", "chinese-ogs": "Chinese (OGS, KGS)"}


def info_view(loader: EngineLoader, has_run: bool) -> Json:
    """The information as JSON."""
    engine = loader.engine_if_ready
    return {
        "version": tengen.__version__,
        "network": {
            "name": "" if engine is None else engine.name,
            "file": "" if engine is None else engine.network.file,
        },
        "device": "" if engine is None else engine.device,
        "ready": engine is not None,
        "levels": [{"id": each.id, "name": each.name, "elo": each.elo} for each in LEVELS],
        "rules": [
            {"id": id_, "name": _name(id_), "komi": NAMED[id_][1]} for id_ in _different_rules()
        ],
        "limits": {
            "visits": limits.VISITS,
            "review_visits": limits.REVIEW_VISITS,
            "upload_bytes": limits.UPLOAD_BYTES,
            "sizes": list(range(limits.SMALLEST_BOARD, limits.LARGEST_BOARD + 1)),
        },
        "run": has_run,
    }


def _different_rules() -> list[str]:
    """A name for each distinct set of rules, the best known first."""
    by_rules: dict[Rules, str] = {}
    for id_, (rules, _) in NAMED.items():
        by_rules.setdefault(rules, id_)
    others = [id_ for id_ in by_rules.values() if id_ not in _FIRST]
    return [*_FIRST, *others]


def _name(id_: str) -> str:
    return _NAMES.get(id_) or id_.replace("-", " ").title()
