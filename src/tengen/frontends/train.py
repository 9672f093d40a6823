"""`tengen train`: a run in this process, on a cluster, or of the tutorial."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from tengen.config import parse_settings
from tengen.evaluation.match import parse_engine
from tengen.frontends.command_options import TrainOptions
from tengen.frontends.run_settings import TEXTBOOK, run_config, stored_settings, textbook_config
from tengen.network.own_trunks import loaded_modules
from tengen.runs.params import SECTIONS, RunConfig, Session
from tengen.runs.run import train
from tengen.runs.store import is_url
from tengen.tutorial.run import is_tutorial
from tengen.tutorial.run import train as train_by_textbook

NO_WORKERS = "nobody plays in a run that learns from records: leave out --workers and --cluster"


def run_training(
    path: str,
    options: TrainOptions,
    shown: Callable[[str], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Begin or resume the run in a folder, which `shown` shows meanwhile; raises ValueError."""
    shared = options.cluster is not None or options.workers is not None
    location = path
    if is_url(path):
        if not shared:
            raise ValueError(f"{path}: runs behind URLs need --cluster or --workers")
        from tengen.cluster.driver import local_folder

        path = str(local_folder(location).path)
    with shown(path):
        if shared and not (options.preset == TEXTBOOK or is_tutorial(path)):
            _train_on_cluster(location, path, options)
        elif options.preset == TEXTBOOK or is_tutorial(path):
            train_by_textbook(path, textbook_config(path, options))
        else:
            train(path, *_wanted(path, options))


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
    if (stored_settings(path, SECTIONS)["data"] if config is None else config.data).records:
        raise ValueError(NO_WORKERS)
    if loaded_modules():
        raise ValueError("--module is for runs in one process: workers would not know its trunk")
    train_on_cluster(location, config, session, address, options.workers)


def _check_commands(path: str, config: RunConfig | None, options: TrainOptions) -> None:
    """Raise ValueError where a file names programs to start and the command line does not.

    A run's folder, a pack or a recipe may come from somebody else.
    """
    if options.allow_commands:
        return
    settings = stored_settings(path, SECTIONS)["rating"] if config is None else config.rating
    given = parse_settings(options.settings, SECTIONS).get("rating", {}).get("outside", ())
    for text in settings.outside:
        if parse_engine(text).command and text not in given:
            raise ValueError(
                f"the settings of {path} ask for a program to be started (rating.outside has "
                f"{text!r}); if you trust it, say --allow-commands"
            )
