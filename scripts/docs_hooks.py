"""Hooks of MkDocs: diagrams become SVG, and README and CHANGELOG become pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from mkdocs.structure.files import File, Files

from agent_s.cli.app import app

ROOT = Path(__file__).parents[1]
INCLUDED = {"index.md": "README.md", "changes.md": "CHANGELOG.md"}


def on_config(config: Any) -> Any:
    """Draw the diagrams, and name anchors as GitHub does."""
    from pymdownx.slugs import slugify

    fence = {"name": "mermaid", "class": "diagram", "format": draw}
    config.mdx_configs.setdefault("pymdownx.superfences", {})["custom_fences"] = [fence]
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify(case="lower")
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are files of the repository; their links lead to pages of the site."""
    for page, name in INCLUDED.items():
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        text = re.sub(r"\[([^\]]+)\]\(LICENSE\)", r"\1", text.replace("](CHANGELOG.md)", "](changes.md)"))
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the help of all commands into their page."""
    if page.file.src_uri != "commands.md":
        return markdown
    return markdown.partition("<!--")[0] + "\n".join(helps(app, "agent-s", None))


def helps(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    """Yield the help of a command and of those below it, each with a heading."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=100)
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            if (found := command.get_command(context, inner)) is not None:
                yield from helps(found, inner, context)


def draw(source: str, _language: str, css_class: str, *_: Any, **_more: Any) -> str:
    """Return a Mermaid diagram as SVG, so that readers need no script."""
    from mermaidx import render

    svg = render(source, theme="neutral", config={"themeVariables": {"lineColor": "#555"}}).svg()
    return f'<div class="{css_class}">{svg}</div>'
