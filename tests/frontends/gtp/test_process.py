"""Sessions as processes: how they start, what they print where, how they end."""

from __future__ import annotations

import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tengen.network.files.bundled import FILES
from tests.bundled import needs_bundled_network
from tests.frontends.gtp.client import assert_protocol
from tests.katago_data import FOLDER, needs_katago_data

fcntl = pytest.importorskip("fcntl", reason="Windows has neither these signals nor these pipes")
termios = pytest.importorskip("termios")

NETWORK = FOLDER / "g170-b6c96.bin.gz"
RUN = (
    "from tengen.frontends.command_options import GtpOptions\n"
    "from tengen.frontends.gtp.run import run_gtp\n"
    "run_gtp(GtpOptions({}))"
)
PIPE = 4096  # bytes that a pipe holds
WITH_NETWORK = f"model={str(NETWORK)!r}, board_size=9, visits=100"


@contextmanager
def _process(
    options: str = "", before: str = "", stderr: int = subprocess.PIPE
) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", f"{before}\n{RUN.format(options)}"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _streams(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _ask(process: subprocess.Popen[bytes], command: str) -> str:
    stdin, stdout = _streams(process)
    stdin.write(f"{command}\n".encode())
    stdin.flush()
    lines = []
    while (line := stdout.readline()) not in (b"\n", b""):
        lines.append(line.decode().rstrip("\n"))
    return "\n".join(lines)


def _end(process: subprocess.Popen[bytes], data: bytes = b"") -> tuple[bytes, bytes]:
    """Send the last of the input; what was printed besides what was read."""
    out, err = process.communicate(data, timeout=60)
    return out, err or b""


def _assert_harmless(stderr: bytes) -> None:
    for line in stderr.decode().splitlines():
        assert not line.startswith(("=", "?", "info", "play"))
        assert " -> " not in line


# Tells on stderr how much processor time all threads took up to a reply.
TELL_CPU_TIME = """
import sys, time
from tengen.frontends.gtp.protocol import Outlet
send = Outlet.send
def tell(outlet, text):
    print("CPU time", time.process_time(), file=sys.stderr, flush=True)
    send(outlet, text)
Outlet.send = tell
"""


def test_a_name_is_answered_within_a_second_and_with_less_than_that_of_cpu_time() -> None:
    times, cpu_times = [], []
    for _ in range(3):
        start = time.monotonic()
        options = WITH_NETWORK if NETWORK.exists() else ""
        with _process(options, before=TELL_CPU_TIME) as process:
            assert _ask(process, "name") == "= Tengen"
            times.append(time.monotonic() - start)
            _, err = _end(process, b"quit\n")
        cpu_times.append(float(re.findall(rb"CPU time (\S+)", err)[0]))
    assert min(times) < 1.0
    assert min(cpu_times) < 0.6


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    heavy = "{'numba', 'numpy', 'openvino', 'torch', 'sgfmill'}"
    code = f"import sys, tengen.frontends.gtp; sys.exit(str({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert found.stderr.decode().strip() == "set()"


@needs_katago_data
@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_the_precision_is_chosen_and_told_at_the_start(precision: str) -> None:
    with _process(f"{WITH_NETWORK}, precision={precision!r}") as process:
        assert _ask(process, "genmove b").startswith("= ")
        _, err = _end(process, b"quit\n")
        assert (
            f"ready: g170-b6c96-s175395328-d26788732 on CPU, OpenVINO {precision}" in err.decode()
        )


def test_a_session_can_be_logged(tmp_path: Path) -> None:
    path = tmp_path / "gtp.log"
    with _process(f"log={str(path)!r}") as process:
        _end(process, b"1 name\n2 nonsense\n")
    log = path.read_text()
    assert [line[20:] for line in log.splitlines() if line[20:22] == "> "] == [
        "> 1 name",
        "> 2 nonsense",
    ]
    assert "< =1 Tengen" in log
    assert "< ?2 unknown command" in log


def test_a_session_whose_network_is_missing_plays_along() -> None:
    with _process("board_size=9, model='/nonexistent.bin.gz'") as process:
        out, err = _end(
            process,
            b"1 boardsize 5\n2 play b C3\n3 genmove w\n4 undo\n"
            b"5 known_command genmove\n6 quit\n7 name\n",
        )
        assert re.fullmatch(
            rb"=1\n\n=2\n\n\?3 [^\n]*/nonexistent.bin.gz[^\n]*\n\n=4\n\n=5 true\n\n=6\n\n", out
        )
        assert process.returncode == 0
        _assert_harmless(err)


@needs_bundled_network
def test_without_a_model_the_bundled_network_plays_at_the_level_that_is_named() -> None:
    with _process("board_size=9, level='learner'") as process:
        out, err = _end(process, b"1 genmove b\n2 kata-get-models\n3 quit\n")
        assert re.match(rb"=1 [A-J][1-9]\n\n=2 ", out)
        assert FILES[0].encode() in out
        _assert_harmless(err)


def _wait_until_full(pipe: IO[bytes]) -> None:
    before, count = -1, 0
    while count != before:
        before = count
        time.sleep(0.3)
        count = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


@needs_bundled_network
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("state", ["idle", "searching", "unread"])
def test_a_signal_ends_a_session_cleanly(number: signal.Signals, state: str) -> None:
    code = (  # signals may be ignored where tests run in the background
        "import signal, sys; sys.argv[0] = 'tengen'\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        "from tengen.frontends.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "gtp"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, pipesize=PIPE)
    try:
        assert _ask(process, "boardsize 5") == "="  # while the network is loading
        if state != "idle":
            stdin, stdout = _streams(process)
            stdin.write(b"kata-analyze b 1\n")
            stdin.flush()
            assert [stdout.readline()[:5] for _ in range(6)] == [b"=\n"] + 5 * [b"info "]
        if state == "unread":  # the session waits for somebody to read what it writes
            _wait_until_full(stdout)
        process.send_signal(number)
        process.wait(60)
        _, err = process.communicate()
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert b"Traceback" not in err
    assert b"terminate" not in err


