"""The pages of MiniWoB++ from its Python package, which is not imported."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agent_s.errors import install_command
from evaluation.errors import PagesMissing

PACKAGE = "miniwob"
INSTALL = install_command("miniwob")


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages."""

    folder: Path  # folder to serve: pages, scripts and styles
    names: tuple[str, ...]  # names of the tasks, sorted

    def chosen(self, wanted: Iterable[str]) -> tuple[str, ...]:
        """Return the requested names, each once, in their order.

        Raises:
            PagesMissing: There is no such task; the message suggests similar names.
        """
        names = tuple(dict.fromkeys(wanted))
        for name in names:
            if name not in self.names:
                near = difflib.get_close_matches(name, self.names, n=3)
                hint = f" Did you mean {', '.join(near)}?" if near else ""
                raise PagesMissing(f"MiniWoB++ has no task {name!r}.{hint}")
        return names

    @staticmethod
    def path_of(name: str) -> str:
        """Return the path of a task's page on the server."""
        return f"/{PACKAGE}/{name}.html"


def find_pages() -> Pages:
    """Find the installed pages.

    Raises:
        PagesMissing: The package is not installed.
    """
    spec = importlib.util.find_spec(PACKAGE)  # importing it would load all its dependencies
    for location in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(location) / "html"
        names = tuple(sorted(path.stem for path in (folder / PACKAGE).glob("*.html")))
        if names:
            return Pages(folder, names)
    raise PagesMissing(f"The pages of MiniWoB++ are not installed. Install them with: {INSTALL}")
