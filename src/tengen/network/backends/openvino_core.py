"""OpenVINO's core: one for the lifetime of the process."""

from __future__ import annotations

from functools import cache
from typing import Any

import openvino


@cache
def openvino_core() -> Any:
    """The object that finds devices and compiles graphs; the package has no types.

    Each core that uses the CPU gives its thread a new signal stack, and unmaps it when destroyed.
    Unless cores are destroyed in reverse order and in the same thread, the thread is left with an
    unmapped stack, and Ctrl-C then kills the process without a message.
    """
    return openvino.Core()
