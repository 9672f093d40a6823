"""From what a network learned, as the provenance of its file says: nothing, records, a teacher.

"Nothing" is self-play alone, from random weights.
"""

from __future__ import annotations

from collections.abc import Mapping

from tengen.network.trained_on import KATAGO_VERSION

LEARNED_FROM, STARTED_FROM, TRAINED_BY = "learned_from", "started_from", "trained_by"
NOTHING, UNKNOWN = "nothing", "not known"
_AND = " and "
# Until networks could learn from anything else, `tengen train` went on from its own alone, and said
# for how many minutes those had been trained.
_OF_OUR_OWN = " minutes"


def learned_from(provenance: Mapping[str, str]) -> str:
    """From what a network learned, in words; of KataGo's networks it is not known."""
    if LEARNED_FROM in provenance:
        return provenance[LEARNED_FROM]
    is_ours = provenance.get(TRAINED_BY, "").startswith("tengen ")
    start = provenance.get(STARTED_FROM, _OF_OUR_OWN)
    return NOTHING if is_ours and _OF_OUR_OWN in start else UNKNOWN


def learned_on_from(name: str, provenance: Mapping[str, str]) -> str:
    """From what networks learned that go on from this one."""
    if KATAGO_VERSION in provenance:
        return f"KataGo's {name}"
    found = learned_from(provenance)
    return f"{name}, whose origin is not known" if found == UNKNOWN else found


def with_source(earlier: str, source: str) -> str:
    """From what a network learned that now learns from this, too."""
    parts = [part for part in earlier.split(_AND) if part != NOTHING]
    return _AND.join(dict.fromkeys([*parts, source]))
