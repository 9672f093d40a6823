"""`tengen doctor`: what is here, what would be chosen, what is missing and how to get it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version

from rich.console import Console
from rich.table import Table
from rich.text import Text

import tengen
from tengen.jit import kernel_cache, user_cache
from tengen.network.devices import chosen_device, find_devices


def examine() -> None:
    """Show the state of the installation on stdout."""
    console = Console()
    facts = Table(show_header=False, box=None)
    system = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    facts.add_row("tengen", tengen.__version__)
    facts.add_row("Python", f"{system}, {os.cpu_count()} processors")
    for package in ("numpy", "numba", "openvino"):
        facts.add_row(package, version(package))
    facts.add_row("files kept in", str(user_cache()))
    facts.add_row("compiled kernels", str(kernel_cache()))
    console.print(facts)
    devices = list(find_devices())
    table = Table("device", "", "what", "to get it")
    for device in devices:
        row = (device.name, "ready" if device.ready else "-", device.what, device.remedy)
        table.add_row(*map(Text, row))  # as plain text: brackets are no markup here
    console.print(table)
    console.print(f"Networks run on: {chosen_device(devices).name}")
