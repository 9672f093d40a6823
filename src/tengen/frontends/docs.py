"""`tengen docs`: the documentation in the terminal."""

from __future__ import annotations

import re
from pathlib import Path

from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from tengen.documents import documents, recipes
from tengen.terminal_console import TerminalConsole

_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)


def pages() -> dict[str, Path]:
    """The pages in English, by their names."""
    folder = documents()
    found = {str(path.relative_to(folder).with_suffix("")): path for path in folder.rglob("*.md")}
    return {name: found[name] for name in sorted(found) if "." not in Path(name).name}


def show_documents(page: str | None) -> None:
    """Print a page, or the list of pages; raises ValueError for a page that is not there."""
    console = TerminalConsole()
    known = pages()
    if page is None:
        table = Table("page", "about")
        for name, path in known.items():
            heading = _HEADING.search(path.read_text("utf-8"))
            table.add_row(Text(name), Text(heading[1] if heading else ""))
        console.print(table)
        console.print(Text(f"tengen docs PAGE shows one; all are in {documents()}"))
        names = ", ".join(recipes())
        console.print(Text(f"Recipes for tengen train --config NAME: {names}"))
        return
    name = page.removesuffix(".md").removeprefix("docs/")
    found = [each for each in known if name in (each, Path(each).name)]
    if not found:
        raise ValueError(f"there is no page called {page!r}; there are {', '.join(known)}")
    console.print(Markdown(known[found[0]].read_text("utf-8")))
