"""Network files: any bytes are loaded, or refused by a NetworkFileError, and soon."""

from __future__ import annotations

import gzip
import tempfile
import time
from pathlib import Path
from random import Random

from tengen.network.files.errors import NetworkFileError
from tengen.network.files.loading import read_katago
from tengen.network.files.tengen_format import load_network_file, looks_like_safetensors
from tests.fuzz.driver import Fuzzer
from tests.fuzz.mutation import changed_bytes
from tests.network.test_hostile_files import PATIENCE, tiny_content, tiny_file, tiny_tokens
from tests.network.test_katago_files import as_text


class NetworkFuzzer(Fuzzer):
    name = "networks"

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._binary, self._ours = tiny_content(), tiny_file()
        self._text = as_text(tiny_tokens())

    def make(self, rng: Random) -> bytes:
        """A file of KataGo's or ours, damaged; the part that is not numbers more often."""
        data = rng.choice((self._binary, self._text, self._ours))
        if rng.random() < 0.5:
            head = rng.randrange(1, 400)
            data = changed_bytes(rng, data[:head]) + data[head:]
        else:
            data = changed_bytes(rng, data)
        if rng.random() < 0.1:
            data = gzip.compress(data, 1, mtime=0)
            data = changed_bytes(rng, data) if rng.random() < 0.5 else data
        return data

    def feed(self, data: bytes) -> int:
        start, refusal = time.thread_time(), ""
        try:
            if looks_like_safetensors(data[:512]):
                path = Path(self._folder.name) / "network.safetensors"
                path.write_bytes(data)
                load_network_file(path)
            else:
                read_katago(data, "network")
        except NetworkFileError as error:
            refusal = str(error)
        assert refusal.isprintable(), repr(refusal)
        assert time.thread_time() - start < PATIENCE
        return 1

    def close(self) -> None:
        self._folder.cleanup()
