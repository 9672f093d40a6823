"""How one query is searched and reported: defaults, and what `overrideSettings` changes of them.

Unknown names and values out of range are left out with a warning: clients send settings meant for
other versions, and a query must not fail for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tengen.engine.katago_params import ANALYSIS, KATAGO_PARAMS, Takers, parse_value
from tengen.search.params import SearchParams

# As KataGo in analysis: somewhat more moves than a player would look at.
ANALYSIS_PARAMS = SearchParams(wide_root_noise=0.04)


@dataclass(frozen=True)
class QuerySettings:
    """How to search a position and report on it."""

    visits: int = 500
    playouts: int | None = None
    seconds: float | None = None
    perspective: str = "BLACK"  # or WHITE, or SIDETOMOVE
    pv_length: int = 15  # moves after the first
    symmetry_pruning: bool = False
    ignore_history: bool = False
    root_noise: bool = False
    root_temperature: float = 1.0
    root_temperature_early: float | None = None  # None: the same
    params: SearchParams = field(default=ANALYSIS_PARAMS)

    @property
    def noisy_root(self) -> bool:
        """Does the root want other priors than the network's own?"""
        early = self.root_temperature_early
        return self.root_noise or self.root_temperature != 1 or early not in (None, 1.0)

    def search_params(self) -> SearchParams:
        """The parameters with the root's temperature; its noise only where it was asked for."""
        late = self.root_temperature
        early = late if self.root_temperature_early is None else self.root_temperature_early
        return replace(
            self.params,
            root_temperature=late,
            root_temperature_early=early,
            noise_share=self.params.noise_share if self.root_noise else 0.0,
            forced_playouts=0.0,
        )

    def overridden(self, given: Mapping[str, Any]) -> tuple[QuerySettings, list[str]]:
        """The settings changed by `overrideSettings`, and a text for each that was left out."""
        settings, left_out = self, []
        for name, value in given.items():
            try:
                settings = settings.changed(name, value)
            except ValueError as error:
                left_out.append(f"{name[:80]} ({error})")
        return settings, left_out

    def changed(self, name: str, value: Any) -> QuerySettings:
        """The settings with one of them changed; raises ValueError that says what is needed."""
        param = KATAGO_PARAMS.get(name)
        if param is not None and Takers.IGNORED_BY_ANALYSIS in param.takers:
            return self
        if param is None or ANALYSIS not in param.takers:
            raise ValueError("not known here")
        parsed = parse_value(param, value)
        if param.is_switch:
            parsed = getattr(ANALYSIS_PARAMS, param.field) if parsed else 0.0
        change = {param.field: parsed}
        return replace(
            self, **{"params": replace(self.params, **change)} if param.of_search else change
        )
