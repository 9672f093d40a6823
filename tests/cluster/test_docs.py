"""The files to copy of docs/cluster are whole, and keep a cluster to itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FILES = Path(__file__).parents[2] / "docs" / "cluster"


@pytest.mark.parametrize("name", ["slurm.sh", "kuberay.yaml"])
def test_statistics_are_off_and_a_token_is_asked_for(name: str) -> None:
    text = (FILES / name).read_text()
    assert "RAY_USAGE_STATS_ENABLED" in text
    assert "RAY_AUTH_MODE" in text
    assert "RAY_AUTH_TOKEN" in text
    assert "tengen train " in text


def test_the_job_for_slurm_is_bash() -> None:
    if (bash := shutil.which("bash")) is None:
        pytest.skip("bash is not installed")
    subprocess.run([bash, "-n", str(FILES / "slurm.sh")], check=True)


def test_the_job_for_kubernetes_is_yaml_with_the_same_environment_everywhere() -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML, which Ray brings")
    secret, policy, job = yaml.safe_load_all((FILES / "kuberay.yaml").read_text())
    assert (secret["kind"], policy["kind"], job["kind"]) == ("Secret", "NetworkPolicy", "RayJob")
    cluster = job["spec"]["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for group in groups:
        template = group["template"]
        assert template["metadata"]["labels"] == policy["spec"]["podSelector"]["matchLabels"]
        (container,) = template["spec"]["containers"]
        named = {each["name"]: each for each in container["env"]}
        assert named["RAY_USAGE_STATS_ENABLED"]["value"] == "0"
        reference = named["RAY_AUTH_TOKEN"]["valueFrom"]["secretKeyRef"]
        assert reference["name"] == secret["metadata"]["name"]
        assert reference["key"] in secret["stringData"]
