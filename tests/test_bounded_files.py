"""Files are read up to a size, whatever they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen import bounded_files
from tengen.bounded_files import read_bounded
from tengen.config import load_sections, parse_settings
from tengen.frontends.command_options import load_settings, sections
from tengen.frontends.katago_settings import read_config
from tengen.game.sgf.records import SgfError, load_sgf

ENDLESS = Path("/dev/zero")
needs_endless_files = pytest.mark.skipif(not ENDLESS.exists(), reason="there is none")


def test_a_file_of_just_the_size_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    with pytest.raises(OSError, match="too large") as failed:
        read_bounded(path, 4)
    assert failed.value.filename == str(path)


@needs_endless_files
def test_files_without_an_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tengen.game.sgf.records.RECORD_BYTES", 1_000_000)
    with pytest.raises(SgfError, match=r"/dev/zero.*too large"):
        load_sgf(ENDLESS)
    with pytest.raises(ValueError, match=r"/dev/zero.*too large"):
        load_settings(ENDLESS)
    with pytest.raises(ValueError, match=r"/dev/zero.*too large"):
        read_config(ENDLESS)
    assert bounded_files.RECORD_BYTES < 1 << 30


@pytest.mark.parametrize(
    "text", ["a = " + 5_000 * "[", "[" + ".".join(5_000 * ["a"]) + "]", "a = " + 5_000 * "{b="]
)
def test_settings_that_are_nested_too_deep_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"settings\.toml"):
        load_sections(path, sections())
    with pytest.raises(ValueError, match="visits"):
        parse_settings(["gtp.visits=" + text.partition("= ")[2]], sections())
