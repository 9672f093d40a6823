"""`tengen train`: the settings of a run from presets, a file and the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from tengen.config import load_sections, parse_sections
from tengen.runs.folder import is_run, open_run
from tengen.runs.params import SECTIONS, RunConfig
from tengen.runs.run import train
from tengen.selfplay.params import SelfPlayParams
from tengen.tutorial import recipe as textbook
from tengen.tutorial.run import is_tutorial
from tengen.tutorial.run import train as train_by_textbook
from tengen.user_messages import say

TEXTBOOK = "tutorial"  # a preset of another kind: another network, another loop
AnyConfig = TypeVar("AnyConfig", RunConfig, textbook.Config)

# Recipes by name. KataGo's is the default: see the comments of its parameters.
PRESETS: dict[str, RunConfig] = {
    "katago": RunConfig(),
    # Few visits for every turn, each learned from, shared out by sequential halving.
    "gumbel": RunConfig(
        selfplay=SelfPlayParams(visits=24, fast_visits=24, full_share=1.0, gumbel=12)
    ),
}


@dataclass(frozen=True)
class TrainOptions:
    """What was said on the command line; None where nothing was."""

    preset: str | None = None
    config: str | None = None
    model: str | None = None
    board_size: int | None = None
    device: str | None = None
    seed: int | None = None
    minutes: float | None = None
    games: int | None = None
    iterations: int | None = None
    settings: Sequence[str] = ()  # such as training.rate=0.001


def run_training(path: str, options: TrainOptions, serve: int | None = None) -> None:
    """Begin the run in a folder, or go on with it; raises ValueError.

    With `serve` it serves its own page meanwhile, at this port of this machine.
    """
    with _page(path, serve):
        if options.preset == TEXTBOOK or is_tutorial(path):
            train_by_textbook(path, wanted_textbook_config(path, options))
        else:
            train(path, wanted_config(path, options))
    if serve is not None:
        say(f"its page is closed; look at it again with: tengen play --run {path}")


def _page(path: str, port: int | None) -> AbstractContextManager[object]:
    """The page of the run, if one is wanted: training alone needs no web server."""
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


def wanted_textbook_config(path: str, options: TrainOptions) -> textbook.Config | None:
    """As `wanted_config`, for a run of `tengen.tutorial`."""
    if is_run(path) and not is_tutorial(path):
        raise ValueError(f"{path} is a run of another kind; name another folder for the tutorial")
    for name in ("config", "model", "minutes", "games"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name} is not for the tutorial; see --set tutorial.KEY=VALUE")
    if options.preset not in (None, TEXTBOOK):
        raise ValueError(f"{path} is a run of the tutorial's; --preset {options.preset} is not")
    if replace(options, preset=None) == TrainOptions() and is_run(path):
        return None
    config = textbook.Config()
    if is_run(path):
        config = textbook.Config(**load_sections(open_run(path).config, textbook.SECTIONS))
    said = {"device": options.device, "seed": options.seed, "iterations": options.iterations}
    said["side"] = options.board_size
    given = {name: value for name, value in said.items() if value is not None}
    config = replace(config, tutorial=replace(config.tutorial, **given))  # type: ignore[arg-type]
    for setting in options.settings:
        config = _with_setting(config, setting, textbook.SECTIONS)
    return config


def wanted_config(path: str, options: TrainOptions) -> RunConfig | None:
    """The settings that the command line asks for; None if those of the run are to stay."""
    if options == TrainOptions() and is_run(path):
        return None
    config = _base(path, options)
    run = {
        name: getattr(options, name)
        for name in ("model", "device", "seed", "minutes", "games", "iterations")
        if getattr(options, name) is not None
    }
    config = replace(config, run=replace(config.run, **run))
    if options.board_size is not None:
        sizes = (options.board_size,)
        config = replace(config, selfplay=replace(config.selfplay, board_sizes=sizes))
    for setting in options.settings:
        config = _with_setting(config, setting, SECTIONS)
    return config


def _base(path: str, options: TrainOptions) -> RunConfig:
    if options.config is not None and options.preset is not None:
        raise ValueError("--config and --preset are two ways to say the same; take one")
    if options.config is not None:
        return RunConfig(**load_sections(options.config, SECTIONS))
    if options.preset is not None:
        if options.preset not in PRESETS:
            known = ", ".join((*PRESETS, TEXTBOOK))
            raise ValueError(f"no preset is called {options.preset!r}; there are {known}")
        return PRESETS[options.preset]
    if is_run(path):
        return RunConfig(**load_sections(open_run(path).config, SECTIONS))
    return RunConfig()


def _with_setting(config: AnyConfig, setting: str, sections: dict[str, type[Any]]) -> AnyConfig:
    """A config with one key changed, such as training.rate=0.001; raises ValueError."""
    name, sign, value = setting.partition("=")
    section, dot, key = name.strip().partition(".")
    if not sign or not dot:
        raise ValueError(f"--set {setting}: write section.key=value, such as training.rate=0.001")
    text = f"[{section}]\n{key} = {value}\n"
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        text = f'[{section}]\n{key} = "{value.strip()}"\n'  # text without its quotes
    parsed = parse_sections(text, f"--set {setting}", sections)[section]
    changed = replace(getattr(config, section), **{key: getattr(parsed, key)})
    return replace(config, **{section: changed})
