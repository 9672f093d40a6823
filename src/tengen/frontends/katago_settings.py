"""KataGo's own command lines and settings files, for `tengen gtp` and `tengen analysis`.

A client that starts `katago gtp -model FILE -config gtp.cfg -override-config maxVisits=100` needs
one word changed. What has no effect here is accepted, and named on stderr once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

from tengen.bounded_files import SETTINGS_BYTES, read_bounded
from tengen.engine.katago_params import (
    ANALYSIS,
    GTP,
    KATAGO_PARAMS,
    KataGoParam,
    Takers,
    needs_people,
    parse_value,
)
from tengen.frontends.command_options import GtpOptions, options_in_file, without_limits_of_levels
from tengen.search.human_style import NO_STYLE
from tengen.user_messages import say

COMMANDS = ("gtp", "analysis")
ENDING = ".cfg"  # of KataGo's files; Tengen's own are TOML
# KataGo's options with one hyphen, and ours. None: it takes a number, and has no effect here.
_OPTIONS = {
    "-config": "--config",
    "-human-model": "--human-model",
    "-model": "--model",
    "-override-config": "--override-config",
    "-quit-without-waiting": "--quit-without-waiting",
    "-analysis-threads": None,
}
# Keys of KataGo's files about logs, threads and GPUs, which Tengen manages by itself.
_MANAGED = re.compile(
    r"(log|nn|num|cuda|opencl|trt|tensorrt|metal|eigen|rocm|gpu|mutexPool|home|startupPrint|"
    r"openclReTune|dynamicPlayoutDoubling|assumeMultipleStartingBlackMoves|"
    r"avoidMYTDaggerHack|avoidRepeatedPattern|warn)[A-Z_]\w*"
)
_LINE = re.compile(r"\s*([A-Za-z]\w*)\s*=\s*(.*?)\s*")


class Setting(NamedTuple):
    """A parameter as it was written, and where."""

    name: str
    value: str
    where: str  # for errors: a file with its line, or the option


def with_double_hyphens(arguments: Sequence[str]) -> list[str]:
    """The arguments of a command line, KataGo's options written as ours."""
    if not arguments or arguments[0] not in COMMANDS:
        return list(arguments)
    found: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in _OPTIONS and _OPTIONS[word] is None:
            say(f"{word} has no effect here: positions are searched as many at a time as suit")
            next(words, None)
        else:
            found.append(_OPTIONS.get(word) or word)
    return found


