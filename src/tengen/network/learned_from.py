"""What a network learned from, by the provenance in its file: nothing, records, a teacher.

"Nothing" is self-play alone, from random weights.
"""

from __future__ import annotations

from collections.abc import Mapping

from tengen.network.trained_on import KATAGO_VERSION

LEARNED_FROM, STARTED_FROM, TRAINED_BY = "learned_from", "started_from", "trained_by"
NOTHING, UNKNOWN = "nothing", "not known"
_AND = " and "
# Before there were other sources, `tengen train` started from its own networks alone, whose files
# state the minutes of training.
_OF_OUR_OWN = " minutes"


def learned_from(provenance: Mapping[str, str]) -> str:
    """What a network learned from, in words; not known for KataGo's networks."""
    if LEARNED_FROM in provenance:
        return provenance[LEARNED_FROM]
    is_ours = provenance.get(TRAINED_BY, "").startswith("tengen ")
    start = provenance.get(STARTED_FROM, _OF_OUR_OWN)
    return NOTHING if is_ours and _OF_OUR_OWN in start else UNKNOWN


def learned_on_from(name: str, provenance: Mapping[str, str]) -> str:
    """What a network learned from whose training starts from this one."""
    if KATAGO_VERSION in provenance:
        return f"KataGo's {name}"
    found = learned_from(provenance)
    return f"{name}, whose origin is not known" if found == UNKNOWN else found


def with_source(earlier: str, source: str) -> str:
    """What a network learned from, with one more source."""
    parts = [part for part in earlier.split(_AND) if part != NOTHING]
    return _AND.join(dict.fromkeys([*parts, source]))
