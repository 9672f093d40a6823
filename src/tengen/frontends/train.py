"""`tengen train`: the settings of a run from presets, a file and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from tengen.config import Sections, load_keys, load_sections, parse_settings, with_changes
from tengen.documents import find_recipe
from tengen.evaluation.match import parse_engine
from tengen.frontends.options import TrainOptions
from tengen.runs.folder import is_run, open_run
from tengen.runs.pack import packed_config
from tengen.runs.params import SECTIONS, RunConfig, Session
from tengen.runs.run import train
from tengen.selfplay.params import SelfPlayParams
from tengen.tutorial import recipe as textbook
from tengen.tutorial.run import is_tutorial
from tengen.tutorial.run import train as train_by_textbook
from tengen.user_messages import say

TEXTBOOK = "tutorial"  # a preset with another network, loop and sections

# Recipes by name. The defaults are KataGo's: see the comments of the settings.
PRESETS: dict[str, RunConfig] = {
    "katago": RunConfig(),
    # Few visits for every turn, allotted by sequential halving; every turn is learned from.
    "gumbel": RunConfig(
        selfplay=SelfPlayParams(visits=24, fast_visits=24, full_share=1.0, gumbel=12)
    ),
}


def run_training(path: str, options: TrainOptions, serve: int | None = None) -> None:
    """Begin or resume the run in a folder; raises ValueError.

    With `serve`, show it meanwhile on a web page at this port.
    """
    with _page(path, serve):
        if options.preset == TEXTBOOK or is_tutorial(path):
            train_by_textbook(path, textbook_config(path, options))
        else:
            session = Session(options.session_minutes, options.pack, options.origin)
            config = run_config(path, options)
            _check_commands(path, config, options)
            train(path, config, session)
    if serve is not None:
        say(f"its page is closed; look at it again with: tengen play --run {path}")


def run_config(path: str, options: TrainOptions) -> RunConfig | None:
    """The settings that the command line asks for; None if it says nothing about an old run."""
    of_the_run = replace(
        options, session_minutes=None, pack=None, origin=None, allow_commands=False
    )
    if of_the_run == TrainOptions() and is_run(path):
        return None
    names = ("model", "device", "seed", "minutes", "games", "iterations")
    given = {"run": {name: getattr(options, name) for name in names}}
    if options.board_size is not None:
        given["selfplay"] = {"board_sizes": (options.board_size,)}
    return RunConfig(**_changed(_base(path, options), given, options.settings))


def textbook_config(path: str, options: TrainOptions) -> textbook.Config | None:
    """As `run_config`, for a run of `tengen.tutorial`."""
    if is_run(path) and not is_tutorial(path):
        raise ValueError(f"{path} is a run of another kind; name another folder for the tutorial")
    no_flags = ("config", "model", "minutes", "games", "session_minutes", "pack", "origin")
    for name in no_flags:
        if getattr(options, name) is not None:
            flag = "from" if name == "origin" else name.replace("_", "-")
            raise ValueError(f"--{flag} is not for the tutorial; see --set tutorial.KEY=VALUE")
    if options.preset not in (None, TEXTBOOK):
        raise ValueError(f"{path} is a run of the tutorial's; --preset {options.preset} is not")
    if replace(options, preset=None, allow_commands=False) == TrainOptions() and is_run(path):
        return None
    given = {name: getattr(options, name) for name in ("device", "seed", "iterations")}
    given["side"] = options.board_size
    base = _stored(path, textbook.SECTIONS)
    return textbook.Config(**_changed(base, {"tutorial": given}, options.settings))


def _check_commands(path: str, config: RunConfig | None, options: TrainOptions) -> None:
    """Raise ValueError where a file names programs to start and the command line does not.

    A run's folder, a pack or a recipe may come from somebody else.
    """
    if options.allow_commands:
        return
    settings = _stored(path, SECTIONS)["rating"] if config is None else config.rating
    given = parse_settings(options.settings, SECTIONS).get("rating", {}).get("outside", ())
    for text in settings.outside:
        if parse_engine(text).command and text not in given:
            raise ValueError(
                f"the settings of {path} ask for a program to be started (rating.outside has "
                f"{text!r}); if you trust it, say --allow-commands"
            )


def _base(path: str, options: TrainOptions) -> dict[str, Any]:
    """The settings that options change: of a file, of a preset, or those that the run has.

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
        return _stored(path, SECTIONS)
    if options.preset not in PRESETS:
        known = ", ".join((*PRESETS, TEXTBOOK))
        raise ValueError(f"no preset is called {options.preset!r}; there are {known}")
    return vars(PRESETS[options.preset])


def _stored(path: str, sections: Sections) -> dict[str, Any]:
    """The settings of the run in a folder, or defaults if there is none."""
    if is_run(path):
        return load_sections(open_run(path).config, sections)
    return {name: kind() for name, kind in sections.items()}


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


def _page(path: str, port: int | None) -> AbstractContextManager[object]:
    """The run's web page, if one is wanted; training without it needs no web server."""
    if port is None:
        return nullcontext()
    try:
        from tengen.frontends.web.runs.serve import RunPage
    except ImportError as error:
        need = f"--serve needs a web server ({error})"
        raise ValueError(f"{need}: pip install fastapi uvicorn, or train without it") from None
    page = RunPage(Path(path), port)
    say(f"watch it learn at {page.address}")
    return page