def test_a_signal_ends_a_session_that_waits_for_its_network() -> None:
    code = (
        "import signal, sys, time; sys.argv[0] = 'tengen'\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from tengen.frontends.gtp import run, session\n"
        "run._load = lambda _: time.sleep(600)\n"
        "wait = session.GtpSession.engine\n"
        "def engine(self):\n"
        "    print('waiting', file=sys.stderr, flush=True)\n"
        "    return wait(self)\n"
        "session.GtpSession.engine = engine\n"
        "from tengen.frontends.cli import main; main()"
    )
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", code, "gtp"], stdin=pipe, stderr=pipe)
    try:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"genmove b\n")
        process.stdin.flush()
        assert process.stderr.readline() == b"waiting\n"
        time.sleep(0.5)  # until it does
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (128 + signal.SIGINT, b"")


def test_a_network_that_is_not_there_is_named() -> None:
    with _process("model='/nonexistent.bin.gz'") as process:
        out, err = _end(process, b"1 genmove b\n2 name\n")
        assert re.fullmatch(rb"\?1 [^\n]*/nonexistent.bin.gz[^\n]*\n\n=2 Tengen\n\n", out)
        assert process.returncode == 0
        assert b"/nonexistent.bin.gz" in err
        _assert_harmless(err)


@pytest.mark.parametrize(
    "options",
    [
        "rules='martian'",
        "komi=0.3",
        "board_size=50",
        "visits=0",
        "level='god'",
        "level='full', visits=9",
    ],
)
def test_options_that_cannot_be_are_refused_at_once(options: str) -> None:
    with _process(options) as process:
        out, err = _end(process)
        assert out == b""
        assert process.returncode == 1
        assert b"Error: " in err


def test_whatever_else_is_printed_stays_out_of_the_protocol() -> None:
    noisy = """
import os
import tengen.frontends.gtp.run as run
serve = run.serve
def noisily(*arguments):
    os.write(1, b"noise of a library\\n")
    print("noise of Python's", flush=True)
    serve(*arguments)
run.serve = noisily
"""
    with _process("", noisy) as process:
        out, err = _end(process, b"1 name\n2 protocol_version\n")
        assert out == b"=1 Tengen\n\n=2 2\n\n"
        assert err.count(b"noise") == 2


def test_a_session_ends_with_its_input_even_while_it_loads() -> None:
    with _process(WITH_NETWORK if NETWORK.exists() else "") as process:
        out, _ = _end(process, b"1 name\n")
        assert out == b"=1 Tengen\n\n"
        assert process.returncode == 0


def test_a_session_ends_when_nobody_reads_its_answers() -> None:
    with _process() as process:
        stdin, stdout = _streams(process)
        stdout.close()
        stdin.write(b"name\n")
        stdin.flush()
        assert process.wait(60) == 0


@needs_katago_data
def test_a_whole_session_with_a_network_and_merged_streams() -> None:
    """As Lizzie has it: stderr is merged into stdout, and no line may be mistaken."""
    with _process(WITH_NETWORK, stderr=subprocess.STDOUT) as process:
        stdin, stdout = _streams(process)
        stdin.write(
            b"0 name\n1 version\n2 boardsize 9\n3 komi 7\n4 kata-analyze 5 ownership true\n"
        )
        stdin.flush()
        lines = []
        while not (line := stdout.readline().decode()).startswith("info "):
            assert line
            lines.append(line)
        stdin.write(b"5 play B E5\n6 kata-genmove_analyze W 20\n7 final_score\n8 quit\n")
        stdin.flush()
        rest, _ = process.communicate(timeout=60)
        lines += [line, *rest.decode().splitlines(keepends=True)]
        assert process.returncode == 0
    ours = [line for line in lines if not line.startswith("tengen: ")]
    assert_protocol("".join(ours).encode())
    assert [line.split()[0] for line in ours if line[0] in "=?"] == [f"={i}" for i in range(9)]
    assert sum(line.startswith("play ") for line in ours) == 1
    assert any("ready" in line for line in lines if line.startswith("tengen: "))


@needs_katago_data
@pytest.mark.long
def test_the_first_move_comes_within_three_seconds() -> None:
    """On an idle machine, with kernels compiled before; the best of three."""
    times = []
    for _ in range(3):
        with _process(WITH_NETWORK, stderr=subprocess.DEVNULL) as process:
            _ask(process, "name")
            start = time.monotonic()
            assert re.fullmatch(r"= [A-HJ][1-9]", _ask(process, "genmove b"))
            times.append(time.monotonic() - start)
    assert min(times) < 3.0, times


@needs_bundled_network
def test_quit_takes_no_time_after_many_boards() -> None:
    """Freeing compiled networks one by one took seconds."""
    command = [sys.executable, "-m", "tengen", "gtp", "--visits", "2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            for side in range(5, 13):
                assert _ask(process, f"boardsize {side}") == "="
                assert re.match("= [A-Z]", _ask(process, "genmove b"))
            stdin, _ = _streams(process)
            began = time.monotonic()
            stdin.write(b"quit\n")
            stdin.flush()
            assert process.wait(30) == 0
            assert time.monotonic() - began < 2  # 0.05 s where nothing else runs
        finally:
            process.kill()
