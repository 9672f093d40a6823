"""The settings of a run: written when it begins, and changed later only where they may be."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from tengen.config import Sections, changed_keys, load_sections, write_sections
from tengen.runs.errors import RunError, write_whole
from tengen.runs.folder import RunFolder, create_run, is_run, open_run


def settle(
    path: str | Path,
    wanted: Mapping[str, Any] | None,
    kinds: Sections,
    changeable: Set[str],
) -> tuple[RunFolder, dict[str, Any]]:
    """The run in a folder, made if there is none, and its settings by section; raises RunError.

    `wanted` are the settings of a new run, or new ones for an old run: None leaves them as they
    are, and those that are not `changeable` (section.key) are refused by name.
    """
    if not is_run(path):
        settings = dict(wanted) if wanted else {name: kind() for name, kind in kinds.items()}
        return create_run(path, write_sections(settings, defaults_too=True)), settings
    folder = open_run(path)
    kept = load_sections(folder.config, kinds)
    if wanted is None:
        return folder, kept
    changed = changed_keys(kept, wanted)
    if fixed := [key for key in changed if key not in changeable]:
        what = f"{', '.join(fixed)} cannot change while a run goes on"
        raise RunError(f"{folder.config}: {what}; leave it, or begin a new run in another folder")
    if changed:
        write_whole(folder.config, write_sections(wanted, defaults_too=True).encode())
    return folder, dict(wanted)
