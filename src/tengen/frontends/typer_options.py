"""Options of commands from dataclasses: one for each field made by `tengen.config.option`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer

from tengen.config import Option


def with_options(function: Callable[..., None]) -> Callable[..., None]:
    """Replace a parameter whose type is a dataclass by options for its fields.

    The dataclass gets what the command line sets, so its defaults hold for the rest. If it has a
    field `search`, its options --config and --override-config come before those defaults.
    """
    hints = get_type_hints(function, include_extras=True)
    name, kind = next((name, hint) for name, hint in hints.items() if is_dataclass(hint))
    assert isinstance(kind, type)
    options = {each.name: each for each in _parameters(kind)}

    def call(context: typer.Context, **values: Any) -> None:
        given = {key: values.pop(key) for key in options}
        given = {key: value for key, value in given.items() if _is_given(context, key)}
        if "search" in kind.__dataclass_fields__ and given.keys() & _FILES:
            from tengen.frontends.katago_settings import options_in_files

            given = {**options_in_files(kind, given), **given}
        function(**values, **{name: kind(**given)})

    kept = [
        parameter.replace(annotation=hints[parameter.name], kind=_KEYWORD)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != name
    ]
    context = inspect.Parameter("context", _KEYWORD, annotation=typer.Context)
    parameters = [context, *kept, *options.values()]
    call.__name__, call.__doc__ = function.__name__, function.__doc__
    call.__dict__["__signature__"] = inspect.Signature(parameters)
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call


_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_FILES = {"config", "override_config"}


def _is_given(context: typer.Context, key: str) -> bool:
    source = context.get_parameter_source(key)
    return source is not None and source.name != "DEFAULT"


def _parameters(kind: type[Any]) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(kind)
    for each in fields(kind):
        info: Option | None = each.metadata.get("option")
        if info is not None:
            hint: Any = Annotated[hints[each.name], _typer_option(info)]
            yield inspect.Parameter(each.name, _KEYWORD, default=_default(each), annotation=hint)


def _default(each: Field[Any]) -> Any:
    """The default for the help text; None for one that is drawn."""
    if each.default is not MISSING:
        return each.default
    return inspect.Parameter.empty if each.default_factory is MISSING else None


def _typer_option(info: Option) -> Any:
    flags = [info.flag] if info.flag else []
    text = f"{info.help[:1].upper()}{info.help[1:]}."
    return typer.Option(*flags, metavar=info.metavar, min=info.low, max=info.high, help=text)
