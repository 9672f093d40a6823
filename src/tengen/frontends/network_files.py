"""What `tengen net` does: keep network files, list them, look into them, convert them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TransferSpeedColumn,
)
from rich.table import Table
from rich.text import Text

from tengen.frontends.command_options import ExportOptions, VerifyOptions
from tengen.game.rules import parse_rules
from tengen.network.architecture import (
    Architecture,
    Attention,
    Block,
    Bottleneck,
    FeedForward,
    Ordinary,
    Pooling,
    PostActivation,
)
from tengen.network.architecture_names import PRESETS, named_architecture
from tengen.network.backends.registry import open_evaluator, open_reference
from tengen.network.comparison import EXACT, ROUNDED, compare, random_positions
from tengen.network.files.bundled import BUNDLED, bundled_networks
from tengen.network.files.errors import NetworkFileError, one_line
from tengen.network.files.katago_export import save_katago
from tengen.network.files.library import (
    PUBLIC_NETWORKS,
    add_network,
    kept_networks,
    remove_network,
)
from tengen.network.files.loading import (
    file_sha256,
    find_network,
    load_network,
    read_bytes,
    split_ending,
)
from tengen.network.files.tengen_format import looks_like_safetensors, save_network
from tengen.network.fix_rules import with_fixed_rules
from tengen.network.learned_from import LEARNED_FROM, learned_from
from tengen.network.network_data import NetworkData
from tengen.network.trained_on import BOARD_SIZES, RULES
from tengen.network.weights import flop_count, parameter_count
from tengen.pip_package import install_command
from tengen.terminal_console import TerminalConsole
from tengen.user_messages import tell

SIDES = 9, 19  # boards that costs are stated for
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_KINDS: dict[type[Block], str] = {
    Ordinary: "ordinary",
    PostActivation: "post-activation",
    Pooling: "pooling",
    Bottleneck: "bottleneck",
    Attention: "attention",
    FeedForward: "feed-forward",
}


def list_networks() -> None:
    """Show the networks that have names, the architectures that have, and where there are more."""
    table = Table("network", "from", "trained on")
    kept = [(each.name, each.path, each.origin) for each in kept_networks()]
    bundled = [(path.stem, path, "comes with Tengen") for path in bundled_networks()]
    for name, path, origin in bundled + kept:
        try:
            known = load_network(path).trained_on
            what = f"boards {known.boards_text}; rules {known.rules_text}"
        except NetworkFileError as error:
            what = f"cannot be used: {error}"
        table.add_row(*map(Text, (name, origin, one_line(what))))
    TerminalConsole().print(table)
    list_architectures()
    tell(f"More networks: {PUBLIC_NETWORKS} has KataGo's; for 19x19 take b10c128 or b6c96 on a")
    tell("laptop, the strongest b18c384nbt on a GPU. Keep one: tengen net add FILE_OR_ADDRESS")


def add_to_library(source: str, name: str | None, sha256: str | None) -> None:
    """Keep a network under a name; raises NetworkFileError."""
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    console = TerminalConsole(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        bar = progress.add_task("reading", total=None)
        kept = add_network(
            source,
            name,
            sha256,
            lambda done, total: progress.update(bar, completed=done, total=total),
        )
    tell(f"Kept as {kept.name} in {kept.path}")
    tell(f"SHA-256 {kept.sha256}")
    tell(f"Use it wherever a network can be named: tengen play --model {kept.name}")


def remove_from_library(name: str) -> None:
    """Remove a network that was added; raises NetworkFileError."""
    tell(f"Removed {remove_network(name).path}")


def list_architectures() -> None:
    """Show the architectures that have names, with their size and their cost."""
    table = Table("architecture", "blocks")
    for title in ("parameters", *(f"FLOPs {side}x{side}" for side in SIDES)):
        table.add_column(title, justify="right", no_wrap=True)
    for name in PRESETS:
        a = named_architecture(name)
        costs = (short(flop_count(a, side, side)) for side in SIDES)
        table.add_row(name, blocks_of(a), short(parameter_count(a)), *costs)
    TerminalConsole().print(table)


def show_network(path_or_name: str | Path) -> None:
    """Show what is in a network file; of the bundled ones in each."""
    paths = bundled_networks() if path_or_name == BUNDLED else (find_network(path_or_name),)
    for path in paths:
        table = Table(show_header=False, box=None)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for title, value in _facts(load_network(path), path):
            table.add_row(Text(title), Text(one_line(value)))
        if path is not paths[0]:
            tell("")
        TerminalConsole().print(table)


def import_network(source: str | Path, target: str | Path | None, half: bool) -> None:
    """Convert a KataGo file to one of ours, in this folder unless a target is named."""
    path = find_network(source)
    if looks_like_safetensors(read_bytes(path, 16)):
        raise NetworkFileError(f"{path}: is a network of Tengen's already; use it as it is")
    out = Path(target) if target is not None else Path(f"{split_ending(path.name)[0]}.safetensors")
    if out.exists() and out.samefile(path):
        raise NetworkFileError(f"{out}: would replace what is imported; name another file")
    save_network(load_network(path), out, half)
    tell(f"Wrote {out}.")


def export_network(source: str | Path, options: ExportOptions) -> None:
    """Convert a network to other formats; raises ValueError where onnx is missing."""
    if options.katago is None and options.onnx is None and options.half is None:
        formats = "--katago OUT.bin.gz, --onnx OUT.onnx or --half OUT.safetensors"
        raise ValueError(f"say what to write: {formats}")
    data = load_network(source)
    if options.katago is not None:
        named = replace(data, name=options.name or data.name)
        version = save_katago(named, options.katago)
        tell(f"Wrote {options.katago}, model version {version}.")
    if options.onnx is not None:
        try:
            from tengen.network.backends.onnx_graph import export_onnx

            export_onnx(data, Path(options.onnx))
        except ModuleNotFoundError as error:
            remedy = install_command("onnxruntime")
            raise ValueError(f"writing ONNX needs {error.name}: {remedy}") from None
        tell(f"Wrote {options.onnx}.")
    if options.half is not None:
        if options.rules is not None:
            data = with_fixed_rules(data, parse_rules(options.rules))
        origin = {} if options.name is None else {"trained_as": data.name}
        provenance = {**data.provenance, **origin}
        renamed = replace(data, name=options.name or data.name, provenance=provenance)
        save_network(renamed, options.half, half=True)
        tell(f"Wrote {options.half}.")


def verify_network(source: str | Path, options: VerifyOptions) -> bool:
    """Compare a network where it runs with the same by another library; is all within bounds?

    Of the bundled networks each is compared.
    """
    paths = bundled_networks() if source == BUNDLED else (find_network(source),)
    verdicts = [_verify(path, options) for path in paths]
    return all(verdicts)


def _verify(path: Path, options: VerifyOptions) -> bool:
    data = load_network(path)
    if data.architecture.trunk:
        what = "torch alone runs its trunk, so there is nothing to compare it with"
        raise ValueError(f"{path}: {what}")
    first = open_evaluator(data, options.device, options.precision)
    second = open_reference(data, options.against)
    bounds = EXACT if "float32" in first.device else ROUNDED
    board_size = data.architecture.board_size
    positions = random_positions(options.positions, options.seed, board_size)
    table = Table("output", "mean deviation", "largest", "bound", "")
    found = compare(first, second, positions, bounds)
    for each in found:
        numbers = (f"{number:.2g}" for number in (each.mean, each.largest, each.bound))
        table.add_row(each.output, *numbers, "ok" if each.within_bound else "TOO FAR APART")
    console = TerminalConsole()
    console.print(f"{data.name}, SHA-256 {file_sha256(path)}", markup=False, soft_wrap=True)
    where = f"{first.device} and {second.device}, {options.positions} positions"
    console.print(f"{where}, seed {options.seed}", markup=False, soft_wrap=True)
    console.print(table)
    return all(each.within_bound for each in found)


def blocks_of(a: Architecture) -> str:
    """How many blocks of which kind an architecture has."""
    if a.trunk:
        return f"a trunk of one's own, {a.trunk}"
    counts: dict[str, int] = {}
    for block in a.blocks:
        counts[_KINDS[type(block)]] = counts.get(_KINDS[type(block)], 0) + 1
    return " + ".join(f"{count} {kind}" for kind, count in counts.items())


def short(number: float) -> str:
    """A count in three digits and a unit."""
    for size, unit in _UNITS:
        if number >= 0.9995 * size:
            return f"{float(f'{number / size:.3g}'):g} {unit}"
    return f"{number:g}"


def _facts(data: NetworkData, path: Path) -> Iterator[tuple[str, str]]:
    a, scaling = data.architecture, data.scaling
    start = read_bytes(path, 16)
    yield "name", data.name
    yield "file", f"{path} ({short(path.stat().st_size)}B)"
    yield "SHA-256", file_sha256(path)
    yield "kind", "Tengen" if looks_like_safetensors(start) else "KataGo"
    yield "blocks", f"{blocks_of(a)}, {a.channels} channels, {a.activation}"
    numbers = sum(values.size for values in data.weights.values())
    yield "parameters", f"{numbers if a.trunk else parameter_count(a):,}"
    for side in () if a.trunk else (a.board_size,) if a.board_size else SIDES:
        yield f"FLOPs {side}x{side}", short(flop_count(a, side, side))
    yield "features", f"{a.features} ({a.planes} planes, {a.globals} globals)"
    if a.board_size:
        yield "board size", f"{a.board_size}x{a.board_size} only"
    yield "trained on", f"boards {data.trained_on.boards_text}; rules {data.trained_on.rules_text}"
    yield "learned from", learned_from(data.provenance)
    yield "outputs", f"{a.policy_outputs} policy, 3 value, {a.score_outputs} score, ownership"
    names = ("score_mean", "score_stdev", "lead", "variance_time", "value_error", "score_error")
    factors = [f"{name} {getattr(scaling, name):g}" for name in names[: a.score_outputs]]
    yield "scaling", ", ".join(factors)
    for title, value in data.provenance.items():
        if title not in (BOARD_SIZES, RULES, LEARNED_FROM):  # which were told above
            yield one_line(title), value
