"""One server for the tests that need none of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.frontends.web.server import Client, serving


@pytest.fixture(scope="session")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(tmp_path_factory.mktemp("games")) as port:
        yield port


@pytest.fixture
def client(port: int) -> Iterator[Client]:
    with Client(port) as client:
        yield client
