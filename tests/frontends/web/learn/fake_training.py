"""Training that is made up: it puts a run there that was prepared, and waits until it is stopped.

Run as a program: the folder that was prepared, then what `tengen train` gets.
"""

from __future__ import annotations

import shutil
import signal
import sys
import time
from pathlib import Path

from tengen.runs.folder import RunLock, is_run

MISSING = "tengen: there is no room for games"


def main() -> None:
    prepared, path = map(Path, sys.argv[1:3])
    if not prepared.exists():
        sys.exit(MISSING)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if not is_run(path):
        shutil.copytree(prepared, path)
    with RunLock(path):
        time.sleep(60)


if __name__ == "__main__":
    main()
