"""`tengen net` as its user meets it."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tengen.frontends import network_files
from tengen.frontends.command_options import ExportOptions, VerifyOptions
from tengen.frontends.network_files import (
    blocks_of,
    export_network,
    import_network,
    list_architectures,
    short,
    show_network,
    verify_network,
)
from tengen.game.position import Position
from tengen.network.architecture_names import PRESETS, named_architecture
from tengen.network.backends.openvino_evaluator import OpenVinoEvaluator, Precision
from tengen.network.comparison import Bounds
from tengen.network.evaluator import encode, evaluate
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.katago_export import save_katago
from tengen.network.files.loading import load_network
from tengen.network.files.tengen_format import load_network_file, save_network
from tengen.network.weights import parameter_count
from tests.network.test_tengen_format import assert_same, outputs, random_network


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line on a machine without torch."""
    code = "import sys; sys.modules['torch'] = None; from tengen.frontends.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "net", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )


def test_the_list_has_all_presets_with_size_and_cost(capsys: pytest.CaptureFixture[str]) -> None:
    list_architectures()
    lines = capsys.readouterr().out.splitlines()
    for name in PRESETS:
        [line] = [line for line in lines if f" {name} " in line]
        assert blocks_of(named_architecture(name)) in line
    [line] = [line for line in lines if " b6c96 " in line]
    assert "4 ordinary + 2 pooling" in line
    assert f"{parameter_count(named_architecture('b6c96')) / 1e6:.2f} M" in line


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1 k"),
        (46_745, "46.7 k"),
        (999_400, "999 k"),
        (999_600, "1 M"),
        (12_345_678, "12.3 M"),
        (4.5e9, "4.5 G"),
    ],
)
def test_counts_are_short(number: float, text: str) -> None:
    assert short(number) == text


def test_info_tells_what_is_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    data = random_network("b2c32nbt", provenance={"games": "12", "note": "[bold]plain[/bold]"})
    save_network(data, "net.safetensors")
    show_network("net")
    out = capsys.readouterr().out
    wanted = ("random", "net.safetensors", "Tengen", "2 bottleneck, 32 channels, mish", "22 planes")
    for words in (*wanted, "6 score", "lead 20", "games", "12", "[bold]plain[/bold]"):
        assert words in out
    save_katago(data, "net.bin.gz")
    show_network("net.bin.gz")
    out = capsys.readouterr().out
    assert "KataGo" in out
    assert "katago_version" in out


def test_import_and_export_keep_the_network(folder: Path) -> None:
    data = random_network("b2c32")
    save_network(data, "ours.safetensors")
    export_network("ours", ExportOptions(katago="theirs.bin.gz"))
    assert gzip.decompress((folder / "theirs.bin.gz").read_bytes()).startswith(b"random")
    import_network("theirs.bin.gz", None, half=False)
    imported = load_network_file("theirs.safetensors")
    assert_same(imported, load_network("theirs.bin.gz"))
    np.testing.assert_array_equal(imported.weights["conv.weight"], data.weights["conv.weight"])
    import_network("theirs.bin.gz", "small", half=True)
    assert (folder / "small").stat().st_size < 0.7 * (folder / "theirs.safetensors").stat().st_size
    import_network("theirs.bin.gz", folder / "cache" / "x", half=False)
    assert_same(load_network_file(folder / "cache" / "x"), imported)


def test_half_of_the_size_keeps_provenance_and_nearly_all_that_it_says(folder: Path) -> None:
    data = random_network("b2c32", provenance={"games": "12"})
    save_network(data, "whole.safetensors")
    export_network("whole", ExportOptions(half="half.safetensors", name="renamed"))
    half = load_network_file("half.safetensors")
    assert half.name == "renamed"
    assert half.provenance == {"games": "12", "trained_as": "random"}
    sizes = [(folder / f"{name}.safetensors").stat().st_size for name in ("half", "whole")]
    assert sizes[0] < 0.7 * sizes[1]
    for rounded, whole in zip(outputs(half), outputs(data), strict=True):
        np.testing.assert_allclose(rounded, whole, atol=0.01 * np.abs(whole).max())


