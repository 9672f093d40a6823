"""Signals end a command at any moment, without a word."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
# Signals may be ignored where tests run in the background.
USUAL = """
import signal, sys
sys.argv = ["tengen", "docs"]
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
"""
# The signal comes when a module is looked for: the first one of the command, or a later one.
WHILE_LOADING = """
class Finder:
    def find_spec(self, name, *_):
        if name == MODULE:
            signal.raise_signal(NUMBER)
sys.meta_path.insert(0, Finder())
import runpy
runpy.run_module("tengen", run_name="__main__")
"""
# One comes during the work, another while its end is under way; a thread never ends.
TWICE = """
import threading
from tengen.frontends import docs
def show(_):
    threading.Thread(target=threading.Event().wait).start()
    signal.raise_signal(NUMBER)
docs.show_documents = show
class Stdout:
    def flush(self):
        signal.raise_signal(NUMBER)
sys.stdout = Stdout()
import runpy
runpy.run_module("tengen", run_name="__main__")
"""
# As native modules tell of an interrupt while they are imported.
WHILE_IMPORTING = """
from tengen.frontends import docs
def show(_):
    try:
        signal.raise_signal(NUMBER)
    except KeyboardInterrupt as error:
        raise ImportError("initialization failed") from error
docs.show_documents = show
import runpy
runpy.run_module("tengen", run_name="__main__")
"""
AT_THE_END = """
import atexit
atexit.register(lambda: signal.raise_signal(NUMBER))
import runpy
runpy.run_module("tengen", run_name="__main__")
"""


def ended(program: str, number: signal.Signals) -> subprocess.CompletedProcess[str]:
    code = USUAL + program.replace("NUMBER", str(int(number)))
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("module", ["tengen.interrupt", "typer"])
def test_a_signal_while_a_command_loads_ends_it_without_a_word(
    number: signal.Signals, module: str
) -> None:
    done = ended(WHILE_LOADING.replace("MODULE", repr(module)), number)
    assert (done.returncode, done.stdout, done.stderr) == (-number, "", "")


def test_nothing_is_loaded_before_signals_are_seen_to() -> None:
    """What would be loaded on the way to the command's own first lines."""
    code = "import sys\nbefore = set(sys.modules)\nimport tengen\nprint(set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "{'tengen'}\n"


@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_signal_ends_a_command_at_once(number: signal.Signals) -> None:
    done = ended(TWICE, number)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "")


def test_a_signal_while_native_modules_are_imported_is_told_as_one() -> None:
    done = ended(WHILE_IMPORTING, signal.SIGHUP)
    assert (done.returncode, done.stderr) == (128 + signal.SIGHUP, "")


def test_a_signal_after_the_work_is_done_is_no_error() -> None:
    done = ended(AT_THE_END, signal.SIGINT)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
