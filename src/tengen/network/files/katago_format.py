"""KataGo's network files as data: one declaration of each part serves for reading and writing.

A file is a sequence of tokens. Text and numbers are separated by white space; an array of floats is
``@BIN@`` and little-endian float32, or in ``.txt`` files plain numbers. Each part of the file is
a dataclass here whose fields stand in the order of the file.
"""

from __future__ import annotations

import math
import re
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from tengen.network.architecture import MAX_BLOCKS, MAX_NESTING, MAX_SIZE
from tengen.network.files.errors import AGAIN, NetworkFileError, one_line

OLDEST_VERSION, NEWEST_VERSION = 3, 17
TRUNK_DEPTH = 1  # of parts in parts; a file is at depth 0
TEXT_WINDOW = 1 << 20  # bytes of plain numbers that are read at once

Floats: TypeAlias = NDArray[np.float32]
Reserved: TypeAlias = tuple[int, ...]
_TOKEN = re.compile(rb"\s*([^\s@]\S{0,199}|@\S{0,4})(?=\s|@|\Z)")
_BINARY = re.compile(rb"\s*@BIN@")


class Shape(tuple[str, ...]):
    """Names the fields that are the dimensions of an array."""


class Count(str):
    """Names the field that is the length of a list."""


class Length(int):
    """The length of a tuple of reserved numbers."""


class When(NamedTuple):
    """A condition for a field to be present, on earlier fields and the file's version."""

    condition: Callable[[Mapping[str, Any], int], bool]


def since(version: int) -> When:
    """The condition of fields that the format has since a version."""
    return When(lambda _, file_version: file_version >= version)


@dataclass(frozen=True)
class Convolution:
    name: str
    height: int
    width: int
    inputs: int
    outputs: int
    dilation_y: int
    dilation_x: int
    weights: Annotated[Floats, Shape(("height", "width", "inputs", "outputs"))]


@dataclass(frozen=True)
class BatchNorm:
    name: str
    channels: int
    epsilon: float
    has_scale: bool
    has_bias: bool
    mean: Annotated[Floats, Shape(("channels",))]
    variance: Annotated[Floats, Shape(("channels",))]
    scale: Annotated[Floats | None, When(lambda norm, _: norm["has_scale"]), Shape(("channels",))]
    bias: Annotated[Floats | None, When(lambda norm, _: norm["has_bias"]), Shape(("channels",))]


@dataclass(frozen=True)
class RmsNorm:
    name: str
    channels: int
    epsilon: float
    weights: Annotated[Floats, Shape(("channels",))]


@dataclass(frozen=True)
class TipRmsNorm:
    name: str
    channels: int
    epsilon: float
    reserved1: int
    reserved2: int
    weights: Annotated[Floats, Shape(("channels",))]
    bias: Annotated[Floats, Shape(("channels",))]


@dataclass(frozen=True)
class Matrix:
    name: str
    inputs: int
    outputs: int
    weights: Annotated[Floats, Shape(("inputs", "outputs"))]


@dataclass(frozen=True)
class Bias:
    name: str
    channels: int
    values: Annotated[Floats, Shape(("channels",))]


@dataclass(frozen=True)
class Activation:
    name: str
    kind: Annotated[str | None, since(11)]  # ReLU in older files


@dataclass(frozen=True)
class OrdinaryBlock:
    name: str
    norm1: BatchNorm
    act1: Activation
    conv1: Convolution
    norm2: BatchNorm
    act2: Activation
    conv2: Convolution


@dataclass(frozen=True)
class PoolingBlock:
    name: str
    norm1: BatchNorm
    act1: Activation
    conv1: Convolution
    conv_pool: Convolution
    norm_pool: BatchNorm
    act_pool: Activation
    pool_to_bias: Matrix
    norm2: BatchNorm
    act2: Activation
    conv2: Convolution


@dataclass(frozen=True)
class BottleneckBlock:
    name: str
    n_blocks: int
    norm1: BatchNorm
    act1: Activation
    conv1: Convolution
    blocks: Annotated[list[Block], Count("n_blocks")]
    norm2: BatchNorm
    act2: Activation
    conv2: Convolution


@dataclass(frozen=True)
class RopeFrequencies:
    name: str
    heads: int
    pairs: int
    axes: int
    values: Annotated[Floats, Shape(("heads", "pairs", "axes"))]


@dataclass(frozen=True)
class RopeTheta:
    name: str
    value: float


@dataclass(frozen=True)
class AttentionBlock:
    name: str
    heads: int
    kv_heads: int
    query_dim: int
    value_dim: int
    rope: bool
    learned_rope: bool
    norm: RmsNorm
    query: Matrix
    key: Matrix
    value: Matrix
    out: Matrix
    frequencies: Annotated[
        RopeFrequencies | None, When(lambda block, _: block["rope"] and block["learned_rope"])
    ]
    theta: Annotated[
        RopeTheta | None, When(lambda block, _: block["rope"] and not block["learned_rope"])
    ]


