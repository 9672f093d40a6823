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
from tengen.runs.store import is_url
from tengen.selfplay.params import SelfPlayParams
from tengen.training.params import TrainingParams, WindowParams
from tengen.tutorial import recipe as textbook
from tengen.tutorial.run import is_tutorial
from tengen.tutorial.run import train as train_by_textbook
from tengen.user_messages import say

RECORDS, DISTIL = "records", "distil"
NO_WORKERS = "nobody plays in a run that learns from records: leave out --workers and --cluster"
TEXTBOOK = "tutorial"  # a preset with another network, loop and sections

# Recipes by name. The defaults are KataGo's: see the comments of the settings.
PRESETS: dict[str, RunConfig] = {
    "katago": RunConfig(),
    # Few visits for every turn, allotted by sequential halving; every turn is learned from.
    "gumbel": RunConfig(
        selfplay=SelfPlayParams(visits=24, fast_visits=24, full_share=1.0, gumbel=12)
    ),
    # Each position is used once an epoch; there is no search whose value could have less noise.
    RECORDS: RunConfig(training=TrainingParams(batch=256, samples_per_row=1.0, search_share=0.0)),
    # The games only find positions like those of the network's own games. They do not grow old,
    # since the teacher does not change.
    DISTIL: RunConfig(
        selfplay=SelfPlayParams(visits=4, fast_visits=4, full_share=0.5, surprise_share=0.0),
        window=WindowParams(start=500_000),
    ),
}


def run_training(path: str, options: TrainOptions, serve: int | None = None) -> None:
    """Begin or resume the run in a folder; raises ValueError.

    With `serve`, show it meanwhile on a web page at this port.
    """
    shared = options.cluster is not None or options.workers is not None
    location = path
    if is_url(path):
        if not shared:
            raise ValueError(f"{path}: runs behind URLs need --cluster or --workers")
        path = str(_local_folder(location))
    with _page(path, serve):
        if shared and not (options.preset == TEXTBOOK or is_tutorial(path)):
            _train_on_cluster(location, path, options)
        elif options.preset == TEXTBOOK or is_tutorial(path):
            train_by_textbook(path, textbook_config(path, options))
        else:
            train(path, *_wanted(path, options))
    if serve is not None:
        say(f"its page is closed; look at it again with: tengen play --run {path}")


def _wanted(path: str, options: TrainOptions) -> tuple[RunConfig | None, Session]:
    """The settings and the session that the command line asks for; raises ValueError."""
    config = run_config(path, options)
    _check_commands(path, config, options)
    return config, Session(options.session_minutes, options.pack, options.origin)


def _train_on_cluster(location: str, path: str, options: TrainOptions) -> None:
    """Train the run behind a URL or in a folder, whose settings are in `path`, on a cluster."""
    from tengen.cluster.driver import train_on_cluster
    from tengen.cluster.ray_setup import LOCAL, import_ray

    address = options.cluster or LOCAL
    import_ray(address)  # raises before a run is created that cannot be trained
    config, session = _wanted(path, options)
    if (_stored(path, SECTIONS)["data"] if config is None else config.data).records:
        raise ValueError(NO_WORKERS)
    train_on_cluster(location, config, session, address, options.workers)


def _local_folder(location: str) -> Path:
    from tengen.cluster.driver import local_folder

    return local_folder(location).path


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
        if options.records and not is_run(path):
            return vars(PRESETS[RECORDS])
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
