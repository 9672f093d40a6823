"""`tengen doctor`: what is installed, which device is chosen, whether it works, how to mend it."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

import tengen
from tengen.atomic_files import why_not_writable
from tengen.engine.behaviour_signature import RELEASED, behaviour_signature
from tengen.engine.engine import Engine
from tengen.engine.settings import NetworkOptions
from tengen.game.position import Position
from tengen.jit import kernel_cache
from tengen.network.backends.registry import best_device, probe_devices
from tengen.pip_package import DISTRIBUTION
from tengen.search.warmup import compile_kernels
from tengen.terminal_console import TerminalConsole
from tengen.user_folders import CACHE_VARIABLE, DATA_VARIABLE, user_cache, user_data

SIDES = 9, 19  # boards that a search is tried on
VISITS = 100


class Check(NamedTuple):
    """The result of one check."""

    name: str
    well: bool
    what: str
    remedy: str = ""


def examine(options: NetworkOptions) -> bool:
    """Show the state of the installation on stdout, line by line; returns whether all is well."""
    console = TerminalConsole()
    table = Table("", "")
    for title in ("what", "to mend it"):
        table.add_column(title, overflow="fold")  # commands must not be cut
    probes = list(probe_devices())
    checks = [*_installation(), *_kernels(), *_network(options), *_behaviour()]
    rows = [(each.name, "ok" if each.well else "FAILED", each.what, each.remedy) for each in checks]
    rows += [(name, "ready" if it.ready else "-", it.what, it.remedy) for name, it in probes]
    for row in rows:
        table.add_row(*map(Text, row))  # as plain text: brackets are no markup here
    console.print(table)
    console.print(f"Networks run on: {best_device(probes)}", markup=False)
    return all(check.well for check in checks)


def _installation() -> Iterator[Check]:
    yield Check(DISTRIBUTION, True, tengen.__version__)
    system = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield Check("Python", True, f"{system}, {os.cpu_count()} processors")
    for package in ("numpy", "numba", "openvino"):
        try:
            yield Check(package, True, version(package))
        except PackageNotFoundError:
            yield Check(package, False, "not installed", f"pip install {package}")
    yield _folder("caches in", user_cache(), CACHE_VARIABLE)
    yield _folder("games and networks in", user_data(), DATA_VARIABLE)


def _folder(name: str, folder: Path, variable: str) -> Check:
    """Can files be written to a folder? Without one everything works, but nothing is kept."""
    if why_not_writable(folder) is None:
        return Check(name, True, str(folder))
    remedy = f"set {variable} to a folder that can be written to"
    return Check(name, False, f"{folder} cannot be written to", remedy)


def _kernels() -> Iterator[Check]:
    began = time.monotonic()
    kept = kernel_cache()
    try:
        compile_kernels()
    except Exception as error:  # a broken cache or compiler may raise anything
        remedy = "reinstall numba and llvmlite" if kept is None else f"remove {kept}"
        yield Check("kernels", False, f"{type(error).__name__}: {error}"[:200], remedy)
    else:
        seconds = time.monotonic() - began
        where = "not kept" if kept is None else kept
        yield Check("kernels", True, f"compiled and loaded in {seconds:.1f} s, {where}")


def _behaviour() -> Iterator[Check]:
    """The signature of behaviour. Another one is no fault: the search may have been changed."""
    try:
        found = behaviour_signature()
    except Exception as error:
        yield Check(
            "behaviour", False, f"{type(error).__name__}: {error}"[:200], "reinstall Tengen"
        )
    else:
        known = "as released" if found == RELEASED else f"differs from {RELEASED}, as released"
        yield Check("behaviour", True, f"{found}, {known}")


def _network(options: NetworkOptions) -> Iterator[Check]:
    try:
        engine = Engine(options.model, **options.placement)
    except (ValueError, OSError) as error:
        yield Check("network", False, str(error), "name another file: --model FILE")
        return
    architecture = engine.network.architecture
    only = architecture.board_size if architecture else 0
    with engine:
        for side in (only,) if only else SIDES:
            yield _test_search(engine, Position(side))


def _test_search(engine: Engine, position: Position) -> Check:
    """Try the network that plays on a board."""
    name = f"network on {position.size}"
    try:
        network = engine.network_for(position)
        result = engine.search(position, visits=VISITS)
    except Exception as error:  # drivers fail in many ways
        return Check(name, False, f"{type(error).__name__}: {error}"[:200], "--device cpu")
    rate = result.visits / result.seconds
    where = f"{network.evaluator.name} on {network.evaluator.device}"
    what = f"{where}, {result.visits} visits, {rate:,.0f} a second"
    if (unfamiliar := engine.unfamiliar(position)) is not None:
        what += f"; {unfamiliar}"
    return Check(name, True, what)
