"""KataGo's rows, read: against our own rows of the same games, and against what KataGo printed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.features.feature_set import BASIC, KATAGO, KATAGO_WITHOUT_LADDERS
from tengen.game.geometry import Size
from tengen.replay.katago_rows_reader import RowsFileError, read_katago_rows
from tengen.replay.katago_rows_writer import Column, katago_arrays, write_katago_rows
from tengen.replay.rows import encode_games
from tests.features.samples import WITHOUT_COMPILER
from tests.replay.games import random_games
from tests.replay.test_katago_own_rows import NAMES, PLAYED, recorded

pytestmark = pytest.mark.kernel

SIDES = (5, (4, 6)) if WITHOUT_COMPILER else (5, 6, 7, (4, 6), (6, 4))
GAMES = random_games(3 if WITHOUT_COMPILER else 20, seed=3, sides=SIDES)
SAME = ("planes", "globals", "reply", "value", "score", "short_values", "short_scores")
SAME_TOO = ("search_value", "lead")


@pytest.mark.parametrize("features", [KATAGO, KATAGO_WITHOUT_LADDERS], ids=lambda each: each.name)
def test_rows_that_were_written_are_read(tmp_path: Path, features: Any) -> None:
    write_katago_rows(tmp_path / "rows.npz", GAMES, 9, 4, "run")
    found = read_katago_rows(tmp_path / "rows.npz", features, 1)
    expected = encode_games(GAMES, features, 4)
    assert found.rows.keys() == expected.keys()
    for size, (rows, order) in expected.items():
        read = found.rows[size]
        np.testing.assert_array_equal(read.order, order)
        for name in (*SAME, *SAME_TOO):
            one, other = getattr(read.rows, name), getattr(rows, name)
            np.testing.assert_allclose(one, other, atol=1e-3, rtol=1e-3, err_msg=name)
        np.testing.assert_allclose(read.rows.policy, rows.policy, atol=1e-3)
        np.testing.assert_allclose(read.rows.policy.sum(1, dtype=np.float64), 1, atol=2e-3)
        counted = rows.value[:, 2] == 0  # without a result nothing is owned
        np.testing.assert_array_equal(read.rows.ownership[counted], rows.ownership[counted])
        np.testing.assert_array_equal(read.rows.known[:, 0], 1)
        np.testing.assert_array_equal(read.rows.known[:, 1:], np.tile(counted[:, None], 3))


@pytest.mark.parametrize("played", PLAYED, ids=NAMES)
def test_rows_of_katagos_games_say_what_katago_printed(
    played: dict[str, Any], tmp_path: Path
) -> None:
    """The arrays equal KataGo's, see test_katago_own_rows; here they are read again."""
    games = recorded(played)
    save(tmp_path / "rows.npz", katago_arrays(games, max(played["size"]), 1, "run"))
    found = read_katago_rows(tmp_path / "rows.npz", KATAGO, 1)
    (rows, order) = found.rows[Size(*played["size"])]
    assert len(order) == len(games.turns) - played["rows"][0]["first"]
    for expected in played["rows"]:
        k = expected["turn"] - expected["first"]
        assert rows.score[k] == expected["score"]
        total = sum(expected["policy"].values())
        for move, weight in expected["policy"].items():
            assert rows.policy[k, int(move)] == pytest.approx(weight / total, abs=2e-3)
        owners = "".join("-.+"[point // 100 + 1] for point in rows.ownership[k].ravel())
        assert owners == expected["planes"][0]
        assert rows.known[k].tolist() == [1, *[expected["weights"][0]] * 3]
    (numbers,) = found.games.values()
    assert len(set(numbers.tolist())) == 1


def save(path: Path, arrays: dict[str, NDArray[Any]]) -> Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


def arrays_of(games: Any = GAMES) -> dict[str, NDArray[Any]]:
    return katago_arrays(games, 9, 4, "run")


def changed(tmp_path: Path, **arrays: NDArray[Any]) -> Path:
    return save(tmp_path / "rows.npz", arrays_of() | arrays)


def test_weights_of_rows_and_targets_count(tmp_path: Path) -> None:
    targets = np.repeat(arrays_of()["globalTargetsNC"][:1], 1000, 0)
    every = {name: np.repeat(array[:1], 1000, 0) for name, array in arrays_of().items()}
    targets[:, Column.ROW_WEIGHT] = 1.3
    targets[:500, Column.LEAD_WEIGHT], targets[:500, Column.LEAD] = 1, 12.5
    targets[:, Column.LESS_VALUE] = 0.25
    targets[:, Column.POLICY_WEIGHT] = 0
    save(tmp_path / "rows.npz", every | {"globalTargetsNC": targets})
    ((rows, order),) = read_katago_rows(tmp_path / "rows.npz", KATAGO, 1).rows.values()
    assert len(order) == pytest.approx(1300, abs=80)
    again = read_katago_rows(tmp_path / "rows.npz", KATAGO, 1)
    assert [len(each.order) for each in again.rows.values()] == [len(order)]
    assert (np.sort(order) == order).all()
    assert {12.5} < set(rows.lead.tolist())
    assert (rows.known[:, 0] == 0.75).all()
    assert not rows.policy.any()  # which costs nothing


def test_games_are_told_apart(tmp_path: Path) -> None:
    write_katago_rows(tmp_path / "rows.npz", GAMES, 9, 4, "run")
    found = read_katago_rows(tmp_path / "rows.npz", KATAGO, 1)
    numbers = np.concatenate(list(found.games.values()))
    assert 1 < len(set(numbers.tolist())) <= len(GAMES.games)


def test_files_that_are_no_rows_are_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    path.write_bytes(b"nothing")
    with pytest.raises(RowsFileError, match=r"rows\.npz: is no file of arrays"):
        read_katago_rows(path, KATAGO, 1)
    with pytest.raises(RowsFileError, match="cannot be read: No such file"):
        read_katago_rows(tmp_path / "missing.npz", KATAGO, 1)
    np.savez(path, other=np.zeros(3))
    with pytest.raises(RowsFileError, match="has no array binaryInputNCHWPacked"):
        read_katago_rows(path, KATAGO, 1)
    with pytest.raises(RowsFileError, match="are not those of V7 inputs"):
        read_katago_rows(changed(tmp_path, globalInputNC=np.zeros((3, 5), np.float32)), KATAGO, 1)
    spoiled = arrays_of()["globalTargetsNC"].copy()
    spoiled[0, 3] = np.nan
    with pytest.raises(RowsFileError, match="impossible"):
        read_katago_rows(changed(tmp_path, globalTargetsNC=spoiled), KATAGO, 1)
    planes = arrays_of()["binaryInputNCHWPacked"].copy()
    planes[0, 0, 0] ^= 64
    with pytest.raises(RowsFileError, match="does not show boards"):
        read_katago_rows(changed(tmp_path, binaryInputNCHWPacked=planes), KATAGO, 1)
    with pytest.raises(RowsFileError, match="the network sees 'basic'"):
        read_katago_rows(changed(tmp_path), BASIC, 1)


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    content = io.BytesIO()
    np.savez_compressed(content, **arrays_of())  # type: ignore[arg-type]
    path = tmp_path / "rows.npz"
    for length in range(0, len(content.getvalue()), len(content.getvalue()) // 7):
        path.write_bytes(content.getvalue()[:length])
        with pytest.raises(RowsFileError):
            read_katago_rows(path, KATAGO, 1)
    objects = np.array([{"a": 1}], object)
    save(path, arrays_of() | {"globalInputNC": objects})
    with pytest.raises(RowsFileError, match="pickle"):
        read_katago_rows(path, KATAGO, 1)


def rows_file(path: Path, head: str, content: bytes = b"") -> Path:
    """A file whose first array has this head, packed as well as can be."""
    save(path, arrays_of())
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    line = head.ljust(117) + "\n"
    array = b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line.encode() + content
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (files | {"binaryInputNCHWPacked.npy": array}).items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    "head",
    [
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000000, 22, 11)}",
        f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({10**30},)}}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-1, 22, 11)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<U9', 'fortran_order': False, 'shape': (1, 22, 11)}",
        "{'descr': {}, 'fortran_order': False, 'shape': (1, 22, 11)}",
        "{'descr': '|u1', 'shape': '''",
        "((((((((((",
        "-" * 9_000 + "1",
        "[" * 4_000,
    ],
)
def test_heads_of_arrays_that_promise_anything_are_refused(head: str, tmp_path: Path) -> None:
    path = rows_file(tmp_path / "rows.npz", head)
    with pytest.raises(RowsFileError, match=r"rows\.npz: is no file of arrays") as refusal:
        read_katago_rows(path, KATAGO, 1)
    assert len(str(refusal.value)) < 400 + len(str(path))


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    head = "{'descr': '|u1', 'fortran_order': False, 'shape': (100000, 22, 46)}"
    path = rows_file(tmp_path / "rows.npz", head, bytes(101_200_000))
    assert path.stat().st_size < 200_000
    with pytest.raises(RowsFileError, match=r"grow past .* do not trust this file"):
        read_katago_rows(path, KATAGO, 1)


