"""All fuzzers by name."""

from __future__ import annotations

from tests.fuzz.analysis import AnalysisFuzzer
from tests.fuzz.driver import Fuzzer
from tests.fuzz.gtp import GtpFuzzer
from tests.fuzz.learn import LearnFuzzer
from tests.fuzz.networks import NetworkFuzzer
from tests.fuzz.problems import ProblemsFuzzer
from tests.fuzz.rows import RowsFuzzer
from tests.fuzz.settings import SettingsFuzzer
from tests.fuzz.sgf import SgfFuzzer
from tests.fuzz.web import WebFuzzer

FUZZERS: dict[str, type[Fuzzer]] = {
    fuzzer.name: fuzzer
    for fuzzer in (
        SgfFuzzer,
        SettingsFuzzer,
        NetworkFuzzer,
        RowsFuzzer,
        ProblemsFuzzer,
        GtpFuzzer,
        AnalysisFuzzer,
        WebFuzzer,
        LearnFuzzer,
    )
}
