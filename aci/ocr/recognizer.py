"""Recognition of tiles in background threads, with a memory of results."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from aci.errors import RecognitionFailed
from aci.ocr.text_engine import TextBox, TextEngine, sample_picture
from aci.ocr.tile_sheets import Sheet, Tile, make_sheets

_MEANWHILE_S = 0.05
_MOST_REMEMBERED = 20_000  # lines of some hundred bytes


@dataclass(frozen=True, slots=True)
class Read:
    """What a tile says."""

    boxes: tuple[TextBox, ...]  # the texts in it, in pixels of the tile
    failure: str = ""  # why it could not be read; empty where it could


class Recognizer:
    """Reads tiles in background threads and remembers the results; usable from several threads.

    Args:
        engine: Recognizes texts in pictures.
        threads: Maximum number of sheets that are read at the same time.

    Attributes:
        is_loading: Whether the engine is not ready yet.
    """

    def __init__(self, engine: TextEngine, threads: int = 1) -> None:
        self._engine, self._threads = engine, threads
        self._change = threading.Condition()
        self._memory: OrderedDict[bytes, Read] = OrderedDict()
        self._queue: list[Tile] = []
        self._reading: list[frozenset[bytes]] = []  # the keys on each sheet that is being read
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="aci-ocr")
        self._busy, self._closed = 1, False  # number of busy threads
        self.is_loading = True
        self._defect: BaseException | None = None
        self._pool.submit(self._warm_up)

    def want(self, tiles: Sequence[Tile]) -> None:
        """Read these tiles next, in this order, instead of earlier requests that have not begun."""
        with self._change:
            self._queue = []
        self.add(tiles)

    def add(self, tiles: Sequence[Tile]) -> None:
        """Read these tiles after earlier requests."""
        with self._change:
            queued = {tile.key: tile for tile in self._queue}
            queued.update({tile.key: tile for tile in tiles if tile.key not in self._memory})
            reading = frozenset[bytes]().union(*self._reading)
            self._queue = [tile for key, tile in queued.items() if key not in reading]
            self._go_on()

    def wait(self, keys: Iterable[bytes], deadline: float, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Wait until the tiles with these keys have been read, or until the deadline.

        Args:
            keys: Keys of tiles that have been asked for.
            deadline: On the scale of `time.monotonic()`.
            meanwhile: Called again and again.

        Raises:
            AciError: The engine cannot be used at all.
        """
        missing = set(keys)
        while True:
            with self._change:
                missing = {key for key in missing if key not in self._memory}
                left = deadline - time.monotonic()
                if not missing or left <= 0 or self._closed:
                    break
                self._change.wait(min(left, _MEANWHILE_S))
            meanwhile()
        self._report_defects()

    def recall(self, key: bytes) -> Read | None:
        """Return the result of a tile, None while it has not been read."""
        with self._change:
            read = self._memory.get(key)
            if read is not None:
                self._memory.move_to_end(key)
            return read

    def close(self) -> None:
        """Stop after the current sheets."""
        with self._change:
            self._closed = True
            self._queue = []
            self._change.notify_all()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _go_on(self) -> None:
        self._report_defects()
        if self.is_loading or self._closed:
            return
        for _ in range(min(self._threads - self._busy, len(self._queue))):
            self._busy += 1
            self._pool.submit(self._read_all)

    def _report_defects(self) -> None:
        if self._defect is not None:
            raise self._defect

    def _warm_up(self) -> None:
        """Let the engine read something at once: loading takes longer than an observation may."""
        try:
            self._engine.recognize(sample_picture())
        except RecognitionFailed:
            pass  # The next request fails in the same way, and that is reported.
        except BaseException as error:
            self._stop(error)
            raise
        finally:
            self.is_loading = False
        with self._change:
            self._go_on()
        self._read_all()

    def _read_all(self) -> None:
        try:
            while (sheet := self._next_sheet()) is not None:
                self._read(sheet)
        except BaseException as error:
            self._stop(error)
            raise

    def _next_sheet(self) -> Sheet | None:
        with self._change:
            readers = self._threads - len(self._reading)
            sheet = next(make_sheets(self._queue, readers), None) if not self._closed else None
            if sheet is None:
                self._busy -= 1
                return None
            self._reading.append(sheet.keys)
            self._queue = [tile for tile in self._queue if tile.key not in sheet.keys]
            return sheet

    def _read(self, sheet: Sheet) -> None:
        try:
            read = {key: Read(boxes) for key, boxes in sheet.by_tile(self._engine.recognize(sheet.pixels)).items()}
        except RecognitionFailed as error:
            read = {tile.key: Read((), str(error)) for tile, _ in sheet.places}
        with self._change:
            self._memory.update(read)
            while len(self._memory) > _MOST_REMEMBERED:
                self._memory.popitem(last=False)
            self._reading.remove(sheet.keys)
            self._change.notify_all()

    def _stop(self, defect: BaseException) -> None:
        with self._change:
            self._defect, self._closed = defect, True
            self._change.notify_all()
