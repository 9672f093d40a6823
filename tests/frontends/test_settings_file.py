"""Settings files: what is written is read again, and mistakes are named with their place."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from tengen.engine.settings import EngineOptions
from tengen.frontends.command_options import (
    AnalysisOptions,
    GtpOptions,
    load_settings,
    options_in_file,
    sections,
    write_settings,
)
from tengen.search.human_style import HumanStyle
from tengen.search.params import SearchParams


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    engine = EngineOptions(model='odd "name"\\net.bin.gz', device="cpu", visits=77, leaves=4)
    settings = {"engine": engine, "gtp": GtpOptions(komi=0.5, ponder=True, seed=0)}
    path = tmp_path / "tengen.toml"
    path.write_text(write_settings(settings), encoding="utf-8")
    found = load_settings(path)
    assert (found["engine"], found["search"]) == (engine, SearchParams())
    assert (found["gtp"].komi, found["gtp"].ponder) == (0.5, True)
    assert found["analysis"] == AnalysisOptions()


def test_an_empty_file_has_all_defaults(tmp_path: Path) -> None:
    path = tmp_path / "tengen.toml"
    path.write_text("")
    assert load_settings(path)["search"] == SearchParams()
    assert options_in_file(GtpOptions, path) == {"search": {}}


def test_every_default_that_is_written_is_a_valid_setting_when_its_sign_is_removed(
    tmp_path: Path,
) -> None:
    text = write_settings()
    path = tmp_path / "tengen.toml"
    lines = [
        line[1:] if line.startswith("#") and line[1] != " " else line for line in text.splitlines()
    ]
    path.write_text("\n".join(lines))
    assert all(load_settings(path)[name] == sections()[name]() for name in ("engine", "search"))
    keys = {line.split(" = ")[0] for line in lines}
    assert {field.name for kind in (EngineOptions, SearchParams) for field in fields(kind)} <= keys
    assert {"board_size", "resign_winrate", "perspective"} <= keys


def test_the_settings_are_explained() -> None:
    text = write_settings()
    assert "# network file or name; bundled: the networks that come with Tengen\n#model = " in text
    assert "usual komi of the rules\n# komi = (a number)\n" in text


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
        ("[gtp]\nvisits = 3\n", r"\[gtp\] has no key 'visits'"),
        ("[gtp]\nconfig = 'other.toml'\n", r"\[gtp\] has no key 'config'"),
        ("[gtp]\nkomi = 'much'\n", r"\[gtp\] komi must be a number, not 'much'"),
        ("[engine]\nseconds = -1\n", r"\[engine\] seconds must be over 0"),
        ("[analysis]\nvisits = 0\n", r"\[analysis\] visits must be at least 1"),
        ("[analysis]\nmodel = 'x'\n", r"\[analysis\] has no key 'model'"),
        ("engine = 3\n", r"\[engine\] is no section"),
        ("model", r"not TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "tengen.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=complaint) as caught:
        load_settings(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none\.toml: No such file"):
        load_settings(tmp_path / "none.toml")


def test_whole_numbers_may_stand_for_numbers(tmp_path: Path) -> None:
    path = tmp_path / "tengen.toml"
    path.write_text("[search]\nexploration = 2\n")
    assert load_settings(path)["search"].exploration == 2.0


def test_a_file_sets_a_commands_options_unless_the_command_line_does(tmp_path: Path) -> None:
    path = tmp_path / "tengen.toml"
    path.write_text(
        "[engine]\ndevice = 'cpu'\nvisits = 9\n[search]\ngraph = true\n"
        "[gtp]\nboard_size = 13\nlog = 'all.txt'\n[analysis]\nvisits = 7\n"
    )
    search = {"graph": True}
    gtp = {"device": "cpu", "visits": 9, "board_size": 13, "log": "all.txt", "search": search}
    assert options_in_file(GtpOptions, path) == gtp
    assert options_in_file(AnalysisOptions, path) == {
        "device": "cpu",
        "visits": 7,
        "search": search,
    }


def test_katagos_names_of_parameters_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "tengen.toml"
    path.write_text("[search]\ncpuctExploration = 2\n")
    assert load_settings(path)["search"].exploration == 2.0
    assert options_in_file(GtpOptions, path)["search"] == {"exploration": 2.0}


def test_a_file_says_whom_to_imitate(tmp_path: Path) -> None:
    path = tmp_path / "tengen.toml"
    path.write_text(
        "[engine]\nhuman_model = 'people.bin.gz'\n"
        "[human]\nhumanSLProfile = 'rank_5k'\nhumanSLChosenMoveProp = 1\n"
    )
    for kind in (GtpOptions, AnalysisOptions):
        found = kind(**options_in_file(kind, path))
        assert found.human_model == "people.bin.gz"
        assert found.human == HumanStyle("rank_5k", move_share=1.0)
    path.write_text("[human]\nprofile = 'rank_77k'\n")
    with pytest.raises(ValueError, match=r"\[human\].*rank_77k"):
        load_settings(path)


def test_a_level_keeps_its_own_limits(tmp_path: Path) -> None:
    path = tmp_path / "tengen.toml"
    path.write_text("[engine]\nvisits = 9\nseconds = 2\nleaves = 0\n")
    assert options_in_file(GtpOptions, path, {"level": "casual"}) == {
        "leaves": None,
        "search": {},
    }
