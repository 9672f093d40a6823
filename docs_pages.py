"""Pages of the site that are generated from the code, and links from pages into the repository.

mkdocs calls the functions `on_...`; `make docs` builds the site.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

import typer

import tengen
from tengen.frontends.cli import app
from tengen.frontends.command_options import sections as engine_sections
from tengen.frontends.command_options import write_settings

_LINK = re.compile(r"\[([^\]]*)\]\(([^)#:\s]+)(#[^)]*)?\)")


def on_config(config: Any) -> Any:
    """Show the version beside the name, and write the pages about commands and settings.

    They are files that git ignores: the plugin for languages knows no others.
    """
    config["site_name"] = f"{config['site_name']} {tengen.__version__}"
    for name, text in {"cli.md": commands(), "settings.md": settings()}.items():
        (Path(config["docs_dir"]) / "reference" / name).write_text(text, encoding="utf-8")
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, **_: object) -> str:
    """Let links to files outside the documentation lead to the repository, if it is known."""

    def linked(match: re.Match[str]) -> str:
        parts: list[str] = []
        for part in (PurePosixPath(page.file.src_uri).parent / match[2]).parts:
            if part == ".." and parts and parts[-1] != "..":
                parts.pop()
            elif part != ".":
                parts.append(part)
        inside = f"docs/{parts[0]}" if parts in (["recipes"], ["strength"]) else ""
        path = inside or ("/".join(parts[1:]) if parts[:1] == [".."] else "")
        if not path:
            return match[0]
        if not config["repo_url"]:
            return match[1]
        return f"[{match[1]}]({config['repo_url']}/blob/main/{path}{match[3] or ''})"

    return _LINK.sub(linked, markdown)


def commands() -> str:
    """The reference of all commands, as `tengen COMMAND --help` shows them."""
    lines = [
        "# Commands",
        "",
        "Generated from the program; `tengen COMMAND --help` shows the same.",
    ]
    group: Any = typer.main.get_command(app)
    for words, command in _all_commands(group, "tengen"):
        context = command.make_context(words, ["--help"], resilient_parsing=True)
        lines += ["", f"## {words}", "", "```text", command.get_help(context), "```"]
    return "\n".join(lines) + "\n"


def _all_commands(group: Any, name: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for word, command in group.commands.items():
        words = f"{name} {word}"
        inner = _all_commands(command, words) if hasattr(command, "commands") else []
        found += inner or [(words, command)]
    return found


def settings() -> str:
    """The reference of settings files, of engines and of training runs."""
    lines = ["# Settings", "", "## Engines: `tengen config FILE`", "", "```toml", write_settings()]
    lines += ["```", "", f"Sections: {', '.join(f'`[{name}]`' for name in engine_sections())}.", ""]
    try:
        from tengen.config import write_sections
        from tengen.runs.params import SECTIONS
    except ModuleNotFoundError:  # torch, which the site does not need
        return "\n".join(lines)
    runs = write_sections({name: kind() for name, kind in SECTIONS.items()})
    lines += ["## Training runs: `config.toml` of a run", "", "```toml", runs, "```", ""]
    return "\n".join(lines)
