"""What the tests of runs share."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tengen.runs.folder import RunFolder, create_run

NOBODY = 65534


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run that has just been made."""
    return create_run(tmp_path / "run", "# settings\n")


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A folder in which we may not write, even if we are the superuser otherwise."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        (path / "checkpoints").mkdir(0o555)
        path.chmod(0o555)
        superuser = os.geteuid() == 0
        if superuser:
            os.seteuid(NOBODY)
        try:
            yield path
        finally:
            if superuser:
                os.seteuid(0)
            path.chmod(0o755)


@pytest.fixture
def one_thread(one_kernel_thread: None) -> Iterator[None]:
    """Everything by one thread, so that the same seed makes the same run."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
