"""Compiled where that is possible, else as it is."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import Tensor

from tengen.network.torch.compiling import compiled


def double(x: Tensor) -> Tensor:
    return 2 * x


def test_a_function_that_cannot_be_compiled_is_called_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = []

    def no_compiler(_: object) -> object:
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
    monkeypatch.setattr(torch, "compile", lambda _: lambda x: 3 * x)
    assert compiled(double)(torch.tensor(5)).item() == 15

    def broken(_: Tensor) -> Tensor:
        raise ValueError("no rows")

    monkeypatch.setattr(torch, "compile", lambda function: function)
    with pytest.raises(ValueError, match="no rows"):
        compiled(broken)(torch.tensor(1))


def test_what_the_compiler_remarks_to_itself_is_not_shown() -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        compiled(double)
        for module in ("torch._inductor.lowering", "torch.nn.functional"):
            warnings.warn_explicit(f"by {module}", UserWarning, "file.py", 1, module)
    remarks = [str(each.message) for each in shown]
    assert "by torch.nn.functional" in remarks
    assert "by torch._inductor.lowering" not in remarks
