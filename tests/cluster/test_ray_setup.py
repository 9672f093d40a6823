"""Ray keeps to itself, and where it is missing people are told what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tengen.cluster import ray_setup
from tengen.cluster.ray_setup import ClusterError, connect, import_ray
from tengen.frontends.command_options import TrainOptions
from tengen.frontends.train import run_training

# Starts Ray as a run on one machine does, with an actor, and tells of its processes and sockets.
STARTED = r"""
import json, os
from pathlib import Path
from tengen.cluster.ray_setup import connect

ray = connect()

class Actor:
    def call(self):
        return os.environ["RAY_USAGE_STATS_ENABLED"]

statistics = ray.get(ray.remote(Actor).remote().call.remote())

def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])

everybody = {int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()}
mine = set()
for pid in everybody:
    try:
        at = pid
        while at > 1 and at != os.getpid():
            at = parent(at)
        if at == os.getpid():
            mine.add(pid)
    except OSError:
        pass
inodes = set()
for pid in mine:
    try:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            inodes.add(os.readlink(link))
    except OSError:
        pass
sockets = []
for table in ("tcp", "tcp6", "udp", "udp6"):
    for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
        fields = line.split()
        if f"socket:[{fields[9]}]" in inodes:
            sockets.append([table, fields[1], fields[2], fields[3]])
print(json.dumps({"statistics": statistics, "sockets": sockets, "processes": len(mine)}))
"""
LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000")


@pytest.mark.skipif(sys.platform != "linux", reason="sockets are looked up in /proc")
def test_ray_listens_to_this_machine_alone_and_tells_nobody(ray: Any, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-c", STARTED],
        env={**kept, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["statistics"] == "0"
    assert found["processes"] >= 4  # of Ray
    listening = [socket for socket in found["sockets"] if socket[3] == "0A"]
    assert len(listening) >= 3
    for table, local, remote, state in found["sockets"]:
        assert local.partition(":")[0] in LOOPBACK, (table, local)
        if state != "0A":
            assert remote.partition(":")[0] in LOOPBACK, (table, remote)
    assert list(tmp_path.iterdir()) == []  # no token is kept there


def without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(os, "environ", dict(os.environ))


def test_without_ray_people_are_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_ray(monkeypatch)
    with pytest.raises(ClusterError, match=r"pip install 'tengen-go\[cluster\]'"):
        import_ray()
    for options in (TrainOptions(workers=2), TrainOptions(cluster="auto")):
        with pytest.raises(ValueError, match="Ray, which is not installed"):
            run_training(str(tmp_path / "run"), options)
    assert not (tmp_path / "run").exists()


def test_urls_need_workers(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="need --cluster or --workers"):
        run_training("s3://bucket/run", TrainOptions())


def test_a_cluster_that_does_not_answer_is_named(ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: object) -> None:
        raise ConnectionError(f"nobody at {options['address']}")

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(ClusterError, match=r"at 127\.0\.0\.1:1 .*ray start --head"):
        connect("127.0.0.1:1")


def test_auto_is_this_machine_alone_where_no_cluster_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    assert ray_setup._is_local("auto")
    assert ray_setup._is_local("local")
    assert not ray_setup._is_local("10.0.0.1:6379")
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text("10.0.0.1:6379")
    assert not ray_setup._is_local("auto")