def test_a_network_takes_all_rules_for_those_it_learned_by() -> None:
    data = random_network("b2c32")
    save_network(data, "net.safetensors")
    export_network("net", ExportOptions(half="fit.safetensors", rules="tromp-taylor"))
    fit = load_network_file("fit.safetensors")
    assert fit.provenance["rules"] == "tromp-taylor"
    known, other = (Position(5, rules, 7).play("C3") for rules in ("tromp-taylor", "japanese"))
    said = {}
    for name, network in (("before", data), ("after", fit)):
        evaluator = OpenVinoEvaluator(network, Precision.FLOAT32)
        for position in (known, other):
            batch = encode(evaluator.features, [position])
            # Japanese rules tell no areas, another komi and its parity: not what is asked here.
            batch.planes[:, -4:] = 0
            batch.globals[:, [5, 18]] = 0.3
            said[name, position.rules] = evaluate(evaluator, batch).policy
    np.testing.assert_allclose(said["after", known.rules], said["before", known.rules], atol=0.01)
    np.testing.assert_allclose(said["after", other.rules], said["after", known.rules], atol=1e-5)
    assert np.abs(said["before", other.rules] - said["before", known.rules]).max() > 0.1


def test_import_does_not_replace_what_it_reads(folder: Path) -> None:
    save_katago(random_network("b2c32"), "net.bin.gz")
    before = (folder / "net.bin.gz").read_bytes()
    with pytest.raises(NetworkFileError, match="would replace"):
        import_network("net.bin.gz", folder / "net.bin.gz", half=False)
    assert (folder / "net.bin.gz").read_bytes() == before


def test_importing_our_own_file_is_refused() -> None:
    save_network(random_network("b2c32"), "net.safetensors")
    with pytest.raises(NetworkFileError, match="already"):
        import_network("net.safetensors", "copy", half=False)


def test_the_commands_need_no_torch() -> None:
    save_network(random_network("b2c32"), "net.safetensors")
    assert parameter_count(named_architecture("b2c32")) + 16 + 48 == 46_809
    for arguments, words in (
        (["list"], "b18c384nbt"),
        (["export", "net", "--katago", "net.bin.gz"], "version 14"),
        (["import", "net.bin.gz", "again", "--half"], "Wrote again."),
        (["export", "net", "--half", "half", "--name", "x"], "Wrote half."),
        (["info", "again"], "46,809"),  # b2c32's parameters, and 16 + 48 for its policy again
    ):
        process = run(*arguments)
        assert (process.returncode, process.stderr) == (0, "")
        assert words in process.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["info", "missing.bin.gz"], "missing.bin.gz: there is no such network file"),
        (["info", "."], "is no file"),
        (["import", "garbage"], "garbage: is no network file"),
        (["export", "garbage"], "--half OUT.safetensors"),
        (["export", "garbage", "--katago", "out.bin.gz"], "garbage: is no network file"),
        (["nonsense"], "nonsense"),
        ([], "command"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(
    arguments: list[str], complaint: str, folder: Path
) -> None:
    (folder / "garbage").write_bytes(b"\x00garbage")
    process = run(*arguments)
    assert process.returncode == 2
    assert process.stdout == ""
    assert process.stderr.count("\n") == 1
    assert complaint in process.stderr
    assert {path.name for path in folder.iterdir()} <= {"garbage", "cache"}


def test_a_network_is_verified_and_known_by_its_sha256(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "some.safetensors"
    save_network(random_network("b2c16"), path)
    options = VerifyOptions(precision="float32", positions=3)
    assert verify_network(path, options)
    shown = capsys.readouterr().out
    assert hashlib.sha256(path.read_bytes()).hexdigest() in shown
    assert "winrate" in shown
    show_network(path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() in "".join(capsys.readouterr().out.split())
    monkeypatch.setattr(network_files, "EXACT", Bounds(0, 0, 0, 0))
    assert not verify_network(path, options)
    assert "TOO FAR APART" in capsys.readouterr().out