@dataclass(frozen=True)
class FeedForwardBlock:
    name: str
    channels: int
    hidden: int
    gated: bool
    norm: RmsNorm
    linear1: Matrix
    gate: Annotated[Matrix | None, When(lambda block, _: block["gated"])]
    linear2: Matrix


BLOCKS = {
    "ordinary_block": OrdinaryBlock,
    "gpool_block": PoolingBlock,
    "nested_bottleneck_block": BottleneckBlock,
    "transformer_attention_block": AttentionBlock,
    "transformer_ffn_block": FeedForwardBlock,
}
Block: TypeAlias = (
    OrdinaryBlock | PoolingBlock | BottleneckBlock | AttentionBlock | FeedForwardBlock
)


@dataclass(frozen=True)
class MetadataEncoder:
    name: str
    inputs: int
    linear1: Matrix
    bias1: Bias
    act1: Activation
    linear2: Matrix
    bias2: Bias
    act2: Activation
    linear3: Matrix


@dataclass(frozen=True)
class Trunk:
    name: str
    n_blocks: int
    channels: int
    mid_channels: int
    regular_channels: int
    dilated_channels: int
    pooling_channels: int
    tip_norm_kind: Annotated[int | None, since(15)]
    reserved: Annotated[Reserved | None, Length(5), since(15)]
    conv: Convolution
    globals: Matrix
    metadata: Annotated[MetadataEncoder | None, When(lambda trunk, _: trunk["metadata_encoder"])]
    blocks: Annotated[list[Block], Count("n_blocks")]
    tip_norm: Annotated[BatchNorm | None, When(lambda trunk, _: not trunk["tip_norm_kind"])]
    tip_rms_norm: Annotated[TipRmsNorm | None, When(lambda trunk, _: bool(trunk["tip_norm_kind"]))]
    tip_act: Activation


@dataclass(frozen=True)
class PolicyHead:
    name: str
    channels: Annotated[int | None, since(17)]
    reserved: Annotated[Reserved | None, Length(3), since(17)]
    conv1: Convolution
    conv_pool: Convolution
    norm_pool: BatchNorm
    act_pool: Activation
    pool_to_bias: Matrix
    norm1: BatchNorm
    act1: Activation
    conv2: Convolution
    pass1: Matrix
    pass_bias: Annotated[Bias | None, since(15)]
    pass_act: Annotated[Activation | None, since(15)]
    pass2: Annotated[Matrix | None, since(15)]


@dataclass(frozen=True)
class ValueHead:
    name: str
    reserved: Annotated[Reserved | None, Length(3), since(17)]
    conv1: Convolution
    norm1: BatchNorm
    act1: Activation
    linear2: Matrix
    bias2: Bias
    act2: Activation
    value: Matrix
    value_bias: Bias
    score: Matrix
    score_bias: Bias
    ownership: Convolution


@dataclass(frozen=True)
class KataGoModel:
    name: str
    version: int
    planes: int
    globals: int
    td_score_multiplier: Annotated[float | None, since(13)]
    score_mean_multiplier: Annotated[float | None, since(13)]
    score_stdev_multiplier: Annotated[float | None, since(13)]
    lead_multiplier: Annotated[float | None, since(13)]
    variance_time_multiplier: Annotated[float | None, since(13)]
    value_error_multiplier: Annotated[float | None, since(13)]
    score_error_multiplier: Annotated[float | None, since(13)]
    metadata_encoder: Annotated[int | None, since(15)]
    pass_alive: Annotated[int | None, since(15)]
    reserved: Annotated[Reserved | None, Length(6), since(15)]
    trunk: Trunk
    policy: PolicyHead
    value: ValueHead


Part = TypeVar("Part")


