"""Files of KataGo's training rows: any bytes are read, or refused by a RowsFileError, and soon."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path
from random import Random

import numpy as np

from tengen.features.feature_set import KATAGO
from tengen.replay.katago_rows_reader import RowsFileError, read_katago_rows
from tengen.replay.katago_rows_writer import katago_arrays
from tests.fuzz.driver import Fuzzer
from tests.fuzz.mutation import changed_bytes
from tests.replay.games import random_games

HEAD = 128  # bytes of an array's file before its numbers


class RowsFuzzer(Fuzzer):
    name = "rows"

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._files = {}
        for name, array in katago_arrays(random_games(1, seed=3, sides=(5,)), 5, 4, "run").items():
            content = io.BytesIO()
            np.save(content, array)
            self._files[f"{name}.npy"] = content.getvalue()

    def make(self, rng: Random) -> bytes:
        """An archive with a damaged array, of which the head more often, or a damaged archive."""
        files = dict(self._files)
        if rng.random() < 0.6:
            name = rng.choice(list(files))
            head, rest = files[name][:HEAD], files[name][HEAD:]
            if rng.random() < 0.7:
                head = changed_bytes(rng, head)
            else:
                rest = changed_bytes(rng, rest)
            files[name] = head + rest
            return _archive(files, rng)
        return changed_bytes(rng, _archive(files, rng))

    def feed(self, data: bytes) -> int:
        path = Path(self._folder.name) / "rows.npz"
        path.write_bytes(data)
        found, refusal = {}, ""
        try:
            found = read_katago_rows(path, KATAGO, 1).rows
        except RowsFileError as error:
            refusal = str(error)
        assert refusal.isprintable(), repr(refusal)
        for rows, _ in found.values():
            assert all(np.isfinite(each).all() for each in rows if each.dtype.kind == "f")
        return 1

    def close(self) -> None:
        self._folder.cleanup()


def _archive(files: dict[str, bytes], rng: Random) -> bytes:
    content = io.BytesIO()
    kind = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(content, "w", kind) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, kind)  # without the time of day
    return content.getvalue()
