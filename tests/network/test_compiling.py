"""Compiled where that is possible, else as it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.fx import GraphModule

from tengen.network.torch.compiling import compiled


def double(x: Tensor) -> Tensor:
    return 2 * x


def test_a_function_that_cannot_be_compiled_is_called_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = []

    def no_compiler(_: object, **_options: object) -> object:
        def fail(x: Tensor) -> Tensor:
            tried.append(x)
            raise RuntimeError("Cannot find a working triton installation\nand much more")

        return fail

    monkeypatch.setattr(torch, "compile", no_compiler)
    function = compiled(double)
    assert [function(torch.tensor(k)).item() for k in range(3)] == [0, 2, 4]
    assert len(tried) == 1
    told = capsys.readouterr().err
    assert "cannot compile here" in told
    assert told.rstrip().endswith("Cannot find a working triton installation")


def test_what_compiles_is_compiled_and_its_own_errors_are_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch, "compile", lambda _, **_options: lambda x: 3 * x)
    assert compiled(double)(torch.tensor(5)).item() == 15

    def broken(_: Tensor) -> Tensor:
        raise ValueError("no rows")

    monkeypatch.setattr(torch, "compile", lambda function, **_options: function)
    with pytest.raises(ValueError, match="no rows"):
        compiled(broken)(torch.tensor(1))


def test_each_shape_is_compiled_for_itself_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shapes: list[tuple[int, ...]] = []

    def backend(graph: GraphModule, inputs: list[Tensor]) -> Callable[..., object]:
        shapes.append(tuple(map(int, inputs[0].shape)))
        assert all(type(side) is int for side in inputs[0].shape)  # not symbols for any size
        return graph.forward

    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=backend))
    function = compiled(double)
    wanted = [(2, side, other) for side in (3, 4, 5) for other in range(3, 9)]
    for shape in 2 * wanted:
        assert torch.equal(function(torch.ones(shape)), torch.full(shape, 2.0))
    assert shapes == wanted


def test_what_the_compiler_remarks_to_itself_is_not_shown() -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        compiled(double)
        for module in ("torch._inductor.lowering", "torch.nn.functional"):
            warnings.warn_explicit(f"by {module}", UserWarning, "file.py", 1, module)
    remarks = [str(each.message) for each in shown]
    assert "by torch.nn.functional" in remarks
    assert "by torch._inductor.lowering" not in remarks
