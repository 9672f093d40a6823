"""The kernel decorator: one notice when compiling, a cache that is never stale."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tengen.jit import PACKAGE_ROOT, cache_key, kernel_sources

NOTICE = "tengen: compiling kernels"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package and in it a kernel, another that it calls, and a constant of that."""
    copy = tmp_path / "tengen"
    shutil.copytree(PACKAGE_ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "constant.py").write_text("STEP = 1\n")
    (copy / "callee.py").write_text(
        "from tengen.constant import STEP\n"
        "from tengen.jit import kernel\n\n\n"
        "@kernel\ndef step(x):\n    return x + STEP\n"
    )
    (copy / "caller.py").write_text(
        "import numpy as np\n"
        "from tengen.callee import step\n"
        "from tengen.jit import kernel\n\n\n"
        "@kernel\ndef two_steps(x):\n    return step(step(x))\n\n\n"
        "@kernel\ndef third(a):\n    return a[3]\n\n\n"
        "print(two_steps(40))\n"
    )
    return copy


def run(package: Path, code: str = "import tengen.caller", **settings: str) -> tuple[str, str]:
    """What a new process prints with this copy of the package, on stdout and on stderr."""
    environment = os.environ | settings
    environment |= {
        "PYTHONPATH": str(package.parent),
        "TENGEN_CACHE_DIR": str(package.parent / "c"),
        # Python takes a source of the same second and length for the one it has compiled.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment.pop("NUMBA_CACHE_DIR", None)
    process = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return process.stdout.strip(), process.stderr


def test_compiling_is_announced_once_and_then_cached(package: Path) -> None:
    first, second = run(package), run(package)
    assert first[0] == second[0] == "42"
    assert first[1].count(NOTICE) == 1
    assert second[1] == ""


@pytest.mark.parametrize(
    ("file", "old", "new"), [("callee.py", "x + STEP", "x - STEP"), ("constant.py", "1", "-1")]
)
def test_a_change_in_a_called_file_is_seen(package: Path, file: str, old: str, new: str) -> None:
    run(package)
    path = package / file
    path.write_text(path.read_text().replace(old, new))
    assert run(package)[0] == "38"


def test_bounds_checks_are_not_lost_to_a_warm_cache(package: Path) -> None:
    code = (
        "import numpy as np\nfrom tengen.caller import third\n"
        "try:\n    third(np.zeros(2))\n    print('no check')\n"
        "except IndexError:\n    print('checked')"
    )
    assert run(package, code)[0].endswith("no check")
    assert run(package, code, NUMBA_BOUNDSCHECK="1")[0].endswith("checked")


def test_kernels_run_where_no_cache_can_be_kept(package: Path) -> None:
    (package.parent / "c").write_text("a file where the folder should be")
    temporary = package.parent / "t"
    temporary.mkdir()
    ended_at_once = "import tengen.caller, tengen.interrupt; tengen.interrupt.end_process()"
    result, messages = run(package, ended_at_once, TMPDIR=str(temporary))
    assert result == "42"
    assert messages.count("cannot keep compiled kernels") == 1
    assert not list(temporary.iterdir())


def test_nothing_is_said_where_no_kernel_is_needed_and_none_can_be_kept(package: Path) -> None:
    (package.parent / "c").write_text("a file where the folder should be")
    assert run(package, "import tengen.callee") == ("", "")


def test_kernels_run_when_the_disk_is_full(package: Path) -> None:
    """What is kept while a program runs, too: it must not fail in the middle of a game."""
    code = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))\n"
        "import tengen.caller\n"
    )
    result, messages = run(package, code, PYTHONDONTWRITEBYTECODE="1")
    assert result == "42"
    assert messages.count("cannot keep compiled kernels") == 1


def test_the_user_s_own_numba_cache_setting_is_left_alone(package: Path) -> None:
    code = "import numba; before = numba.config.CACHE_DIR\nimport tengen.caller\n"
    assert run(package, code + "print(numba.config.CACHE_DIR == before)")[0].endswith("True")


def test_threads_that_import_kernels_at_the_same_time_keep_them_in_the_folder(
    package: Path,
) -> None:
    code = (
        "import sys, threading, numba\n"
        "from tengen.jit import kernel, kernel_cache\n"
        "from tengen.caller import third\n"
        "sys.setswitchinterval(1e-6)\n"
        "before, made = numba.config.CACHE_DIR, []\n"
        "def decorate():\n"
        "    made.extend(kernel(third.py_func) for _ in range(100))\n"
        "threads = [threading.Thread(target=decorate) for _ in range(4)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "folder = str(kernel_cache())\n"
        "inside = sum(each._cache.cache_path.startswith(folder) for each in made)\n"
        "print(inside, numba.config.CACHE_DIR == before)\n"
    )
    assert run(package, code)[0].endswith("400 True")


def test_sources_are_the_kernels_and_what_they_import(package: Path) -> None:
    sources = {path.relative_to(package).as_posix() for path in kernel_sources(package)}
    assert {
        "caller.py",
        "callee.py",
        "constant.py",
        "game/kernels/board.py",
        "game/color.py",
    } <= sources
    assert not sources & {"frontends/cli.py", "game/position.py", "game/sgf/syntax.py"}


def test_the_key_is_stable_and_follows_the_settings(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = cache_key(package)
    assert cache_key(package) == key
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert cache_key(package) == key
    monkeypatch.setenv("NUMBA_OPT", "1")
    assert cache_key(package) != key


def test_two_processes_that_compile_at_the_same_time_keep_their_code_apart(package: Path) -> None:
    call = "import numpy as np\nfrom tengen.caller import third\nprint(third(np.full(4, {})))"
    whole, real = call.format("7"), call.format("1.5")
    assert run(package, whole)[0].endswith("7")
    (index,) = (package.parent / "c").rglob("caller.third*.nbi")
    first = index.read_bytes()
    index.unlink()  # the second process has seen nothing of the first
    assert run(package, real)[0].endswith("1.5")
    index.write_bytes(first)  # and the first has saved its index last
    assert run(package, whole)[0].endswith("7")
