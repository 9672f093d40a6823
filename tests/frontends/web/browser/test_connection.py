"""The server is killed, and a game goes on where it was."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from playwright.sync_api import Browser, expect

from tengen.frontends.web.http.listening import bound_socket
from tengen.network.files.tengen_format import save_network
from tests.frontends.web.browser.visit import LIMIT, visiting
from tests.network.test_tengen_format import random_network


@contextmanager
def _server(port: int, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`tengen play` as a process of its own."""
    options = ["--no-browser", "--port", str(port), "--model", str(folder / "net.safetensors")]
    process = subprocess.Popen(
        [sys.executable, "-m", "tengen", "play", *options],
        env=os.environ | {"TENGEN_DATA_DIR": str(folder / "data")},
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        assert b"open http://" in process.stderr.readline()
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_killed_server_loses_no_game(browser: Browser, tmp_path: Path, screenshots: Path) -> None:
    save_network(random_network("b2c32"), tmp_path / "net.safetensors")
    with closing(bound_socket("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with visiting(browser, port, screenshots) as visit:
        page = visit.page
        with _server(port, tmp_path) as server:
            visit.open()
            visit.new_game(9, "both")
            visit.play("D4", "F6", "C7")
            page.wait_for_function("() => navigator.serviceWorker.controller")
            server.kill()
            expect(page.locator("#banner")).to_contain_text("connection to Tengen is lost")
            visit.shoot("away")
            visit.point("G3").click()  # goes nowhere, and says so or waits
            page.reload()  # nobody answers but the page itself, which says so
            expect(page.locator("p[lang=en]")).to_contain_text("server does not answer")
            expect(page.locator("p[lang=ja]")).to_be_hidden()
        with _server(port, tmp_path):
            expect(page.locator("#banner")).to_be_attached(timeout=LIMIT)  # by itself
            expect(page.locator("#banner")).not_to_contain_text("lost", timeout=LIMIT)
            black = re.compile("black stone")
            expect(visit.point("C7")).to_have_attribute("aria-label", black)
            assert visit.stones() == (2, 1)
            visit.play("G3")
            assert visit.stones() == (2, 2)
        visit.errors.clear()  # the browser notes each attempt that failed
