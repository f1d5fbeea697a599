"""How often something that is seen, reported or verified is not true.

```
python -m benchmarks.truth --json
python -m benchmarks.truth --part ids --part judging
```

Each part is a module of `benchmarks.support.truth`; its docstring says what it counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.support.figures import Figures, command
from benchmarks.support.truth import (
    dispatch,
    ids,
    judging,
    menus,
    office,
    pages,
    reflecting,
    replaying,
    texts,
    toolkits,
    windows,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the benchmark."""

    names: tuple[str, ...]  # the figures that it sets
    measure: Callable[[Figures, bool], None]  # measures them; its second argument says whether few cases are enough


PARTS: dict[str, Part] = {
    "dispatch": Part(dispatch.NAMES, dispatch.measure),
    "ids": Part(ids.NAMES, ids.measure),
    "judging": Part(judging.NAMES, judging.measure),
    "menus": Part(menus.NAMES, menus.measure),
    "office": Part(office.NAMES, office.measure),
    "pages": Part(pages.NAMES, pages.measure),
    "reflecting": Part(reflecting.NAMES, reflecting.measure),
    "replaying": Part(replaying.NAMES, replaying.measure),
    "texts": Part(texts.NAMES, texts.measure),
    "toolkits": Part(toolkits.NAMES, toolkits.measure),
    "windows": Part(windows.NAMES, windows.measure),
}


def main() -> int:
    """Measure, and print the figures; with --json the last line is one JSON object."""

    def options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--part", action="append", choices=list(PARTS), help="only this part; may be given again")

    return command("truth", __doc__ or "", measure, options)


def measure(wanted: argparse.Namespace) -> Figures:
    """Measure the parts that are wanted."""
    parts = [part for name, part in PARTS.items() if not wanted.part or name in wanted.part]
    figures = Figures([name for part in parts for name in part.names])
    for part in parts:
        with figures.part(*part.names):
            part.measure(figures, wanted.quick)
    return figures


if __name__ == "__main__":
    sys.exit(main())
