"""The precision that plays best in equal time, as `tengen benchmark --precision all` found it.

It differs by network and by processor, so it is measured on the user's machine and kept there.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tengen.atomic_files import replace_file
from tengen.network.network_data import NetworkData
from tengen.user_folders import user_cache


class BestPrecision(NamedTuple):
    """A precision, and how it was measured, as text for people."""

    precision: str
    found: str


def best_precision(data: NetworkData) -> BestPrecision | None:
    """The best precision measured for a network on this machine; None if there is none."""
    try:
        kept = json.loads(_file(data).read_text(encoding="utf-8"))
        return BestPrecision(str(kept["precision"]), str(kept["found"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not measured, or damaged


def keep_best_precision(data: NetworkData, best: BestPrecision) -> None:
    """Keep what was measured; raises OSError."""
    path = _file(data)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, json.dumps(best._asdict()).encode())


def weights_digest(data: NetworkData) -> str:
    """A digest of what a network computes, whatever file and name it has."""
    digest = hashlib.sha256(data.architecture.to_json().encode())
    for name, weights in sorted(data.weights.items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(weights).data)
    return digest.hexdigest()[:32]


def _file(data: NetworkData) -> Path:
    return user_cache() / "precisions" / f"{weights_digest(data)}.json"
