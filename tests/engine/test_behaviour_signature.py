"""Any change of rules, inputs or search is seen."""

from __future__ import annotations

import pytest

from tengen.engine import behaviour_signature as behaviour
from tengen.engine.behaviour_signature import RELEASED, behaviour_signature
from tengen.game import rules


def test_this_version_behaves_as_its_signature_says() -> None:
    found = behaviour_signature()
    assert found == RELEASED, (
        f"the signature of behaviour is {found}, not {RELEASED}: a search of fixed positions with "
        "a fixed network finds other visits or moves than before. If that is not what you meant to "
        "change, find out why. If it is, run `tengen benchmark --signature`, write what it prints "
        "to RELEASED in src/tengen/engine/behaviour_signature.py, and say in CHANGELOG.md what "
        "changed."
    )


def test_it_sees_a_change_of_the_search_and_of_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(behaviour, "SIZES", ((5, 5),))
    usual = behaviour_signature()
    assert behaviour_signature() == usual
    monkeypatch.setattr(behaviour, "VISITS", behaviour.VISITS + 1)
    searched = behaviour_signature()
    chinese = rules.NAMED["chinese"]
    monkeypatch.setitem(rules.NAMED, "tromp-taylor", chinese)
    assert len({usual, searched, behaviour_signature()}) == 3
