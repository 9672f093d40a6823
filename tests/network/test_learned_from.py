"""From what networks learned: their files say so, and those from nothing say that."""

from __future__ import annotations

import pytest

from tengen.network.files.bundled import bundled_networks
from tengen.network.files.loading import load_network
from tengen.network.learned_from import NOTHING, UNKNOWN, learned_from, learned_on_from, with_source
from tests.bundled import needs_bundled_network
from tests.katago_data import network_path


@needs_bundled_network
def test_the_bundled_networks_learned_from_nothing() -> None:
    for path in bundled_networks():
        assert learned_from(load_network(path).provenance) == NOTHING


@pytest.mark.parametrize(
    ("provenance", "origin"),
    [
        ({"trained_by": "tengen train"}, NOTHING),
        ({"trained_by": "tengen train --preset tutorial"}, NOTHING),
        ({"trained_by": "tengen train", "started_from": "000075, 18.5 minutes, 9 games"}, NOTHING),
        ({"trained_by": "tengen train", "started_from": "kata1-b18c384nbt"}, UNKNOWN),
        ({"trained_by": "tengen train", "learned_from": "records"}, "records"),
        ({"origin": "KataGo", "katago_version": "15"}, UNKNOWN),
        ({}, UNKNOWN),
    ],
)
def test_a_file_says_from_what_its_network_learned(provenance: dict[str, str], origin: str) -> None:
    assert learned_from(provenance) == origin


def test_what_a_network_learned_from_goes_on_in_its_descendants() -> None:
    katago = load_network(network_path("conv-relu-v9"))
    origin = learned_on_from(katago.name, katago.provenance)
    assert origin == f"KataGo's {katago.name}"
    assert learned_on_from("later", {"learned_from": origin}) == origin
    assert learned_on_from("other", {}) == "other, whose origin is not known"
    assert learned_on_from("ours", {"trained_by": "tengen train"}) == NOTHING
    both = with_source(with_source(origin, "records"), "teacher big")
    assert both == f"{origin} and records and teacher big"
    assert with_source(both, "records") == both
    assert with_source(NOTHING, "records") == "records"
