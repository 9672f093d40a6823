"""ES modules as one script: what it computes in a browser, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.browser import STATIC
from tengen.browser.script_bundle import BundleError, bundled_script
from tests.browsers import running_browser

# `twice` is private to two modules, and `numbers.js` is imported by two.
MODULES = {
    "main.js": """
import { doubled as first } from "./doubling.js";
import {
  sum,
} from "./lib/sums.js";
const twice = "mine";
document.title = `${first(3)} ${sum(1, 2)} ${twice}`;
""",
    "doubling.js": """
import { TWO } from "./lib/numbers.js";
const twice = (x) => TWO * x;
export function doubled(x) {
  return twice(x);
}
""",
    "lib/sums.js": """
import { ONE, Box } from "./numbers.js";
export const sum = (a, b) => new Box(a + b).content * ONE;
""",
    "lib/numbers.js": """
document.counted = (document.counted ?? 0) + 1;
export const ONE = document.counted;
export const TWO = 2;
export class Box {
  constructor(content) {
    this.content = content;
  }
}
""",
}


def written(folder: Path, modules: dict[str, str]) -> Path:
    for name, text in modules.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    return folder / next(iter(modules))


def test_modules_keep_their_scopes_and_run_once(tmp_path: Path) -> None:
    script = bundled_script(written(tmp_path, MODULES))
    with running_browser() as browser:
        page = browser.new_page()
        page.add_script_tag(content=script)
        assert page.title() == "6 3 mine"
        assert page.evaluate("document.counted") == 1


@pytest.mark.parametrize(
    "line",
    [
        'import sums from "./sums.js";',
        'import * as sums from "./sums.js";',
        'import "./sums.js";',
        'import { difference } from "./sums.js";',
        'import { sum } from "sums";',
        'import { sum } from "https://sums.example/sums.js";',
        'const sums = import("./sums.js");',
        "const here = import.meta.url;",
        "await sums();",
        "export default 1;",
        "export let changing = 1;",
        "export { one };",
        'export * from "./sums.js";',
        'const text = "</script>";',
        'const text = "<!-- ";',
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "sums.js").write_text("export const sum = 1;", "utf-8")
    with pytest.raises(BundleError, match=r"main\.js"):
        bundled_script(written(tmp_path, {"main.js": f"const one = 1;\n{line}\n"}))


def test_circular_imports_are_refused(tmp_path: Path) -> None:
    modules = {
        "one.js": 'import { b } from "./two.js";\nexport const a = 1;\n',
        "two.js": 'import { a } from "./one.js";\nexport const b = 1;\n',
    }
    with pytest.raises(BundleError, match=r"one\.js imports itself by way of two\.js"):
        bundled_script(written(tmp_path, modules))


def test_the_review_has_the_board_of_the_page() -> None:
    script = bundled_script(STATIC / "js" / "review" / "main.js")
    for file in ("painter.js", "stones.js", "wood.js"):
        own = (STATIC / "js" / "board" / file).read_text("utf-8")
        functions = [line for line in own.splitlines() if line.startswith("function ")]
        assert functions
        assert all(line in script for line in functions)
