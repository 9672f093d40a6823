"""Records whose fields are attributes, for kernels and for Python alike."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numpy as np
import pytest

from tengen.game.position import Position
from tengen.jit import kernel
from tengen.kernel_records import record_type

pytestmark = pytest.mark.kernel

INNER = record_type(f"{__name__}.INNER", [("x", "f4")], align=False)
OUTER = record_type(
    f"{__name__}.OUTER", [("small", "u1"), ("large", "i8"), ("row", "u2", (3,)), ("inner", INNER)]
)


@kernel
def change(record):  # type: ignore[no-untyped-def]
    record.large += record.small
    record.row[1] = 7
    record.inner.x = 0.5


def test_python_and_kernels_see_the_same_fields() -> None:
    records = np.zeros(2, OUTER)
    records["large"] = 40
    records[1].small = 2
    change(records[1])
    assert (records[1].large, list(records[1].row), records[1].inner.x) == (42, [0, 7, 0], 0.5)
    assert records["large"].tolist() == [40, 42]


def test_fields_are_aligned_unless_that_is_not_wanted() -> None:
    packed = record_type("nowhere.PACKED", [("small", "u1"), ("large", "i8")], align=False)
    assert OUTER.fields is not None
    assert OUTER.fields["large"][1] == 8
    assert packed.itemsize == 9


def test_there_are_no_other_attributes() -> None:
    record: Any = np.zeros(1, OUTER)[0]
    with pytest.raises(AttributeError):
        _ = record.nothing
    with pytest.raises(AttributeError):
        record.nothing = 1


def test_what_numpy_needs_is_read_as_an_item() -> None:
    record: Any = np.full(1, 9, record_type("nowhere.SIZED", [("size", "i4"), ("side", "i4")]))[0]
    assert (record.size, record["size"], record.side) == (1, 9, 9)


def test_fields_are_read_without_python() -> None:
    """Plain Python reads few fields of a kernel's in the time that one call of Python takes."""
    record: Any = Position(5).arrays(room=0)[0][0]
    called = []
    sys.setprofile(lambda frame, event, _: called.append(frame) if event == "call" else None)
    try:
        width, colors = record.width, record.color
    finally:
        sys.setprofile(None)
    assert (width, not called) == (5, True)
    assert colors.base is not None


def test_records_can_be_pickled() -> None:
    records = np.zeros(2, OUTER)
    records[1].inner.x = 3
    again = pickle.loads(pickle.dumps(records))
    assert again.dtype.type is OUTER.type
    assert again[1].inner.x == 3
    board: Any = pickle.loads(pickle.dumps(Position(5).arrays(room=0)[0]))
    assert board[0].width == 5
