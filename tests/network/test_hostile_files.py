"""Broken and hostile network files: one clear error, soon, and nothing else happens."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import struct
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save

from tengen.network.architecture import (
    Architecture,
    Attention,
    Bottleneck,
    FeedForward,
    Ordinary,
    Pooling,
    Rope,
)
from tengen.network.files.errors import NetworkFileError
from tengen.network.files.katago_export import to_katago
from tengen.network.files.katago_tokens import Token, as_bytes
from tengen.network.files.loading import load_network, read_katago
from tengen.network.files.tengen_format import (
    check_network,
    checksum,
    load_network_file,
    save_network,
)
from tengen.network.network_data import NetworkData
from tests.network.test_katago_files import as_text, with_values
from tests.network.test_tengen_format import assert_same, random_network

PATIENCE = 1.0  # seconds of this thread; other programs do not count
TINY = Architecture(
    blocks=(
        Pooling(6, 4),
        Bottleneck(8, (Ordinary(4),)),  # as wide as the trunk, so that it can be nested
        Attention(2, 1, 4, 3, Rope.LEARNED),
        FeedForward(6, gated=True),
    ),
    channels=8,
    policy_mid=4,
    policy_pool=3,
    value_mid=4,
    value_hidden=5,
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENGEN_CACHE_DIR", str(tmp_path / "cache"))


@cache
def tiny_tokens() -> list[Token]:
    return to_katago(random_network(TINY))[1]


def tiny_content() -> bytes:
    return as_bytes(tiny_tokens())


@cache
def tiny_file() -> bytes:
    """One of our files, as bytes."""
    return safetensors_file()


def refusal(load: Callable[[Any], NetworkData], what: Any) -> str:
    """The error that loading something gives; it must come soon and be one line."""
    start = time.thread_time()
    with pytest.raises(NetworkFileError) as caught:
        load(what)
    assert time.thread_time() - start < PATIENCE
    message = str(caught.value)
    assert message.replace(str(what), "").isprintable()
    return message


def refused_file(path: Path) -> str:
    """The error for a file, which it must name."""
    message = refusal(load_network, path)
    assert str(path) in message
    return message


def refused_katago(content: bytes) -> str:
    message = refusal(lambda content: read_katago(content, "hostile.bin"), content)
    assert message.startswith("hostile.bin: ")
    return message


def usable_or_refused(content: bytes) -> bool:
    """Whether a KataGo file is refused; if it is not, its network must be in order."""
    start = time.thread_time()
    try:
        check_network(read_katago(content, "hostile.bin"), "hostile.bin")
    except NetworkFileError:
        return True
    finally:
        assert time.thread_time() - start < PATIENCE
    return False


def safetensors_file(
    tensors: Callable[[dict[str, Any]], object] = lambda _: None,
    sign: bool = True,
    **metadata: str | None,
) -> bytes:
    """One of our files with some changes, and the right checksum for them unless not signed."""
    data = random_network(TINY)
    values: dict[str, Any] = dict(data.weights)
    tensors(values)
    header = {
        "format": "tengen 1",
        "name": data.name,
        "architecture": TINY.to_json(),
        "features": "katago",
        "features_version": "7",
        "scaling": json.dumps(data.scaling._asdict()),
        "provenance": "{}",
    } | metadata
    known = {name: value for name, value in header.items() if value is not None}
    if sign:
        known["sha256"] = checksum(values, known)
    return save(values, known)


# The files below are broken ones of these


def test_the_files_that_are_broken_below_are_right_before(tmp_path: Path) -> None:
    data = random_network(TINY)
    path = tmp_path / "net"
    path.write_bytes(tiny_file())
    assert_same(load_network(path), data)
    save_network(data, path)
    assert_same(load_network(path), data)
    binary = read_katago(tiny_content(), "test")
    assert_same(read_katago(as_text(tiny_tokens()), "test"), binary)
    assert_same(read_katago(gzip.compress(tiny_content()), "test"), binary)
    read_katago(nested_blocks(2), "test")


# Truncated and flipped


def cuts(content: bytes) -> list[int]:
    """Where to cut: everywhere at both ends, and here and there between."""
    size = len(content)
    between = Random(1).sample(range(size), 150)
    return sorted({*range(150), *between, *range(size - 50, size)})


def test_a_truncated_binary_file_is_refused() -> None:
    content = tiny_content().rstrip()
    for cut in cuts(content):
        refused_katago(content[:cut])


def test_a_truncated_text_file_is_refused() -> None:
    content = as_text(tiny_tokens())
    end = content.rstrip().rindex(b" ")  # a number cut short is still a number
    for cut in cuts(content[:end]):
        refused_katago(content[:cut])


def test_a_truncated_compressed_file_is_refused() -> None:
    content = gzip.compress(tiny_content())
    for cut in cuts(content):
        refused_katago(content[:cut])


def test_a_truncated_file_of_ours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    for cut in cuts(tiny_file()):
        path.write_bytes(tiny_file()[:cut])
        refused_file(path)
        refusal(load_network_file, path)


@pytest.mark.parametrize("kind", ["binary", "text", "compressed"])
def test_flipped_bytes_in_katago_s_files_do_no_harm(kind: str) -> None:
    random = Random(2)
    model = tiny_content()
    content = {
        "binary": model,
        "text": as_text(tiny_tokens()),
        "compressed": gzip.compress(model),
    }[kind]
    refused = 0
    for i in range(400):
        hostile = bytearray(content)
        for _ in range(1 + i % 3):
            hostile[random.randrange(len(hostile) if i % 2 else 400)] = random.randrange(256)
        refused += usable_or_refused(bytes(hostile))
    assert refused > 100


def test_flipped_bytes_in_our_files_are_noticed(tmp_path: Path) -> None:
    random = Random(3)
    data, path = random_network(TINY), tmp_path / "net.safetensors"
    length = 8 + struct.unpack("<Q", tiny_file()[:8])[0]
    refused = 0
    for i in range(400):
        hostile = bytearray(tiny_file())
        at = random.randrange(len(hostile) if i % 2 else length)
        hostile[at] ^= 1 << random.randrange(8)
        path.write_bytes(hostile)
        try:
            assert_same(load_network(path), data)
        except NetworkFileError:
            refused += 1
    assert refused > 380  # a space in the header may have become another white space


# KataGo's files with wrong contents


def mutants() -> Iterator[bytes]:
    """Files with one token changed or left out, for all tokens."""
    tokens = tiny_tokens()
    for i, (what, value) in enumerate(tokens):
        wrong: list[Any]
        if isinstance(value, np.ndarray):
            wrong = [value[:-1], np.full_like(value, np.nan)]
        elif isinstance(value, str):
            wrong = ["@BIN@", "\x1b[2J"]
        else:
            wrong = [0, -1, value + 1, 10**18]
        for each in wrong:
            yield as_bytes([*tokens[:i], Token(what, each), *tokens[i + 1 :]])
        yield as_bytes(tokens[:i] + tokens[i + 1 :])


def test_every_number_and_word_of_a_file_may_be_wrong() -> None:
    verdicts = [usable_or_refused(mutant) for mutant in mutants()]
    assert len(verdicts) > 500
    # What is not refused is a new scale, epsilon or layer's name, or a number that nobody needs.
    assert 0.5 < sum(verdicts) / len(verdicts) < 1


def tiny_with(**values: Any) -> bytes:
    return with_values(tiny_tokens(), **values)


def conv_with(**values: Any) -> bytes:
    return tiny_with(
        **{"conv.weight" if name == "weight" else f"conv: {name}": v for name, v in values.items()}
    )


def blocks_with(n_blocks: int, blocks: list[Token]) -> bytes:
    """A file with other blocks."""
    tokens = [t._replace(value=n_blocks) if t.what == "trunk: blocks" else t for t in tiny_tokens()]
    places = [i for i, token in enumerate(tokens) if token.what.startswith("blocks.")]
    return as_bytes([*tokens[: places[0]], *blocks, *tokens[places[-1] + 1 :]])


def block_tokens(i: int) -> list[Token]:
    return [token for token in tiny_tokens() if token.what.startswith(f"blocks.{i}")]


def nested_blocks(levels: int) -> bytes:
    block = block_tokens(1)
    inner = [token for token in block if ".blocks." in token.what]
    first, last = block.index(inner[0]), block.index(inner[-1])
    for _ in range(levels):
        inner = [*block[:first], *inner, *block[last + 1 :]]
    return blocks_with(1, [*block[:first], *inner, *block[last + 1 :]])


MANY = r"more than 1,000 blocks \(byte"
FIRST_CONV: Any = next(t.value for t in tiny_tokens() if t.what == "conv.weight")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (lambda: tiny_with(version=2), "version 2"),
        (lambda: tiny_with(version=18), "version 18"),
        (lambda: tiny_with(version=-1), "-1"),
        (lambda: tiny_with(version=16), "is no size|ends|known"),
        (lambda: tiny_with(planes=23), "planes is 23, but only 22"),
        (lambda: tiny_with(globals=0), "globals is 0, but only 19"),
        (lambda: conv_with(inputs=-22), "'-22' is no size"),
        (
            lambda: conv_with(height=65_535, width=65_535),
            "numbers in a file of",
        ),
        (lambda: conv_with(inputs=10**30), "is no size"),
        (lambda: conv_with(inputs="9" * 10_000), "no KataGo network"),
        (lambda: conv_with(outputs=0), "conv: outputs is 0, but only 8"),
        (lambda: conv_with(**{"dilation x": 2}), "conv: dilation x is 2, but only 1"),
        (lambda: conv_with(width=1), "conv: width is 1, but only 3"),
        (
            lambda: conv_with(height=2, width=2, weight=FIRST_CONV[:2, :2]),
            "first_kernel is 2, which is even",
        ),
        (lambda: conv_with(weight=FIRST_CONV * np.float32(np.nan)), r"not finite \(byte"),
        (lambda: tiny_with(**{"trunk: channels": 9}), "conv: outputs is 8, but only 9"),
        (lambda: tiny_with(**{"trunk: blocks": 65_535}), "unknown kind of block"),
        (lambda: blocks_with(0, []), "no blocks"),
        (lambda: blocks_with(1_200, block_tokens(0) * 1_200), MANY),
        (lambda: nested_blocks(50), r"nested too deeply \(byte"),
        (lambda: nested_blocks(3), r"nested too deeply \(byte"),
        (lambda: tiny_content() + b"more", "goes on after"),
        (lambda: b" " * 10_000_000, "no network file"),
        (lambda: b"x" * 10_000_000, "no network file"),
        (lambda: b"name 14 " + b" " * 10_000_000, "ends too soon"),
        (lambda: b"name 14 " + b"@" * 10_000_000, "is no size"),
        (lambda: b"name 14 22 19 " + b"9 " * 5_000_000, "numbers|known"),
        (lambda: b"\0" * 10_000_000, "no network file"),
        (lambda: b"<!DOCTYPE html><html>404</html>", "web page"),
        (lambda: gzip.compress(b""), "empty"),
        (lambda: gzip.compress(gzip.compress(b"twice")), "no network file"),
    ],
)
def test_wrong_contents_are_refused(content: Callable[[], bytes], complaint: str) -> None:
    made = content()
    start = time.thread_time()
    with pytest.raises(NetworkFileError, match=complaint):
        read_katago(made, "hostile.bin")
    assert time.thread_time() - start < PATIENCE


@pytest.mark.parametrize("number", ["nan", "inf", "1e999", "-1e39", "x", "1,5", ""])
def test_wrong_numbers_in_text_are_refused(number: str) -> None:
    text = as_text(tiny_tokens()).decode()
    [bias] = [value for what, value in tiny_tokens()[::-1] if what == "value.score.bias"][:1]
    assert isinstance(bias, np.ndarray)
    row = " ".join(f"{value:.9g}" for value in bias)
    assert text.count(row) == 1
    wrong = " ".join([*row.split()[:-1], number])
    refused_katago(text.replace(row, wrong).encode())


def test_a_long_number_in_text_takes_no_room_for_the_others() -> None:
    text = as_text(tiny_tokens()).decode()
    [kernel] = [value for what, value in tiny_tokens() if what == "conv.weight"][:1]
    assert isinstance(kernel, np.ndarray)
    first = f"{kernel.reshape(-1)[0]:.9g} "
    assert first in text
    tracemalloc.start()
    complaint = refused_katago(text.replace(first, "0" * 200_000 + first, 1).encode())
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "characters" in complaint
    assert most < 50e6  # 200 kB for each of 1,584 numbers would be over 300 MB


def test_a_gzip_bomb_is_not_expanded(tmp_path: Path) -> None:
    member = gzip.compress(bytes(64 << 20))
    path = tmp_path / "bomb.bin.gz"
    path.write_bytes(member * 20)  # 1.3 GB when expanded
    assert "grows past" in refused_file(path)


def test_names_from_files_cannot_steer_a_terminal() -> None:
    name = "a\x1b[2J\x9b31mb"
    loaded = read_katago(tiny_with(name=name), "test")
    assert loaded.name.isprintable()
    assert loaded.name[0] == "a"


# Our own files with wrong contents


def header_file(length: int, header: bytes = b"{}") -> bytes:
    return struct.pack("<Q", length) + header


@pytest.mark.parametrize(
    "content",
    [
        header_file(2**63),
        header_file(2**64 - 1),
        header_file(10**9),
        header_file(10**6),
        header_file(2),
        header_file(0),
        header_file(1, b"{"),
        header_file(8, b"{" + b"[" * 7),
        header_file(10**6, b"{" + b'"a":{' * 200_000),
        header_file(
            62, b'{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}       ' + b"\0" * 4
        ),
        header_file(
            80, b'{"a":{"dtype":"F32","shape":[99999999999],"data_offsets":[0,399999999996]}}     '
        ),
        header_file(
            60, b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}      ' + b"\0" * 4
        ),
    ],
    ids=range(12),
)
def test_hostile_headers_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    path.write_bytes(content)
    refused_file(path)
    refusal(load_network_file, path)


def test_a_header_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    with path.open("wb") as file:
        file.write(header_file(2**31))
        file.truncate(2**31 + 100)  # a hole, which takes no room
    assert "claims a header of 2,147,483,648 bytes" in refused_file(path)


def test_a_large_file_of_something_else_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "net.bin"
    with path.open("wb") as file:
        file.truncate(3 << 30)
    assert "is no network file" in refused_file(path)
    with path.open("wb") as file:
        file.truncate(5 << 30)
    assert "is larger than 4 GiB" in refused_file(path)


def set_to(name: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda tensors: tensors.update({name: value})


BIAS = np.zeros(8, np.float32)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (lambda: safetensors_file(lambda t: t.pop("tip.bias")), "tip.bias is missing"),
        (lambda: safetensors_file(set_to("tip.more", BIAS)), "tip.more does not belong"),
        (lambda: safetensors_file(set_to("tip.bias", BIAS[:7])), r"tip.bias has the shape \(7,\)"),
        (lambda: safetensors_file(set_to("tip.bias", BIAS[:, None])), "has the shape"),
        (lambda: safetensors_file(set_to("tip.bias", BIAS.astype(np.float64))), "F64"),
        (lambda: safetensors_file(set_to("tip.bias", BIAS.astype(np.int32))), "I32"),
        (lambda: safetensors_file(set_to("tip.bias", BIAS + np.float32(np.nan))), "not finite"),
        (lambda: safetensors_file(set_to("tip.bias", BIAS + np.float32(np.inf))), "not finite"),
        (lambda: safetensors_file(set_to("tip.variance", BIAS - 1)), "not positive"),
        (lambda: safetensors_file(set_to("\x1b[2J", BIAS)), "does not belong"),
        (lambda: safetensors_file(sign=False), "checksum"),
        (lambda: safetensors_file(sign=False, sha256="0" * 64), "checksum"),
        (lambda: safetensors_file(format=None), "no network of Tengen's"),
        (lambda: safetensors_file(format="pt"), "no network of Tengen's"),
        (lambda: safetensors_file(format="tengen 2"), "update Tengen"),
        (lambda: safetensors_file(architecture=None), "not an architecture"),
        (lambda: safetensors_file(architecture="[" * 100_000), "not an architecture"),
        (lambda: safetensors_file(architecture=replace(TINY, channels=16).to_json()), "shape"),
        (lambda: safetensors_file(architecture=replace(TINY, channels=-8).to_json()), "-8"),
        (
            lambda: safetensors_file(architecture=replace(TINY, planes=3).to_json()),
            r"conv.weight has the shape",
        ),
        (
            lambda: safetensors_file(
                set_to("conv.weight", np.zeros((8, 3, 3, 3), np.float32)),
                architecture=replace(TINY, planes=3).to_json(),
            ),
            "made for 3 planes",
        ),
        (
            lambda: safetensors_file(
                architecture=replace(TINY, features="tarot").to_json(),
                features="tarot",
                features_version="1",
            ),
            "tarot",
        ),
        (lambda: safetensors_file(features="tarot"), "tarot"),
        (lambda: safetensors_file(features_version="8"), "version '8'"),
        (lambda: safetensors_file(scaling=None), "scaling"),
        (lambda: safetensors_file(scaling="[1, 2, 3]"), "scaling"),
        (lambda: safetensors_file(scaling='{"halved_errors": true, "lead": 1}'), "scaling"),
        (
            lambda: safetensors_file(
                scaling=json.dumps(random_network(TINY).scaling._replace(lead=np.nan)._asdict())
            ),
            "scaling",
        ),
        (
            lambda: safetensors_file(
                scaling=json.dumps(random_network(TINY).scaling._replace(score_error=-1)._asdict())
            ),
            "scaling",
        ),
        (lambda: safetensors_file(provenance="3"), "provenance"),
        (lambda: safetensors_file(provenance='{"games": 3}'), "provenance"),
        (lambda: safetensors_file(provenance="[" * 100_000), "provenance"),
        (lambda: save({"weight": BIAS}), "no network of Tengen's"),
    ],
)
def test_wrong_files_of_ours_are_refused(
    content: Callable[[], bytes], complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / "net.safetensors"
    path.write_bytes(content())
    with pytest.raises(NetworkFileError, match=complaint):
        load_network_file(path)
    refused_file(path)


# Files that are none of ours


class Trap:
    """Whoever unpickles this makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize("name", ["net.safetensors", "net.bin.gz", "net.pt"])
