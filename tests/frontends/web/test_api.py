"""The HTTP interface under fire: whatever is asked, the server answers and never fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance

from tengen.engine.loading import EngineLoader
from tengen.frontends.web.http.app import make_app
from tengen.frontends.web.http.security import AccessPolicy
from tengen.frontends.web.http.serve import make_engine
from tengen.frontends.web.play.game_store import GameStore
from tengen.network.loaded_network import LoadedNetwork
from tests.frontends.web.made_up import HALVES
from tests.frontends.web.server import FIRST_GAME


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("games")
    with (
        GameStore(folder) as game_store,
        EngineLoader(lambda: make_engine(LoadedNetwork(HALVES))) as loader,
    ):
        app = make_app(loader, game_store, AccessPolicy("known"), FIRST_GAME)
        yield schemathesis.openapi.from_asgi("/openapi.json?token=known", app)


def test_no_request_makes_the_server_fail(api: Any) -> None:
    operations = [found.ok() for found in api.get_all_operations()]
    assert {operation.path for operation in operations} == {
        "/api/info",
        "/api/players/{player}/games/{game}.sgf",
        "/api/sessions/{id_}/game.sgf",
        "/api/sessions/{id_}/review.sgf",
        "/api/sessions/{id_}/review.html",
        "/api/learn/lessons",
        "/api/learn/lessons/{lesson}/{number}",
        "/api/learn/capture",
        "/api/learn/problems",
        "/api/learn/problems/{problem}",
        "/api/learn/players/{player}/problems",
        "/api/learn/born",
        "/api/learn/born/{act}",
        "/api/learn/born-game",
    }
    for operation in operations:
        for mode in schemathesis.GenerationMode:
            if mode is schemathesis.GenerationMode.NEGATIVE and "{" not in operation.path:
                continue  # nothing can be wrong with it

            @given(case=operation.as_strategy(generation_mode=mode))
            @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
            def attack(case: Any) -> None:
                response = case.call(cookies={"tengen_token": "known"})
                assert response.status_code < 500
                checks = [status_code_conformance, content_type_conformance]
                case.validate_response(response, checks=checks)

            attack()


def test_the_description_of_the_interface_needs_the_token_too(api: Any) -> None:
    operation = next(found.ok() for found in api.get_all_operations())
    assert operation.Case().call().status_code == 403
