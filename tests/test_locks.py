"""The lock files agree with the pins, and the bill of materials with the lock files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from locks.lock import KINDS, NOT_LOCKED, PYTHONS, Locked, lock_file, read, wanted, written
from locks.sbom import bill
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FILES = [(kind, python) for kind in KINDS for python in PYTHONS]


def pins() -> dict[str, str]:
    lines = Path("constraints.txt").read_text("utf-8").splitlines()
    pinned = [line.partition("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, _, version in pinned}


@pytest.mark.parametrize(("kind", "python"), FILES)
def test_all_that_is_needed_is_locked_at_its_pin(kind: str, python: str) -> None:
    """Fails after a change of the pins: run `make lock`."""
    locked = {each.name: each.version for each in read(lock_file(kind, python))}
    known = pins()
    assert {name: known.get(name) for name in locked} == locked
    needed = {canonicalize_name(Requirement(line).name) for line in wanted(KINDS[kind])}
    assert needed <= set(locked)
    assert not NOT_LOCKED & set(locked)


@pytest.mark.parametrize(("kind", "python"), FILES)
def test_every_package_has_hashes_of_wheels(kind: str, python: str) -> None:
    path = lock_file(kind, python)
    packages = read(path)
    digests = [digest for each in packages for digest in each.hashes]
    assert len(packages) > 20
    assert all(each.hashes for each in packages)
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
    assert "://" not in path.read_text("utf-8")  # no index, and no machine of ours


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    packages = [Locked("a", "1", ("0" * 64, "1" * 64)), Locked("b", "2.0", ("2" * 64,))]
    path = tmp_path / "lock.txt"
    path.write_text(f"# remark\n{written(packages)}", "utf-8")
    assert read(path) == packages


@pytest.mark.parametrize("python", PYTHONS)
def test_the_bill_has_all_packages_and_networks(python: str) -> None:
    found = bill(python)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    names = {part["name"] for part in found["components"]}
    assert {each.name for each in read(lock_file("play", python))} <= names
    networks = Path("src/tengen/network/files").glob("*.safetensors")
    assert {path.stem for path in networks} <= names
    references = [part["bom-ref"] for part in found["components"]]
    assert len(set(references)) == len(references)
    assert found["dependencies"][0]["dependsOn"] == references
