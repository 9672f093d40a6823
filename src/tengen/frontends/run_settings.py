"""The settings of a run, from presets, a file and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tengen.config import Sections, load_keys, load_sections, parse_settings, with_changes
from tengen.documents import find_recipe
from tengen.frontends.command_options import TrainOptions
from tengen.runs.folder import is_run, open_run
from tengen.runs.pack import packed_config
from tengen.runs.params import SECTIONS, RunConfig
from tengen.selfplay.params import SelfPlayParams
from tengen.training.params import TrainingParams, WindowParams
from tengen.tutorial import recipe as textbook
from tengen.tutorial.run import is_tutorial

RECORDS, DISTIL = "records", "distil"
TEXTBOOK = "tutorial"  # a preset with another network, loop and sections

# Recipes by name. The defaults are KataGo's: see the comments of the settings.
PRESETS: dict[str, RunConfig] = {
    "katago": RunConfig(),
    # Few visits for every turn, allotted by sequential halving; every turn is learned from.
    "gumbel": RunConfig(
        selfplay=SelfPlayParams(visits=24, fast_visits=24, full_share=1.0, gumbel=12)
    ),
    # Each position is used once an epoch; there are no searches, whose values could be targets.
    RECORDS: RunConfig(training=TrainingParams(batch=256, samples_per_row=1.0, search_share=0.0)),
    # The games only provide positions. Rows stay useful, since the teacher does not change.
    DISTIL: RunConfig(
        selfplay=SelfPlayParams(visits=4, fast_visits=4, full_share=0.5, surprise_share=0.0),
        window=WindowParams(start=500_000),
    ),
}


def run_config(path: str, options: TrainOptions) -> RunConfig | None:
    """The settings that the command line asks for; None if it says nothing about an old run."""
    of_the_run = replace(
        options,
        session_minutes=None,
        pack=None,
        origin=None,
        cluster=None,
        workers=None,
        allow_commands=False,
    )
    if of_the_run == TrainOptions() and is_run(path):
        return None
    names = ("model", "device", "seed", "minutes", "games", "iterations")
    given = {"run": {name: getattr(options, name) for name in names}}
    if options.board_size is not None:
        given["selfplay"] = {"board_sizes": (options.board_size,)}
    if options.records:
        given["data"] = {"records": tuple(str(Path(each).resolve()) for each in options.records)}
        if options.board_size is not None:
            given["data"]["record_sizes"] = (options.board_size,)
    return RunConfig(**_changed(_base(path, options), given, options.settings))


def textbook_config(path: str, options: TrainOptions) -> textbook.Config | None:
    """As `run_config`, for a run of `tengen.tutorial`."""
    if is_run(path) and not is_tutorial(path):
        raise ValueError(f"{path} is a run of another kind; name another folder for the tutorial")
    of_runs = ("config", "model", "minutes", "games", "session_minutes", "pack", "origin")
    no_flags = (*of_runs, "cluster", "workers", "records")
    for name in no_flags:
        if getattr(options, name) not in (None, ()):
            flag = "from" if name == "origin" else name.replace("_", "-")
            raise ValueError(f"--{flag} is not for the tutorial; see --set tutorial.KEY=VALUE")
    if options.preset not in (None, TEXTBOOK):
        raise ValueError(f"{path} is a run of the tutorial's; --preset {options.preset} is not")
    if replace(options, preset=None, allow_commands=False) == TrainOptions() and is_run(path):
        return None
    given = {name: getattr(options, name) for name in ("device", "seed", "iterations")}
    given["side"] = options.board_size
    base = stored_settings(path, textbook.SECTIONS)
    return textbook.Config(**_changed(base, {"tutorial": given}, options.settings))


def stored_settings(path: str, sections: Sections) -> dict[str, Any]:
    """The settings of the run in a folder, or defaults if there is none."""
    if is_run(path):
        return load_sections(open_run(path).config, sections)
    return {name: kind() for name, kind in sections.items()}


def _base(path: str, options: TrainOptions) -> dict[str, Any]:
    """The settings to which options are applied: a file's, a preset's, or those of the run.

    With a pack a file changes only what it says: the rest stays as it was.
    """
    if options.origin is not None:
        if options.preset is not None:
            raise ValueError(
                "--preset names all settings, and --from has its own; give one of them"
            )
        changes = {} if options.config is None else load_keys(find_recipe(options.config), SECTIONS)
        return with_changes(vars(packed_config(options.origin)), changes)
    if options.config is not None and options.preset is not None:
        raise ValueError("--config and --preset both name all settings; give one of them")
    if options.config is not None:
        return load_sections(find_recipe(options.config), SECTIONS)
    if options.preset is None:
        if options.records and not is_run(path):
            return vars(PRESETS[RECORDS])
        return stored_settings(path, SECTIONS)
    if options.preset not in PRESETS:
        known = ", ".join((*PRESETS, TEXTBOOK))
        raise ValueError(f"no preset is called {options.preset!r}; there are {known}")
    return vars(PRESETS[options.preset])


def _changed(
    base: dict[str, Any], given: dict[str, dict[str, Any]], settings: Sequence[str]
) -> dict[str, Any]:
    """Apply options by section, None meaning not given, and --set; then check the result."""
    changes = {
        section: {key: value for key, value in keys.items() if value is not None}
        for section, keys in given.items()
    }
    try:
        parsed = parse_settings(settings, {name: type(section) for name, section in base.items()})
    except ValueError as error:
        raise ValueError(f"--set {error}") from None
    for section, keys in parsed.items():
        changes.setdefault(section, {}).update(keys)
    return with_changes(base, changes)
