"""The recipes in the docs are settings as they are now."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.config import load_sections
from tengen.runs.params import SECTIONS, RunConfig

RECIPES = sorted((Path(__file__).parents[2] / "docs" / "recipes").glob("*.toml"))


def test_there_are_recipes() -> None:
    assert RECIPES


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_is_understood(path: Path) -> None:
    assert RunConfig(**load_sections(path, SECTIONS)) != RunConfig()
