"""Networks go to KataGo's files and back unchanged, and all kinds of files are recognised."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO, KATAGO_WITHOUT_LADDERS
from tengen.network.architecture import Activation, Architecture, Ordinary, Pooling
from tengen.network.architecture_names import named_architecture
from tengen.network.files import katago_tokens
from tengen.network.files import loading as files
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.katago_export import save_katago, to_katago
from tengen.network.files.katago_format import read_network, write_network
from tengen.network.files.katago_tokens import Token, as_bytes
from tengen.network.files.loading import load_network, read_katago
from tengen.network.files.tengen_format import load_network_file, save_network
from tengen.network.network_data import NetworkData, Scaling
from tests.katago_data import FOLDER, needs_katago_data
from tests.network.test_architecture import ODD_ONE
from tests.network.test_tengen_format import SMALL, assert_same, outputs, random_network

OLD_SCALING = Scaling(halved_errors=False)
REAL = ["g170-b6c96", "b7c96h3tfrs"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(folder))
    return folder / "networks"


def there_and_back(data: NetworkData) -> tuple[int, NetworkData]:
    """The version a network is written in, and the network that is read again."""
    version, tokens = to_katago(data)
    return version, read_network(as_bytes(tokens), "test")


def as_text(tokens: list[Token]) -> bytes:
    """Tokens as .txt files have them: arrays as plain numbers, a row of some to a line."""
    lines: list[str] = []
    for _, value in tokens:
        if isinstance(value, np.ndarray):
            rows = value.reshape(-1, value.shape[-1])
            lines += [" ".join(f"{number:.9g}" for number in row) for row in rows]
        else:
            lines.append(str(value))
    return "\n".join(lines).encode()


def with_values(tokens: list[Token], **values: str | float | NDArray[np.float32]) -> bytes:
    """The bytes of a file with other values under some names."""
    assert {what for what, _ in tokens} >= values.keys()
    return as_bytes([Token(what, values.get(what, value)) for what, value in tokens])


# Files of KataGo's own


@needs_katago_data
@pytest.mark.parametrize("name", REAL)
def test_katago_s_networks_survive_the_way_there_and_back(name: str) -> None:
    original = gzip.decompress((FOLDER / f"{name}.bin.gz").read_bytes())
    data = read_network(original, name)
    version, again = there_and_back(data)
    assert_same(data, again)
    assert again.name == data.name
    for mine, theirs in zip(outputs(again), outputs(data), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    # All that KataGo wrote is written again, except for names of layers and unused sizes.
    tokens = write_network(data, version).tokens
    rest = original
    for what, value in tokens:
        if isinstance(value, np.ndarray):
            binary = b"@BIN@" + value.tobytes()
            assert rest.lstrip().startswith(binary), what
            rest = rest.lstrip()[len(binary) :]
        else:
            word, rest = rest.split(None, 1) if b"\n" in rest.strip() else (rest, b"")
            unused = what.startswith("trunk: ") and what.endswith(" channels")
            if value != what and not (unused and name != "g170-b6c96"):
                assert word.decode() == str(value) or float(word) == value, what
    assert not rest.strip()


# Networks of ours


@pytest.mark.parametrize(
    ("architecture", "scaling"),
    [
        *((name, Scaling()) for name in SMALL),
        ("b2c32", OLD_SCALING),
        ("b2c32nbt", OLD_SCALING._replace(score_stdev=7.0)),
        (
            replace(ODD_ONE, pass_hidden=ODD_ONE.policy_mid, score_outputs=6),
            Scaling(1.5, 2.5, 3.5, 4.5, 5.5, 6.5),
        ),
        (
            replace(ODD_ONE, pass_hidden=ODD_ONE.policy_mid, score_outputs=6, policy_outputs=1),
            Scaling(),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_our_networks_say_the_same_after_the_way_there_and_back(
    architecture: str | Architecture, scaling: Scaling
) -> None:
    data = random_network(architecture, scaling=scaling)
    again = there_and_back(data)[1]
    assert again.scaling == scaling
    before, after = outputs(data), outputs(again)
    policies = data.architecture.policy_outputs
    # Matrices of another height are multiplied in another order: the last bit may differ.
    np.testing.assert_allclose(after[0][:, :policies], before[0], atol=1e-6)
    if policies == 1:  # the optimistic policy, where there is one, is the plain one
        np.testing.assert_allclose(after[0][:, -1:], before[0], atol=1e-6)
    for mine, theirs in zip(after[1:], before[1:], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert all(np.abs(output).max() > 1e-3 for output in before)


PLAIN = replace(named_architecture("b2c32"), score_outputs=6)
MISH = replace(PLAIN, activation=Activation.MISH, tip_activation=Activation.MISH)


@pytest.mark.parametrize(
    ("architecture", "scaling", "version"),
    [
        (replace(PLAIN, score_outputs=4), OLD_SCALING, 8),
        (replace(PLAIN, score_outputs=4), Scaling(), 8),  # it has no errors to be computed
        (PLAIN, OLD_SCALING, 11),
        (MISH, OLD_SCALING, 11),
        (named_architecture("b2c32nbt"), OLD_SCALING, 11),
        (replace(MISH, policy_outputs=2), OLD_SCALING, 12),
        (PLAIN, OLD_SCALING._replace(lead=10.0), 13),
        (replace(PLAIN, policy_outputs=2), OLD_SCALING._replace(lead=10.0), 13),
        (PLAIN, Scaling(), 14),
        (replace(PLAIN, policy_outputs=2, pass_hidden=16), Scaling(), 15),
        (replace(PLAIN, pass_hidden=16), Scaling(), 15),
        (replace(PLAIN, policy_outputs=4, pass_hidden=16), Scaling(), 16),
        (named_architecture("b2c32h2tf"), Scaling(), 17),
        (replace(PLAIN, tip_rms_norm=True), Scaling(), 15),
    ],
)
def test_the_version_is_the_lowest_with_room_for_the_network(
    architecture: Architecture, scaling: Scaling, version: int
) -> None:
    chosen, again = there_and_back(random_network(architecture, scaling=scaling))
    assert chosen == version
    if architecture.score_outputs == 6:
        assert again.scaling == scaling


@pytest.mark.parametrize(
    ("stated", "version"), [("10", 10), ("9", 11), ("13", 13), ("15", 11), ("x", 11)]
)
def test_a_network_keeps_the_version_it_came_in_if_that_still_fits(
    stated: str, version: int
) -> None:
    data = random_network(
        PLAIN, scaling=OLD_SCALING, provenance={"origin": "KataGo", "katago_version": stated}
    )
    assert to_katago(data)[0] == version


@pytest.mark.parametrize(
    ("architecture", "scaling", "reason"),
    [
        (replace(PLAIN, score_outputs=4), Scaling(lead=10.0), "score outputs"),
        (replace(MISH, score_outputs=4), Scaling(), "score outputs"),
        (replace(PLAIN, score_outputs=2), Scaling(), "score outputs"),
        (replace(PLAIN, policy_outputs=3), Scaling(), "3 policy outputs"),
        (replace(PLAIN, policy_outputs=4), OLD_SCALING, "another way"),
        (named_architecture("b2c32h2tf"), OLD_SCALING, "another way"),
    ],
)
def test_what_katago_cannot_hold_is_refused(
    architecture: Architecture, scaling: Scaling, reason: str
) -> None:
    with pytest.raises(NetworkFileError, match=f"random: .*{reason}"):
        to_katago(random_network(architecture, scaling=scaling))


@pytest.mark.parametrize("name", ["my first network", "@BIN@ 1", "囲碁", "", "a" * 97, "b18.x+z"])
def test_names_that_katago_refuses_are_refused(name: str) -> None:
    with pytest.raises(NetworkFileError, match=r"KataGo refuses this name.*--name"):
        to_katago(replace(random_network("b2c32"), name=name))


@pytest.mark.parametrize("name", ["b18-s1_x", "A", "a" * 96])
def test_other_names_are_kept(name: str) -> None:
    assert there_and_back(replace(random_network("b2c32"), name=name))[1].name == name


@pytest.mark.parametrize(
    "architecture", [*(named_architecture(name) for name in SMALL), ODD_ONE, PLAIN]
)
def test_trunk_sizes_add_up_as_katago_demands(architecture: Architecture) -> None:
    """KataGo: all are positive, and mid = regular + dilated."""
    _, tokens = to_katago(random_network(replace(architecture, score_outputs=6, pass_hidden=0)))
    sizes = {what: value for what, value in tokens if isinstance(value, int)}
    mid, regular, dilated, pooling = (
        sizes[f"trunk: {kind} channels"] for kind in ("mid", "regular", "dilated", "pooling")
    )
    assert min(regular, dilated, pooling) > 0
    if architecture is not ODD_ONE:
        assert mid == regular + dilated
    if isinstance(architecture.blocks[0], Ordinary):
        assert sizes["blocks.0.conv1: outputs"] == mid
    last = f"blocks.{len(architecture.blocks) - 1}"
    if isinstance(architecture.blocks[-1], Pooling):
        assert sizes[f"{last}.conv1: outputs"] == regular
        assert sizes[f"{last}.conv_pool: outputs"] == pooling


def test_katago_only_takes_files_of_the_right_name(tmp_path: Path) -> None:
    with pytest.raises(NetworkFileError, match=r"\.bin\.gz"):
        save_katago(random_network("b2c32"), tmp_path / "net.gz")


# All kinds of files


def katago_file(folder: Path, kind: str, data: NetworkData) -> Path:
    """A network in one of the kinds of files that KataGo reads, with a name that tells nothing."""
    _, tokens = to_katago(data)
    text = as_text(tokens)
    content = {
        "bin": as_bytes(tokens),
        "bin.gz": gzip.compress(as_bytes(tokens)),
        "txt": text,
        "txt.gz": gzip.compress(text),
        "two members": gzip.compress(text[:9999]) + gzip.compress(text[9999:]),
    }[kind]
    path = folder / "a-network"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", ["bin", "bin.gz", "txt", "txt.gz", "two members"])
@pytest.mark.parametrize("architecture", ["b2c32nbt", "b2c32h2tf"])
def test_files_are_recognised_by_what_is_in_them(
    architecture: str, kind: str, tmp_path: Path
) -> None:
    data = random_network(architecture)
    loaded = load_network(katago_file(tmp_path, kind, data))
    assert_same(loaded, there_and_back(data)[1])


def test_plain_numbers_are_read_across_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = random_network("b2c32")
    path = katago_file(tmp_path, "txt", data)
    monkeypatch.setattr(katago_tokens, "TEXT_WINDOW", 97)
    assert_same(load_network(path), there_and_back(data)[1])


def test_exported_networks_ignore_planes_that_they_never_saw_filled() -> None:
    features = KATAGO_WITHOUT_LADDERS
    data = random_network(replace(PLAIN, features=features.name))
    exported = there_and_back(data)[1]
    assert exported.architecture.features == KATAGO.name
    empty = [features.planes.index(plane) for plane in features.empty]
    seen = [k for k in range(len(features.planes)) if k not in empty]
    assert len(empty) == 4
    assert not exported.weights["conv.weight"][:, empty].any()
    first = data.weights["conv.weight"]
    np.testing.assert_array_equal(exported.weights["conv.weight"][:, seen], first[:, seen])
    assert first[:, empty].any()


def test_our_own_files_are_loaded_whatever_they_are_called(tmp_path: Path) -> None:
    data = random_network("b2c32")
    save_network(data, tmp_path / "net.bin.gz")
    assert_same(load_network(str(tmp_path / "net.bin.gz")), data)


def test_a_name_is_enough_for_a_file_in_this_folder_or_among_the_user_s(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cache.mkdir(parents=True)
    here, kept = random_network("b2c32", seed=1), random_network("b2c32", seed=2)
    save_network(here, tmp_path / "here.safetensors")
    save_network(kept, cache / "kept.safetensors")
    assert_same(load_network("here"), here)
    assert_same(load_network("kept"), kept)
    with pytest.raises(NetworkFileError, match="no such network file"):
        load_network("nowhere")


@pytest.mark.parametrize("version", [3, 5])
def test_versions_that_cannot_be_run_are_refused(version: int, tmp_path: Path) -> None:
    data = random_network(replace(PLAIN, score_outputs=4))
    path = tmp_path / "old.bin"
    path.write_bytes(with_values(to_katago(data)[1], version=version))
    with pytest.raises(NetworkFileError, match=f"old.bin.*version {version} cannot be run"):
        load_network(path)


# What was converted is kept


def test_a_converted_network_is_kept_and_found_by_content(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = katago_file(tmp_path, "bin.gz", random_network("b2c32"))
    first = load_network(path)
    [kept] = cache.iterdir()
    assert_same(load_network_file(kept), first)
    moved = path.rename(tmp_path / "moved")

    def convert_again(*_: object) -> NetworkData:
        raise AssertionError("converted again")

    with monkeypatch.context() as patch:
        patch.setattr(files, "read_katago", convert_again)
        assert_same(load_network(moved), first)
    katago_file(tmp_path, "bin.gz", random_network("b2c32", seed=2))
    other = load_network(path)
    assert len(list(cache.iterdir())) == 2
    assert not np.array_equal(other.weights["conv.weight"], first.weights["conv.weight"])


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "folder"])
def test_a_damaged_copy_does_no_harm(
    damage: str, tmp_path: Path, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = katago_file(tmp_path, "bin.gz", random_network("b2c32"))
    first = load_network(path)
    [kept] = cache.iterdir()
    content = bytearray(kept.read_bytes())
    content[-7] ^= 1
    kept.unlink()
    match damage:
        case "cut":
            kept.write_bytes(content[:5000])
        case "flip":
            kept.write_bytes(content)
        case "empty":
            kept.touch()
        case "folder":
            kept.mkdir()
    assert_same(load_network(path), first)
    assert capfd.readouterr() == ("", "")
    if damage != "folder":
        assert_same(load_network_file(kept), first)
    assert list(cache.iterdir()) == [kept]


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, cache: Path) -> None:
    cache.parent.write_text("a file where the folder should be")
    data = random_network("b2c32")
    loaded = load_network(katago_file(tmp_path, "bin.gz", data))
    assert_same(loaded, there_and_back(data)[1])


def test_an_exported_file_is_the_same_every_time_and_ordinary_to_read(tmp_path: Path) -> None:
    data = random_network("b2c32")
    save_katago(data, tmp_path / "a.bin.gz")
    os.utime(tmp_path / "a.bin.gz", (0, 0))
    save_katago(data, tmp_path / "b.bin.gz")
    content = (tmp_path / "a.bin.gz").read_bytes()
    assert content == (tmp_path / "b.bin.gz").read_bytes()
    assert gzip.decompress(content).split()[:4] == [b"random", b"14", b"22", b"19"]
    assert_same(read_katago(content, "test"), there_and_back(data)[1])
