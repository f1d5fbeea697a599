"""Names of the applications of windows whose WM_CLASS names none, as of many programs in Java and Tk."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from aci.applications.catalog import Catalog, program_name
from aci.processes import read_stat, without_version

_WORD = re.compile(r"[^\W_]{3,}")
_ARCHIVE = re.compile(r"([^/:\s]+)\.jar\b")
_FARTHEST = 4  # parents that are asked
_MOST_KNOWN = 1000


class WindowNames:
    """Says what to call the application of a window.

    A class that the catalog knows, or that occurs in the command line of its process, is kept, except that Java names
    its own classes there, and that "Python3" may run the script of an application. For others, such as "BundleThread",
    the process, the scripts that started it and the archives that Java reads are compared with the programs of the
    catalog.

    Args:
        catalog: Returns the installed applications.
        arguments: Returns the command line of a process, without its parents'.
    """

    def __init__(self, catalog: Callable[[], Catalog], arguments: Callable[[int], Sequence[str]] | None = None) -> None:
        self._catalog = catalog
        self._arguments = arguments or _arguments
        self._known: dict[tuple[str, int], str] = {}

    def of(self, window_class: str, pid: int) -> str:
        """Return the name of a window's application: its class, or the name of an installed program."""
        key = without_version(window_class), pid
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = self._find(*key)
        return self._known[key]

    def _find(self, window_class: str, pid: int) -> str:
        own = self._arguments(pid)
        words, program = _WORD.findall(window_class.casefold()), program_name(own)
        java = program == "java"
        # The kernel gives an interpreter the whole path of a script that it starts.
        interpreter = window_class.casefold() == program.casefold() and Path(*own[1:2]).is_absolute()
        said = any(word in argument.casefold() for word in words for argument in own)
        if not own or (said and not (java or interpreter)):
            return window_class
        catalog = self._catalog()
        if window_class.casefold() in catalog.display_names():
            return window_class
        programs = {one.program for one in catalog.applications if not one.in_terminal}
        started = [program, *map(_script, (own, *self._parents(pid)))] if not interpreter else [_script(own)]
        started += _ARCHIVE.findall(" ".join(own)) if java else ()
        return next((name for name in started if name in programs), window_class)

    def _parents(self, pid: int) -> list[Sequence[str]]:
        """Return the command lines of the parents in the same session, the nearest first."""
        found: list[Sequence[str]] = []
        stat = read_stat(pid)
        while stat is not None and len(found) < _FARTHEST:
            parent = read_stat(stat.parent)
            if parent is None or parent.session != stat.session:
                break
            found.append(self._arguments(parent.pid))
            stat = parent
        return found


def _script(argv: Sequence[str]) -> str:
    """Return the name of the script that an interpreter runs."""
    return program_name(argv[1:])


def _arguments(pid: int) -> tuple[str, ...]:
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ()  # It has ended, or belongs to someone else.
    return tuple(raw.decode("utf-8", errors="replace").rstrip("\0").split("\0"))
