"""What the tests of runs on several machines share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tengen.cluster.ray_setup import ClusterError, import_ray


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    """Ray, which keeps to this machine; the tests that need it are skipped where it is missing."""
    before = dict(os.environ)
    try:
        yield import_ray()
    except ClusterError as error:
        pytest.skip(str(error))
    finally:
        os.environ.clear()
        os.environ.update(before)
