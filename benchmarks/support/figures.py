"""The figures of a benchmark: each is a number, or missing for a reason; and the command line around them."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from aci.errors import AciError

Number = float | int


class NotMeasured(Exception):
    """A figure cannot be had here; the message says why."""


class Figures:
    """Named figures, of which each is set once, to a number or to the reason why there is none."""

    def __init__(self, names: Sequence[str]) -> None:
        """Name the figures."""
        self._values: dict[str, Number | None] = dict.fromkeys(names)
        self._reasons: dict[str, str] = dict.fromkeys(names, "its part of the benchmark was not reached")

    def set(self, name: str, value: Number) -> None:
        """Give a figure its value."""
        if name not in self._values:
            raise KeyError(name)
        self._values[name] = round(value, 5) if isinstance(value, float) else value
        self._reasons.pop(name, None)

    def lack(self, name: str, reason: str) -> None:
        """Say why there is no such figure; one that has its value keeps it."""
        if self._values[name] is None:
            self._reasons[name] = reason

    @contextmanager
    def part(self, *names: str) -> Iterator[None]:
        """Let a part of the benchmark that breaks cost its own figures only, and tell how long it took."""
        started = time.monotonic()
        try:
            yield
        except (NotMeasured, AciError, OSError, TimeoutError) as error:
            for name in names:
                self.lack(name, f"{type(error).__name__}: {error}")
        tell(f"[{', '.join(names)}: {time.monotonic() - started:.0f} s]")

    def values(self) -> dict[str, Number | None]:
        """Return all figures, None where there is none."""
        return dict(self._values)

    def reasons(self) -> dict[str, str]:
        """Return why figures are missing, by name."""
        return dict(self._reasons)


def tell(text: str) -> None:
    """Tell a detail on the error output, so that the figures stand alone on the other."""
    print(text, file=sys.stderr, flush=True)


def processor_s() -> float:
    """Return how long 10 million additions take here and now, in seconds, by which runs at different times compare."""
    began, total = time.perf_counter(), 0
    for number in range(10_000_000):
        total += number
    return round(time.perf_counter() - began, 2)


def command(
    name: str,
    description: str,
    measure: Callable[[argparse.Namespace], Figures],
    options: Callable[[argparse.ArgumentParser], None] | None = None,
) -> int:
    """Run a benchmark from its command line.

    Args:
        name: Name of the module in `benchmarks`.
        description: Printed by `--help`.
        measure: Does the work; gets the arguments, among them `quick`.
        options: Adds arguments of its own.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--quick", action="store_true", help="few repetitions, for a first look")
    if options is not None:
        options(parser)
    wanted = parser.parse_args()
    figures = measure(wanted)
    for figure, reason in figures.reasons().items():
        tell(f"{figure}: not measured: {reason}")
    if wanted.json:
        print(json.dumps(figures.values()))
    else:
        for figure, value in figures.values().items():
            print(f"{figure:24} {'-' if value is None else value}")
    return 0
