"""What the tests share with those of other runs."""

from __future__ import annotations

from tests.runs.conftest import one_thread

__all__ = ["one_thread"]