class Reader:
    """Reads parts from the bytes of a file; raises NetworkFileError where they are invalid."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data, self.source = data, source
        self.at = 0
        self.blocks = 0
        self.version = OLDEST_VERSION

    def model(self) -> KataGoModel:
        model = self.part(KataGoModel, {}, 0)
        if self.data[self.at :].strip():
            raise self.error("the file goes on after the network's end")
        return model

    def part(self, kind: Callable[..., Part], above: Mapping[str, Any], depth: int) -> Part:
        """Read a part; conditions on fields may refer to the parts above it."""
        values: dict[str, Any] = {}
        known = ChainMap(values, dict(above))
        for name, wanted, options in layout(kind):
            if all(o.condition(known, self.version) for o in options if isinstance(o, When)):
                values[name] = self.field(wanted, options, known, depth)
            else:
                values[name] = None
            if kind is KataGoModel and name == "version":
                self.check_version(values[name])
        return kind(**values)

    def check_version(self, version: int) -> None:
        if not OLDEST_VERSION <= version <= NEWEST_VERSION:
            known = f"{OLDEST_VERSION} to {NEWEST_VERSION}"
            what = f"model version {version}, but versions {known} can be read"
            raise NetworkFileError(f"{self.source}: {what}; name another file or update Tengen")
        self.version = version

    def field(
        self, wanted: Any, options: tuple[Any, ...], known: Mapping[str, Any], depth: int
    ) -> Any:
        if wanted is str:
            return self.token().decode("latin-1")
        if wanted is int:
            return self.integer()
        if wanted is bool:
            return self.integer() != 0
        if wanted is float:
            return self.number()
        for option in options:
            match option:
                case Length():
                    return tuple(self.integer() for _ in range(option))
                case Shape():
                    return self.floats(tuple(known[name] for name in option))
                case Count():
                    return [self.block(known, depth + 1) for _ in range(known[option])]
        return self.part(wanted, known, depth + 1)

    def block(self, known: Mapping[str, Any], depth: int) -> Block:
        kind = self.token().decode("latin-1")
        if kind not in BLOCKS:
            raise self.error(f"unknown kind of block {one_line(kind[:40])!r}")
        self.blocks += 1
        if self.blocks > MAX_BLOCKS:
            raise self.error(f"more than {MAX_BLOCKS:,} blocks")
        if depth - TRUNK_DEPTH > MAX_NESTING:
            raise self.error("blocks nested too deeply")
        block: Block = self.part(BLOCKS[kind], known, depth)
        return block

    def token(self) -> bytes:
        match = _TOKEN.match(self.data, self.at)
        if match is None:
            raise self.error("the file ends too soon or is no KataGo network")
        self.at = match.end()
        return match[1]

    def integer(self) -> int:
        token = self.token()
        if not re.fullmatch(rb"-?\d{1,6}", token) or not 0 <= int(token) <= MAX_SIZE:
            raise self.error(f"{token[:20].decode('latin-1')!r} is no size")
        return int(token)

    def number(self) -> float:
        token = self.token()
        try:
            value = float(token)
        except ValueError:
            raise self.error(f"{token[:20].decode('latin-1')!r} is no number") from None
        if not math.isfinite(value):
            raise self.error(f"the number {value}")
        return value

    def floats(self, shape: tuple[int, ...]) -> Floats:
        size = math.prod(shape)
        if size > len(self.data):
            raise self.error(f"an array of {size:,} numbers in a file of {len(self.data):,} bytes")
        binary = _BINARY.match(self.data, self.at)
        if binary:
            end = binary.end() + 4 * size
            if end > len(self.data):
                raise self.error("the file ends in the middle of an array")
            values = np.frombuffer(self.data, "<f4", size, binary.end()).astype(np.float32)
            self.at = end
        else:
            values = self.plain_numbers(size)
        if not np.isfinite(values).all():
            raise self.error("an array with numbers that are not finite")
        return values.reshape(shape)

    def plain_numbers(self, size: int) -> Floats:
        """Read numbers written as text, in windows: one token at a time would take minutes."""
        values = np.empty(size, np.float32)
        done = 0
        while done < size:
            window = self.data[self.at : self.at + TEXT_WINDOW]
            if self.at + TEXT_WINDOW < len(self.data):  # the window may cut its last token
                window = window[: max(window.rfind(b" "), window.rfind(b"\n")) + 1]
            tokens = window.split(None, size - done)
            rest = tokens.pop() if len(tokens) > size - done else b""
            if not tokens:
                raise self.error("the file ends in the middle of an array")
            try:
                with np.errstate(over="ignore"):
                    values[done : done + len(tokens)] = np.array(tokens).astype(np.float32)
            except ValueError:
                raise self.error("an array with something that is no number") from None
            done += len(tokens)
            self.at += len(window) - len(rest)
        return values

    def error(self, reason: str) -> NetworkFileError:
        return NetworkFileError(f"{self.source}: {reason} (byte {self.at:,}); {AGAIN}")


@cache
def layout(kind: Any) -> tuple[tuple[str, Any, tuple[Any, ...]], ...]:
    """The fields of a part: name, type and annotations."""
    rows = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        options: tuple[Any, ...] = getattr(hint, "__metadata__", ())
        plain = get_args(hint)[0] if options else hint
        kinds = [choice for choice in get_args(plain) if choice is not type(None)]
        rows.append((name, kinds[0] if len(kinds) == 1 else plain, options))
    return tuple(rows)


def write_model(model: KataGoModel) -> bytes:
    """Write a network as the bytes of a file."""
    out: list[bytes] = []
    _write_part(model, model.version, out)
    return b"".join(out)


def _write_part(part: Any, version: int, out: list[bytes]) -> None:
    for name, _, _ in layout(part.__class__):
        value = getattr(part, name)
        if value is None:
            continue
        if isinstance(value, np.ndarray):
            out.append(b"@BIN@" + value.astype("<f4").tobytes() + b"\n")
        elif isinstance(value, tuple):
            out.extend(b"%d\n" % number for number in value)
        elif isinstance(value, list):
            for block in value:
                out.append(_BLOCK_NAMES[type(block)].encode() + b"\n")
                _write_part(block, version, out)
        elif isinstance(value, bool):
            out.append(b"%d\n" % value)
        elif isinstance(value, str | int | float):
            out.append(str(value).encode("latin-1") + b"\n")
        else:
            _write_part(value, version, out)


_BLOCK_NAMES = {kind: name for name, kind in BLOCKS.items()}
