from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from aci.errors import MissingDependency
from aci.observation.geometry import Rect
from aci.ocr.recognizer import Recognizer
from aci.ocr.text_engine import TextBox
from aci.ocr.tile_sheets import Tile, make_tile
from tests.unit.aci.ocr.pictures import FakeEngine, blank, unreadable, write

LIMIT_S = 20.0


def tile(word: int) -> Tile:
    pixels = blank(300, 14)
    write(pixels, word, Rect(2, 2, 290, 10))
    return make_tile(pixels, np.ones((14, 300), dtype=bool))


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def recognizer(engine: FakeEngine) -> Iterator[Recognizer]:
    running = Recognizer(engine)
    yield running
    engine.go.set()
    running.close()


def soon() -> float:
    return time.monotonic() + LIMIT_S


def told(recognizer: Recognizer, each: Tile) -> list[str] | None:
    read = recognizer.recall(each.key)
    return None if read is None else [box.text for box in read.boxes]


def test_results_are_remembered(recognizer: Recognizer, engine: FakeEngine) -> None:
    tiles = [tile(1), tile(2)]
    for _ in range(3):
        recognizer.want(tiles)
        recognizer.wait([each.key for each in tiles], soon())
    assert [told(recognizer, each) for each in tiles] == [["word 1"], ["word 2"]]
    assert engine.read == [1, 2]


def test_wait_ends_at_the_deadline_and_reading_continues(recognizer: Recognizer, engine: FakeEngine) -> None:
    engine.go.clear()
    recognizer.want([tile(1)])
    recognizer.wait([tile(1).key], time.monotonic() + 0.02)
    assert told(recognizer, tile(1)) is None
    engine.go.set()
    recognizer.wait([tile(1).key], soon())
    assert told(recognizer, tile(1)) == ["word 1"]


def test_unwanted_tiles_are_not_read(recognizer: Recognizer, engine: FakeEngine) -> None:
    engine.go.clear()
    recognizer.want([tile(word) for word in range(1, 30)])
    recognizer.want([tile(99)])
    engine.go.set()
    recognizer.wait([tile(99).key], soon())
    recognizer.want([tile(98)])
    recognizer.wait([tile(98).key], soon())
    assert {98, 99} <= set(engine.read)
    assert len(engine.read) < 10, "at most the sheet that had been begun"


def test_added_tiles_are_read_after_those_wanted(recognizer: Recognizer, engine: FakeEngine) -> None:
    engine.go.clear()
    recognizer.want([tile(1)])
    recognizer.add([tile(2), tile(1)])
    engine.go.set()
    recognizer.wait([tile(1).key, tile(2).key], soon())
    assert engine.read == [1, 2]


def test_unreadable_picture_is_reported_and_not_retried() -> None:
    engine = FakeEngine(unreadable())
    recognizer = Recognizer(engine)
    try:
        recognizer.want([tile(1)])
        recognizer.wait([tile(1).key], soon())
        engine.failure = None
        recognizer.want([tile(1), tile(2)])
        recognizer.wait([tile(1).key, tile(2).key], soon())
        read = recognizer.recall(tile(1).key)
        assert read is not None and read.failure == "out of paper"
        assert told(recognizer, tile(2)) == ["word 2"]
    finally:
        recognizer.close()


def test_engine_that_cannot_be_used_at_all_is_an_error_and_not_silence() -> None:
    recognizer = Recognizer(FakeEngine(MissingDependency("no engine", "install it")))
    try:
        with pytest.raises(MissingDependency):
            recognizer.wait([b"never"], soon())
        with pytest.raises(MissingDependency):
            recognizer.want([tile(1)])
    finally:
        recognizer.close()


def test_closing_wakes_waiters_and_drops_the_queue(engine: FakeEngine) -> None:
    recognizer = Recognizer(engine)
    recognizer.want([tile(1)])
    recognizer.wait([tile(1).key], soon())
    recognizer.close()
    recognizer.want([tile(2)])
    recognizer.wait([tile(2).key], soon())
    assert engine.read == [1]


def test_sheets_are_read_at_the_same_time_by_several_threads() -> None:
    class Meeting(FakeEngine):
        def __init__(self) -> None:
            super().__init__()
            self.both = threading.Barrier(2)

        def recognize(self, pixels: NDArray[np.uint8]) -> list[TextBox]:
            read = super().recognize(pixels)
            if read:
                self.both.wait(LIMIT_S)  # nobody passes alone
            return read

    engine = Meeting()
    recognizer = Recognizer(engine, threads=2)
    tiles = [tile(1), tile(2)]
    try:
        for _ in range(2):
            recognizer.want(tiles)
            recognizer.wait([each.key for each in tiles], soon())
        assert [told(recognizer, each) for each in tiles] == [["word 1"], ["word 2"]]
        assert sorted(engine.read) == [1, 2]
    finally:
        recognizer.close()


def test_tiles_that_are_wanted_while_others_are_read_get_an_idle_thread() -> None:
    engine = FakeEngine()
    recognizer = Recognizer(engine, threads=2)
    try:
        recognizer.want([tile(1)])
        recognizer.wait([tile(1).key], soon())
        engine.go.clear()
        recognizer.want([tile(word) for word in (2, 3)])
        recognizer.add([tile(2), tile(4)])
        engine.go.set()
        recognizer.wait([tile(word).key for word in (2, 3, 4)], soon())
        assert sorted(engine.read) == [1, 2, 3, 4], "each once"
    finally:
        recognizer.close()
