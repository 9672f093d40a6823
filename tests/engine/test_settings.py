"""An engine's settings: what is written is read again, and mistakes are named with their place."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from tengen.engine.settings import Config, EngineConfig, load_config, write_config
from tengen.search.params import SearchParams


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    engine = EngineConfig(model='odd "name"\\net.bin.gz', device="cpu", visits=77, leaves=4)
    path = tmp_path / "tengen.toml"
    path.write_text(write_config(Config(engine)), encoding="utf-8")
    assert load_config(path) == Config(engine, SearchParams())


def test_an_empty_file_has_all_defaults(tmp_path: Path) -> None:
    path = tmp_path / "tengen.toml"
    path.write_text("")
    assert load_config(path) == Config()


def test_every_default_that_is_written_is_a_valid_setting_when_its_sign_is_removed(
    tmp_path: Path,
) -> None:
    text = write_config(Config())
    path = tmp_path / "tengen.toml"
    lines = [
        line[1:] if line.startswith("#") and line[1] != " " else line for line in text.splitlines()
    ]
    path.write_text("\n".join(lines))
    assert load_config(path) == Config()
    keys = {line.split(" = ")[0] for line in lines}
    assert {field.name for kind in (EngineConfig, SearchParams) for field in fields(kind)} <= keys


def test_the_settings_are_explained() -> None:
    text = write_config(Config())
    assert "# a network file; bundled: the one that comes with Tengen\n#model = " in text


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (
            "[search]\nexploratoin = 1\n",
            r"\[search\] has no key 'exploratoin'; did you mean 'explo",
        ),
        ("[engine]\nvisits = 'many'\n", r"\[engine\] visits must be a whole number, not 'many'"),
        ("[engine]\nvisits = true\n", r"visits must be a whole number, not True"),
        ("[search]\ngraph = 1\n", r"graph must be true or false, not 1"),
        ("[search]\nexploration = -1\n", r"\[search\] exploration must be"),
        ("[serach]\n", r"\[serach\] is no section; did you mean 'search'"),
        ("engine = 3\n", r"\[engine\] is no section"),
        ("model", r"not TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "tengen.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=complaint) as caught:
        load_config(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none\.toml: No such file"):
        load_config(tmp_path / "none.toml")


def test_whole_numbers_may_stand_for_numbers(tmp_path: Path) -> None:
    path = tmp_path / "tengen.toml"
    path.write_text("[search]\nexploration = 2\n")
    assert load_config(path).search.exploration == 2.0
