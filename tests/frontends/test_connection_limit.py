"""A server leaves files to the rest of its process."""

from __future__ import annotations

import sys

import pytest

from tengen.frontends import connection_limit
from tengen.frontends.connection_limit import BACKLOG, FEWEST, MOST, OTHER_FILES, most_connections

if sys.platform == "win32":
    pytest.skip("there is no such limit", allow_module_level=True)

import resource

ALL = MOST + BACKLOG + OTHER_FILES


@pytest.mark.parametrize(
    ("soft", "hard", "raised", "allowed"),
    [
        (100_000, 100_000, None, MOST),
        (-1, -1, None, MOST),
        (256, -1, ALL, MOST),
        (256, 4096, ALL, MOST),
        (256, 300, 300, 300 - BACKLOG - OTHER_FILES),
        (64, 64, 64, FEWEST),
    ],
)
def test_the_limit_on_files_is_raised_and_kept_to(
    soft: int, hard: int, raised: int | None, allowed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    assert most_connections() == allowed
    assert asked == ([] if raised is None else [(raised, hard)])


def test_where_the_limit_cannot_be_raised_fewer_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("not allowed")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 4096))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert most_connections() == 256 - BACKLOG - OTHER_FILES
    monkeypatch.setattr(connection_limit, "MOST", 3)
    assert most_connections() == 3