@pytest.mark.parametrize("kind", [*range(6), "torch", "old torch", "compressed"])
def test_pickles_are_recognised_and_never_run(kind: int | str, name: str, tmp_path: Path) -> None:
    path, sprung = tmp_path / name, tmp_path / "sprung"
    trap = Trap(sprung)
    if isinstance(kind, int):
        path.write_bytes(pickle.dumps(trap, protocol=kind))
    elif kind == "compressed":
        path.write_bytes(gzip.compress(pickle.dumps(trap)))
    else:
        torch.save(trap, path, _use_new_zipfile_serialization=kind == "torch")
    message = refused_file(path)
    refusal(load_network_file, path)
    assert not sprung.exists()
    if kind not in (0, 1):  # the oldest pickles are text without a mark
        assert "never opened" in message
        assert "safetensors" in message
    if isinstance(kind, int):
        pickle.loads(path.read_bytes())
        assert sprung.exists()  # the trap was a real one


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert "is empty" in refused_file(tmp_path / "empty")
    assert "is no file" in refused_file(tmp_path)
    assert "no such network" in refused_file(tmp_path / "missing")
    os.mkfifo(tmp_path / "pipe")
    assert "is no file" in refused_file(tmp_path / "pipe")
    for path in (tmp_path / "empty", tmp_path, tmp_path / "missing", tmp_path / "pipe"):
        assert str(path) in refusal(load_network_file, path)
    for path in (tmp_path / "nul\0l", tmp_path / ("x" * 5000)):
        refusal(load_network, path)
        refusal(load_network_file, path)
