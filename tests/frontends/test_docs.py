"""Documentation and recipes that come with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.documents import documents, find_recipe, recipes
from tengen.frontends.docs import pages, show_documents


def test_every_page_is_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show_documents(None)
    listed = capsys.readouterr().out
    assert {"training", "clients", "reviewing"} <= {Path(name).name for name in pages()}
    assert all(Path(name).name in listed for name in pages())
    show_documents("training")
    assert "tengen train" in capsys.readouterr().out
    with pytest.raises(ValueError, match="there is no page called 'cooking'"):
        show_documents("cooking")


def test_recipes_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_recipe("9x9") == str(documents() / "recipes" / "9x9.toml")
    assert "7x7" in recipes()
    assert find_recipe("folder/9x9") == "folder/9x9"
    assert find_recipe("mine.toml") == "mine.toml"
    with pytest.raises(ValueError, match=r"nor such a recipe; there are .*9x9"):
        find_recipe("10x10")
    monkeypatch.chdir(tmp_path)
    Path("9x9").write_text("")
    assert find_recipe("9x9") == "9x9"
