"""Types of records that kernels share with Python: fields are attributes in both.

NumPy's own class for that, `numpy.record`, looks a field up in Python, each time anew, which takes
longer than all else that a kernel does as plain Python. Here each type of record has a class of its
own, whose attributes NumPy itself reads.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import DTypeLike


def record_type(name: str, fields: DTypeLike, *, align: bool = True) -> np.dtype[np.void]:
    """The type of records with these fields, which are aligned as in C unless they are for files.

    `name` says where it is kept, such as ``tengen.game.kernels.board.BOARD``: there pickles find
    the class of the records.
    """
    layout = np.dtype(fields, align=align)
    assert layout.names is not None
    attributes: dict[str, Any] = {"__slots__": ()}
    for field in layout.names:
        if not hasattr(np.void, field):  # what NumPy needs itself is read as record["size"]
            attributes[field] = property(itemgetter(field), _setter(field))
    module, _, variable = name.rpartition(".")
    attributes |= {"__module__": module, "__qualname__": f"{variable}.type"}
    return np.dtype((type(variable, (np.void,), attributes), layout))


def _setter(field: str) -> Any:
    def set_field(record: Any, value: object) -> None:
        record[field] = value

    return set_field
