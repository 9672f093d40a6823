"""OpenVINO's core: one for the whole process, and for its whole life."""

from __future__ import annotations

from functools import cache
from typing import Any

import openvino


@cache
def openvino_core() -> Any:
    """What finds devices and compiles graphs; the package has no types.

    Each core that has used the CPU gives its thread another stack for signals, and unmaps that
    memory when it goes. Unless the last core to come is the first to go, and in the same thread,
    the thread keeps a stack that is no more: Ctrl-C then kills the process without a word.
    """
    return openvino.Core()
