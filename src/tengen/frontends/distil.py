"""`tengen distil`: a run whose targets are the outputs of another network."""

from __future__ import annotations

import json
from dataclasses import fields

from tengen.frontends.command_options import DistilOptions, RunOptions, TrainOptions
from tengen.frontends.run_settings import DISTIL
from tengen.network.files.bundled import BUNDLED
from tengen.network.files.loading import find_network
from tengen.runs.folder import is_run
from tengen.runs.store import is_url


def as_training(teacher: str, path: str, options: DistilOptions) -> TrainOptions:
    """The options of `tengen train` that have the run in a folder learn from a teacher.

    Raises ValueError.
    """
    if is_url(path):
        raise ValueError(f"{path}: tengen distil trains in a folder of this machine, not at a URL")
    if teacher == BUNDLED:
        raise ValueError("several networks come with Tengen: name one, such as tengen-9x9")
    is_new = not is_run(path)
    if is_new and options.into is None and options.config is None:
        raise ValueError("say what is to learn, as in --into b6c96 (`tengen net list` has more)")
    # The absolute path, so that the run can be resumed from any folder.
    settings = [f"data.teacher={json.dumps(str(find_network(teacher).resolve()))}"]
    shared = {each.name: getattr(options, each.name) for each in fields(RunOptions)}
    return TrainOptions(
        **shared | {"settings": [*settings, *options.settings]},
        records=options.records,
        model=options.into,
        preset=DISTIL if is_new and options.config is None else None,
    )