def read_config(path: str | Path) -> list[Setting]:
    """The parameters in a file of KataGo's, by its lines; raises ValueError that names the line."""
    try:
        lines = read_bounded(path, SETTINGS_BYTES).decode("utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: not a settings file: {error}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if text := line.partition("#")[0].strip():
            match = _LINE.fullmatch(text)
            if match is None:
                raise ValueError(f"{path}, line {number}: write NAME = VALUE, not {text[:80]!r}")
            value = match[2].strip('"') if match[2].startswith('"') else match[2]
            found.append(Setting(match[1], value, f"{path}, line {number}"))
    return found


def parse_overrides(texts: Iterable[str]) -> list[Setting]:
    """The parameters in texts such as `maxVisits=100, ponderingEnabled=true`; raises ValueError."""
    found = []
    for text in texts:
        for part in filter(None, map(str.strip, text.split(","))):
            match = _LINE.fullmatch(part)
            if match is None:
                raise ValueError(f"--override-config: write NAME=VALUE, not {part[:80]!r}")
            found.append(Setting(match[1], match[2], "--override-config"))
    return found


def options_from(
    kind: type[Any], settings: Sequence[Setting], before: Mapping[str, Any]
) -> dict[str, Any]:
    """The fields of a command's options that KataGo's parameters change; raises ValueError.

    `before` are fields that were set before.
    """
    taker = GTP if kind is GtpOptions else ANALYSIS
    taken: list[Setting] = []
    idle: list[Setting] = []
    for each in settings:
        param = KATAGO_PARAMS.get(each.name)
        takes = param is not None and (taker in param.takers or _ignores(taker, param))
        (taken if takes or (each.name == "rules" and taker is GTP) else idle).append(each)
    if idle:
        _say_idle([each.name for each in idle])
    return _gtp_options(taken, before) if taker is GTP else _analysis_options(taken)


def _ignores(taker: Takers, param: KataGoParam) -> bool:
    return taker is ANALYSIS and Takers.IGNORED_BY_ANALYSIS in param.takers


def _say_idle(names: Sequence[str]) -> None:
    managed = [name for name in names if _MANAGED.fullmatch(name) or name in KATAGO_PARAMS]
    unknown = [name for name in names if name not in managed]
    if managed:
        say(f"without effect here: {', '.join(dict.fromkeys(managed))}")
    if unknown:
        say(f"not known here and left out, perhaps misspelt: {', '.join(dict.fromkeys(unknown))}")


def _gtp_options(settings: Sequence[Setting], before: Mapping[str, Any]) -> dict[str, Any]:
    def changed(options: GtpOptions, each: Setting) -> GtpOptions:
        try:
            if each.name == "rules":
                return replace(options, rules=each.value)
            return with_param(options, KATAGO_PARAMS[each.name], each.value)
        except ValueError as error:
            raise ValueError(f"{each.where}: {each.name}: {error}") from None

    options = reduce(changed, settings, GtpOptions(**before))
    return {name: getattr(options, name) for name in {_field(each.name) for each in settings}}


def _field(name: str) -> str:
    """The field of GtpOptions that a parameter is in."""
    if name == "rules":
        return name
    param = KATAGO_PARAMS[name]
    if not param.field:
        return "without_effect"
    return "human" if param.of_human else "search" if param.of_search else param.field


_OPTIONS_OF_ANALYSIS = {"maxVisits": "visits", "reportAnalysisWinratesAs": "perspective"}


def _analysis_options(settings: Sequence[Setting]) -> dict[str, Any]:
    """Changes of fields of options, and the other parameters as defaults of all queries."""
    found: dict[str, Any] = {}
    of_queries: dict[str, str] = {}
    for name, value, where in settings:
        try:
            parsed = parse_value(KATAGO_PARAMS[name], value)
        except ValueError as error:
            raise ValueError(f"{where}: {name}: {error}") from None
        if name in _OPTIONS_OF_ANALYSIS:
            found[_OPTIONS_OF_ANALYSIS[name]] = parsed
        elif value or not needs_people(name):
            of_queries[name] = value
    return {**found, "of_queries": of_queries} if of_queries else found


def with_param(settings: GtpOptions, param: KataGoParam, given: object) -> GtpOptions:
    """The settings with one parameter changed, or as usual if nothing is given for it.

    Raises ValueError for a value that cannot be.
    """
    from tengen.search.params import SearchParams

    reset = given == ""
    value: Any
    if param.of_human:
        value = getattr(NO_STYLE, param.field) if reset else parse_value(param, given)
        return replace(settings, human=replace(settings.human, **{param.field: value}))
    if not param.field:
        say(f"{param.name} has no effect here")
        value = param.usual if reset else parse_value(param, given)
        return replace(settings, without_effect={**settings.without_effect, param.name: value})
    if not param.of_search:
        value = getattr(GtpOptions(), param.field) if reset else parse_value(param, given)
        if param.name == "resignThreshold" and not reset:  # which KataGo counts from -1 to 1
            value = (1 + value) / 2
        if value is not None and param.most < math.inf and value >= param.most:
            value = None  # no limit at all
        return replace(settings, **{param.field: value})
    search: dict[str, Any] = {**settings.search}
    search.pop(param.field, None)
    if not reset:
        search[param.field] = parse_value(param, given)
        if param.is_switch:
            usual = getattr(SearchParams(), param.field)
            search[param.field] = usual if search[param.field] else 0.0
    SearchParams(**search)  # raises ValueError for values out of range
    return replace(settings, search=search)


def options_in_files(kind: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that --config and --override-config, which are among the given ones, set.

    A file is Tengen's, or one of KataGo's by its ending. Raises ValueError.
    """
    config, found = given.get("config"), {}
    settings = parse_overrides(given.get("override_config", ()))
    if config is not None and str(config).endswith(ENDING):
        settings = read_config(config) + settings
    elif config is not None:
        found = options_in_file(kind, config, given)
    if settings:
        found |= options_from(kind, settings, found)
    return without_limits_of_levels(found, given)
