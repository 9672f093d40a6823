"""Settings files and --set: any text is read, or refused by a ValueError."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random

from tengen.config import load_sections, parse_settings
from tengen.frontends.command_options import (
    AnalysisOptions,
    GtpOptions,
    load_settings,
    options_in_file,
    sections,
    write_settings,
)
from tengen.runs.params import SECTIONS
from tests.fuzz.driver import Fuzzer
from tests.fuzz.mutation import ODD, changed_bytes

RECIPES = Path(__file__).parents[2] / "docs" / "recipes"


class SettingsFuzzer(Fuzzer):
    name = "settings"

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        explained = write_settings({name: kind() for name, kind in sections().items()})
        self._lines = [line.lstrip("# ") for line in explained.splitlines() if "=" in line]
        self._samples = [path.read_bytes() for path in sorted(RECIPES.glob("*.toml"))]
        self._samples.append(explained.encode())

    def make(self, rng: Random) -> bytes:
        """A recipe, our own file, or some of its lines, mostly damaged."""
        if rng.random() < 0.4:
            return changed_bytes(rng, rng.choice(self._samples))
        lines = []
        for _ in range(rng.randrange(6)):
            line = rng.choice(self._lines)
            if rng.random() < 0.6:
                line = f"{line.partition('=')[0]}= {self._value(rng)}"
            lines += [f"[{rng.choice((*sections(), *SECTIONS, 'x'))}]"] * (rng.random() < 0.5)
            lines.append(line)
        data = "\n".join(lines).encode("utf-8", "replace")
        return changed_bytes(rng, data) if rng.random() < 0.3 else data

    def _value(self, rng: Random) -> str:
        odd = rng.choice(ODD)
        if isinstance(odd, str):
            return '"' + odd.encode("unicode_escape").decode().replace('"', "") + '"'
        return str(odd).lower() if isinstance(odd, bool) or odd is None else str(odd)

    def feed(self, data: bytes) -> int:
        path = Path(self._folder.name) / "settings.toml"
        path.write_bytes(data)
        for read in (
            lambda: load_settings(path),
            lambda: options_in_file(GtpOptions, str(path), {}),
            lambda: options_in_file(AnalysisOptions, str(path), {}),
            lambda: load_sections(path, SECTIONS),
            lambda: parse_settings(data.decode("utf-8", "replace").splitlines()[:3], SECTIONS),
        ):
            with suppress(ValueError):
                read()
        return 1

    def close(self) -> None:
        self._folder.cleanup()
