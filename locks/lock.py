"""Write the lock files: for each Python version all packages with the hashes of their wheels.

`make lock` runs it after a change of constraints.txt or pyproject.toml. Versions are those of
constraints.txt, as pip resolves them; hashes are those of the package index, of all wheels for a
Python version on any system, so that a file holds on all of them.

torch is not locked: which build fits depends on the machine, and each has its own index.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

FOLDER = Path(__file__).parent
PROJECT = FOLDER.parent
INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple")
PYTHONS = "3.11", "3.12", "3.13"
# What a lock file is for, and the extras of the project that it has.
KINDS: dict[str, tuple[str, ...]] = {"play": (), "develop": ("dev", "train")}
NOT_LOCKED = {"torch"}
HEAD = """\
# What Tengen needs to {kind} on Python {python}, with the hashes of all wheels; by `make lock`.
# pip install --require-hashes --only-binary :all: -r locks/{kind}-{python}.txt
# pip install --no-deps tengen
"""


class Locked(NamedTuple):
    """A package and the SHA-256 of its wheels."""

    name: str
    version: str
    hashes: tuple[str, ...]


def main() -> None:
    for kind, extras in KINDS.items():
        for python in PYTHONS:
            packages = [
                Locked(name, version, wheel_hashes(name, version, python))
                for name, version in resolved(wanted(extras), python)
            ]
            path = lock_file(kind, python)
            path.write_text(HEAD.format(python=python, kind=kind) + written(packages), "utf-8")
            print(f"{path.relative_to(PROJECT)}: {len(packages)} packages")


def lock_file(kind: str, python: str) -> Path:
    """Where a lock file is."""
    return FOLDER / f"{kind}-{python}.txt"


def wanted(extras: tuple[str, ...]) -> list[str]:
    """What pyproject.toml asks for with these extras, without what is not locked."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [*project["dependencies"]]
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    return [line for line in lines if canonicalize_name(Requirement(line).name) not in NOT_LOCKED]


def resolved(requirements: list[str], python: str) -> list[tuple[str, str]]:
    """Names and versions of all that pip would install for a Python version, sorted."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        options = ["--dry-run", "--ignore-installed", "--quiet", "--only-binary=:all:"]
        options += ["--target", folder, "--python-version", python, "--report", str(report)]
        options += ["--constraint", str(PROJECT / "constraints.txt")]
        subprocess.run(
            [sys.executable, "-m", "pip", "install", *options, *requirements], check=True
        )
        found = [item["metadata"] for item in json.loads(report.read_text("utf-8"))["install"]]
    names = {canonicalize_name(each["name"]): each["version"] for each in found}
    return sorted((name, version) for name, version in names.items() if name not in NOT_LOCKED)


class _Links(HTMLParser):
    """File names and SHA-256 of a page of the package index."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        link = urlsplit(dict(attrs).get("href") or "")
        if tag == "a" and link.fragment.startswith("sha256="):
            self.found[link.path.rpartition("/")[2]] = link.fragment.removeprefix("sha256=")


def wheel_hashes(name: str, version: str, python: str) -> tuple[str, ...]:
    """The SHA-256 of all wheels of a version that this Python can use, on whatever system."""
    with urllib.request.urlopen(f"{INDEX.rstrip('/')}/{name}/", timeout=120) as page:
        links = _Links()
        links.feed(page.read().decode())
    hashes = [
        digest
        for file, digest in links.found.items()
        if file.endswith(".whl") and _fits(file, name, version, python)
    ]
    if not hashes:
        raise SystemExit(f"{name} {version}: no wheel for Python {python} has a hash in the index")
    return tuple(sorted(hashes))


def _fits(file: str, name: str, version: str, python: str) -> bool:
    try:
        wheel_name, wheel_version, _, tags = parse_wheel_filename(file)
    except InvalidWheelFilename:
        return False
    interpreter = f"cp{python.replace('.', '')}"
    return (wheel_name, str(wheel_version)) == (name, version) and any(
        (tag.interpreter == interpreter and tag.abi in (interpreter, "abi3", "none"))
        or tag.interpreter in ("py3", f"py{python.replace('.', '')}")
        or (tag.abi == "abi3" and _number(tag.interpreter) <= _number(interpreter))
        for tag in tags
    )


def _number(interpreter: str) -> int:
    digits = interpreter.removeprefix("cp")
    return int(digits[1:]) if digits.isdecimal() and digits.startswith("3") else 10**6


def written(packages: list[Locked]) -> str:
    """The lines of a lock file."""
    return "".join(
        f"{each.name}=={each.version} \\\n"
        + " \\\n".join(f"    --hash=sha256:{digest}" for digest in each.hashes)
        + "\n"
        for each in packages
    )


def read(path: Path) -> list[Locked]:
    """The packages of a lock file."""
    text = path.read_text("utf-8").replace("\\\n", " ")
    packages = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            pinned, *hashes = line.split()
            name, _, version = pinned.partition("==")
            digests = tuple(each.removeprefix("--hash=sha256:") for each in hashes)
            packages.append(Locked(name, version, digests))
    return packages


if __name__ == "__main__":
    main()
