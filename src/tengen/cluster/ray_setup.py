"""Ray, set up to keep to itself: no usage statistics, no dashboard, and on one machine no ports
that others can reach.

Ray is imported here alone, and only when it is needed.
"""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import Any

from tengen.pip_package import install_command
from tengen.user_messages import say

AUTO, LOCAL = "auto", "local"
# Nothing of ours goes through Ray's store of objects; this is the least it takes.
_OBJECT_STORE_BYTES = 80 * 2**20


class ClusterError(ValueError):
    """No cluster can be used; the message says why and what to do."""


def import_ray(address: str = LOCAL) -> Any:
    """The module, set up for a cluster there; raises ClusterError where it is not installed."""
    # Before the import, since Ray looks at them then; its other processes inherit them.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if _is_local(address) and "ray" not in sys.modules:
        _keep_to_loopback()
    try:
        import ray
    except ImportError:
        raise ClusterError(
            "several machines or workers need Ray, which is not installed: "
            f"{install_command('cluster')}, or train without --cluster and --workers"
        ) from None
    return ray


def connect(address: str = LOCAL) -> Any:
    """Connect to a cluster, or start one on this machine; returns Ray. Raises ClusterError.

    `auto` is the cluster that this machine belongs to, or else one of this machine alone.
    """
    ray = import_ray(address)
    if ray.is_initialized():
        return ray
    if not _is_local(address):
        try:
            ray.init(address=address, logging_level="warning")
        except (ConnectionError, RuntimeError, ValueError) as error:
            where = (
                "this machine's Ray cluster" if address == AUTO else f"a Ray cluster at {address}"
            )
            what = f"{where} does not answer ({error})"
            remedy = "ray start --head starts one; --workers N needs none"
            raise ClusterError(f"{what}; {remedy}") from None
        return ray
    if address == AUTO:
        say("no Ray cluster is running here, so this machine is used alone")
    ray.init(
        address="local",
        include_dashboard=False,
        object_store_memory=_OBJECT_STORE_BYTES,
        logging_level="warning",
    )
    return ray


def _is_local(address: str) -> bool:
    """Whether a cluster of this machine alone is to be started."""
    if address != AUTO:
        return address == LOCAL
    folder = Path(os.environ.get("RAY_TMPDIR", "/tmp"))
    return not (os.environ.get("RAY_ADDRESS") or (folder / "ray/ray_current_cluster").exists())


def _keep_to_loopback() -> None:
    """Let Ray listen on the loopback interface alone, and only to those who know a secret."""
    # What Ray does on Windows and macOS, where it has no clusters of several machines.
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    if not os.environ.get("RAY_AUTH_TOKEN"):  # or Ray would keep one in the home folder
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
