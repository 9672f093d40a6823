"""User-supplied trunks: torch modules in place of blocks, between the inputs and Tengen's heads.

    @own_trunk("plain", channels=32)
    class Plain(nn.Module):
        def __init__(self, architecture): ...
        def forward(self, planes, globals, boards): ...  # [batch, 32, height, width]

Then `tengen --module FILE.py train RUN --model plain` trains it, and its networks play wherever the
same --module is given. Planes are [batch, planes, height, width], globals [batch, globals];
`boards.mask` [batch, 1, height, width] is 1 on the board. Heads norm and activate the output.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from tengen.network.architecture import Architecture

_NAME = re.compile(r"[A-Za-z][\w-]{0,63}", re.ASCII)

Build = TypeVar("Build", bound=Callable[..., Any])


class OwnTrunk(NamedTuple):
    """A trunk that was registered."""

    channels: int  # of its output
    build: Callable[[Architecture], Any]  # the torch module


_TRUNKS: dict[str, OwnTrunk] = {}
_FILES: list[str] = []


def own_trunk(name: str, *, channels: int) -> Callable[[Build], Build]:
    """Register a class of torch modules, or a function that makes one, as a trunk of this name.

    It is called with the architecture. Raises ValueError for a name that architectures have.
    """
    if not _NAME.fullmatch(name) or re.fullmatch(r"b\d+c\d+.*", name):
        raise ValueError(
            f"{name!r} is no name for a trunk: choose a word unlike those of architectures"
        )
    if not 1 <= channels <= 4096:
        raise ValueError(f"a trunk has from 1 to 4096 channels, not {channels}")

    def register(build: Build) -> Build:
        _TRUNKS[name] = OwnTrunk(channels, build)
        return build

    return register


def find_trunk(name: str) -> OwnTrunk | None:
    """The trunk that was registered under a name, if there is one."""
    return _TRUNKS.get(name)


def trunk_named(name: str) -> OwnTrunk:
    """The trunk of a network; raises ValueError where nobody has registered it."""
    if (found := find_trunk(name)) is None:
        what = f"the network has a trunk of its own, {name!r}, which is not known here"
        raise ValueError(f"{what}; name the file that registers it: tengen --module FILE.py ...")
    return found


def load_module(file: str) -> None:
    """Run a Python file that registers trunks; raises ValueError."""
    path = Path(file).resolve()
    if not path.is_file():
        raise ValueError(
            f"{file}: there is no such file; name a Python file that registers a trunk"
        )
    name = f"tengen_module_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{file}: is no Python file; its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    before = set(_TRUNKS)
    try:
        # Not by the loader: it may take a compiled file, which knows only in which second and of
        # what length its source was.
        exec(compile(path.read_bytes(), path, "exec"), module.__dict__)
    except Exception as error:  # a user's file may raise anything
        raise ValueError(f"{file}: {type(error).__name__}: {error}") from error
    if set(_TRUNKS) == before:
        raise ValueError(f"{file}: registers no trunk; see tengen.network.own_trunks")
    _FILES.append(str(path))


def loaded_modules() -> tuple[str, ...]:
    """The files that were loaded, for other processes."""
    return tuple(_FILES)
