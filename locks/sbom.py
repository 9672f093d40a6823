"""Write a software bill of materials: CycloneDX JSON of what `tengen` is made of and needs.

`make sbom` writes dist/sbom-PYTHON.json for each lock file of players. Nothing depends on when
and where that is done, so that two of them can be compared.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from locks.lock import PROJECT, PYTHONS, lock_file, read

NETWORKS = PROJECT / "src" / "tengen" / "network" / "files"


def main() -> None:
    folder = PROJECT / "dist"
    folder.mkdir(exist_ok=True)
    for python in PYTHONS:
        path = folder / f"sbom-{python}.json"
        path.write_text(json.dumps(bill(python), indent=2) + "\n", "utf-8")
        print(path.relative_to(PROJECT))


def bill(python: str) -> dict[str, Any]:
    """The bill for a Python version: locked packages, and the networks in the package itself."""
    version = _version()
    packages = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{each.name}@{each.version}",
            "name": each.name,
            "version": each.version,
            "purl": f"pkg:pypi/{each.name}@{each.version}",
            # A component has one hash of each kind: these are of one wheel each.
            "externalReferences": [
                {
                    "type": "distribution",
                    "url": f"https://pypi.org/project/{each.name}/{each.version}/",
                    "hashes": [{"alg": "SHA-256", "content": digest}],
                }
                for digest in each.hashes
            ],
        }
        for each in read(lock_file("play", python))
    ]
    networks = [
        {
            "type": "machine-learning-model",
            "bom-ref": path.name,
            "name": path.stem,
            "version": version,
            "hashes": [
                {"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}
            ],
        }
        for path in sorted(NETWORKS.glob("*.safetensors"))
    ]
    own = f"pkg:pypi/tengen@{version}"
    parts = [*packages, *networks]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "tengen",
                "version": version,
                "purl": own,
                "licenses": [{"license": {"id": "MIT"}}],
            },
            "properties": [{"name": "python", "value": python}],
        },
        "components": parts,
        "dependencies": [{"ref": own, "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def _version() -> str:
    text = (PROJECT / "src" / "tengen" / "__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    assert found is not None
    return found[1]


if __name__ == "__main__":
    main()
