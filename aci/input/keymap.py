"""The keys that type keysyms, and borrowed keys for those that no layout has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MULTIMEDIA_KEYSYMS = range(0x1008FE00, 0x10090000)  # XF86keysym.h
_FUNCTION_KEYS, _UNICODE = 0xFE00, 0x01000000  # keysyms between these are modifiers, Return and the like, not letters


@dataclass(frozen=True, slots=True)
class Stroke:
    """A key to press, and whether Shift is held with it."""

    keycode: int
    shift: bool


class Keymap:
    """The keyboard mapping of a display.

    A keysym that no key types gets one of the layout's unused keys, and keeps it until keys run out: applications read
    the mapping some time after the key press, so restoring it at once would change what was typed.

    Args:
        display: An open Xlib display, shared with the caller.
        private: Whether nobody else uses the keyboard, so that multimedia keys may be borrowed as well. They are
            adjacent, and window managers take long over each run of changed keys.
    """

    def __init__(self, display: Any, private: bool = False) -> None:
        self._display = display
        self._private = private
        self._first = display.display.info.min_keycode
        self._width = 2
        self._strokes: dict[int, Stroke] = {}
        self._spare: list[int] = []
        self._lent: dict[int, int] = {}
        self._pending: dict[int, int] = {}
        self.refresh(0)

    def refresh(self, group: int) -> None:
        """Read the mapping of the current layout (`group`, from 0)."""
        count = self._display.display.info.max_keycode - self._first + 1
        rows = [list(row) for row in self._display.get_keyboard_mapping(self._first, count)]
        codes = range(self._first, self._first + count)
        self._width = max(2, len(rows[0]))
        self._lent = {symbol: code for symbol, code in self._lent.items() if symbol in rows[code - self._first]}
        lent = set(self._lent.values())
        self._spare = [
            code for code, row in zip(codes, rows, strict=True) if code not in lent and self._may_be_borrowed(row)
        ]
        used = lent.union(self._spare)
        self._strokes = {}
        for shift in (False, True):
            for code, row in zip(codes, rows, strict=True):
                symbol = _symbol(row, group, shift) if code not in used else 0
                if symbol:
                    self._strokes.setdefault(symbol, Stroke(code, shift))

    def stroke(self, keysym: int) -> Stroke | None:
        """Return the key that types a keysym now, or None."""
        if keysym in self._strokes:
            return self._strokes[keysym]
        return Stroke(self._lent[keysym], shift=False) if keysym in self._lent else None

    def foreign(self, keysyms: Iterable[int]) -> list[int]:
        """Return those keysyms that the layout lacks, each once, in order."""
        return [keysym for keysym in dict.fromkeys(keysyms) if keysym not in self._strokes]

    @property
    def room(self) -> int:
        """Number of foreign keysyms that can have a key at once."""
        return len(self._spare) + len(self._lent)

    def lend(self, keysyms: Iterable[int]) -> bool:
        """Assign keys to at most `room` foreign keysyms, reassigning the least recently used.

        Returns:
            Whether a key changes its meaning, so that applications must first read what was typed; `commit` makes the
            change.
        """
        wanted = self.foreign(keysyms)
        for keysym in wanted:
            if keysym in self._lent:
                self._lent[keysym] = self._lent.pop(keysym)
        reused = False
        for keysym in wanted:
            if keysym in self._lent:
                continue
            if self._spare:
                code = self._spare.pop(0)
            else:
                code = self._lent.pop(next(iter(self._lent)))
                reused = True
            self._lent[keysym] = code
            self._pending[code] = keysym
        return reused

    def commit(self) -> None:
        """Send the assigned keys to the server."""
        self._map(self._pending)
        self._pending.clear()

    def take_back(self) -> None:
        """Clear all borrowed keys."""
        self._map(dict.fromkeys(self._lent.values(), 0))
        self._lent.clear()

    def _may_be_borrowed(self, symbols: list[int]) -> bool:
        return all(symbol == 0 or (self._private and symbol in _MULTIMEDIA_KEYSYMS) for symbol in symbols)

    def _map(self, keys: Mapping[int, int]) -> None:
        for run in _runs(sorted(keys)):
            # Both levels alike, so that a Shift that is held does no harm.
            rows = [[keys[code], keys[code]] + [0] * (self._width - 2) for code in run]
            self._display.change_keyboard_mapping(run[0], rows)
        self._display.sync()


def _runs(codes: Iterable[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for code in codes:
        if runs and runs[-1][-1] == code - 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    return runs


def _symbol(row: Sequence[int], group: int, shift: bool) -> int:
    """Return what a key types in a layout, 0 for nothing (X11 protocol, section 5: keyboards).

    The core mapping has two columns for each of the first two layouts; keys that are the same in all fill only the
    first two. The place of a third layout depends on the server, so only non-letter keys are known there.
    """
    column = int(shift)
    if group == 1 and any(row[2:4]):
        column += 2
    symbol = row[column] if column < len(row) else 0
    return symbol if group < 2 or _FUNCTION_KEYS <= symbol < _UNICODE else 0