def test_an_archive_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "rows.npz", arrays_of())
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # as if it were encrypted
        at = content.find(mark)
        content[at + place] |= 1
    path.write_bytes(content)
    with pytest.raises(RowsFileError, match="encrypted"):
        read_katago_rows(path, KATAGO, 1)


@pytest.mark.parametrize(
    ("array", "change", "complaint"),
    [
        ("globalInputNC", lambda values: values * np.nan, "inputs"),
        ("globalInputNC", lambda values: values + 1e30, "inputs"),
        ("globalTargetsNC", lambda values: values + 1e6, "targets"),
        ("policyTargetsNCMove", lambda values: -abs(values) - 1, "targets"),
        ("globalTargetsNC", lambda values: weighted(values, 999.0), "weights"),
    ],
)
def test_numbers_that_cannot_be_are_refused(
    array: str, change: Callable[[Any], Any], complaint: str, tmp_path: Path
) -> None:
    before = arrays_of()[array]
    path = changed(tmp_path, **{array: change(before).astype(before.dtype)})
    with pytest.raises(RowsFileError, match=rf"{complaint}.* impossible"):
        read_katago_rows(path, KATAGO, 1)


def weighted(targets: NDArray[Any], weight: float) -> NDArray[Any]:
    """Thousands of targets with the same weight: so many copies take all memory."""
    targets = targets.copy()
    targets[:, Column.ROW_WEIGHT] = weight
    return targets
