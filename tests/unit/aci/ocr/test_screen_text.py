from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from threading import Timer

import pytest

from aci.observation.geometry import Point, Rect
from aci.ocr.screen_text import Limits, ReadScreen, TextReader
from tests.unit.aci.ocr.pictures import FakeEngine, blank, element, unreadable, window, wiped, write

PATIENT = Limits(wait_s=20.0)
UPPER, LOWER = Rect(50, 60, 60, 12), Rect(50, 160, 60, 12)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def reader(engine: FakeEngine) -> Iterator[TextReader]:
    running = TextReader(engine, count(100), PATIENT)
    yield running
    engine.go.set()
    running.close()


def names(seen: ReadScreen) -> list[str]:
    return [each.name for each in seen.elements if each.source == "ocr"]


def test_pixels_become_elements_that_can_be_clicked(reader: TextReader) -> None:
    pixels = blank()
    write(pixels, 1, UPPER)
    seen = reader.read(pixels, (), [window()])
    [text] = seen.elements
    assert (text.id, text.role, text.name, text.source) == (100, "text line", "word 1", "ocr")
    assert (text.window_id, text.app) == (1, "app")
    assert text.point == UPPER.center or (text.point is not None and UPPER.contains(text.point))
    assert seen.notes == ()


def test_text_of_elements_is_not_sent_to_the_engine(reader: TextReader, engine: FakeEngine) -> None:
    pixels = blank()
    write(pixels, 1, UPPER)
    write(pixels, 2, LOWER)
    known = element(1, "anything", UPPER)
    seen = reader.read(pixels, (known,), [window()])
    assert names(seen) == ["word 2"]
    assert seen.elements[0] == known
    assert engine.read == [2]


def test_caret_is_no_part_of_a_text_but_in_a_terminal(reader: TextReader, engine: FakeEngine) -> None:
    engine.after = "|"
    pixels = blank()
    write(pixels, 1, UPPER)
    assert names(reader.read(pixels, (), [window()])) == ["word 1"]
    assert names(reader.read(pixels, (), [replace(window(), app="xterm")])) == ["word 1|"]


def test_only_the_line_that_changed_is_read_again(reader: TextReader, engine: FakeEngine) -> None:
    pixels = blank()
    write(pixels, 1, UPPER)
    write(pixels, 2, LOWER)
    before = reader.read(pixels, (), [window()])
    engine.sheets.clear()
    now = wiped(pixels, LOWER)
    write(now, 3, LOWER)
    after = reader.read(now, (), [window()])
    assert names(after) == ["word 1", "word 3"]
    assert engine.read == [3]
    assert after.elements[0].id == before.elements[0].id
    assert after.elements[1].id not in {each.id for each in before.elements}


def test_moved_and_scrolled_texts_are_known_again_without_reading(reader: TextReader, engine: FakeEngine) -> None:
    pixels = blank()
    write(pixels, 1, UPPER)
    [before] = reader.read(pixels, (), [window(1, Rect(0, 0, 300, 200))]).elements
    moved = blank()
    write(moved, 1, UPPER.moved(40, 30))
    [after] = reader.read(moved, (), [window(1, Rect(40, 30, 300, 200))]).elements
    assert after.id == before.id
    assert before.point is not None and after.point == Point(before.point.x + 40, before.point.y + 30)
    assert engine.read == [1]


def test_vanished_text_is_gone_and_its_id_stays_unused(reader: TextReader) -> None:
    pixels = blank()
    write(pixels, 1, UPPER)
    [first] = reader.read(pixels, (), [window()]).elements
    assert reader.read(blank(), (), [window()]).elements == ()
    other = blank()
    write(other, 2, UPPER)
    [second] = reader.read(other, (), [window()]).elements
    assert second.id > first.id


def test_covered_text_is_left_out_and_half_covered_windows_are_distinguished(reader: TextReader) -> None:
    pixels = blank()
    write(pixels, 1, UPPER)
    write(pixels, 2, LOWER)
    windows = [window(2, Rect(0, 0, 400, 120)), window(1)]
    seen = reader.read(pixels, (), windows)
    assert [(each.name, each.window_id) for each in seen.elements] == [("word 1", 2), ("word 2", 1)]


def test_nothing_is_waited_for_beyond_the_deadline(engine: FakeEngine) -> None:
    reader = TextReader(engine, count(1), Limits(wait_s=0.02))
    try:
        engine.go.clear()
        pixels = blank()
        write(pixels, 1, UPPER)
        write(pixels, 2, LOWER)
        late = reader.read(pixels, (), [window(title="Terminal")])
        assert names(late) == []
        assert late.notes == ("The window 'Terminal' shows texts that are not recognized yet; look again to see them.",)
        assert len(late.unread) == 2
        engine.go.set()
        while (seen := reader.read(pixels, (), [window(title="Terminal")])).unread:
            pass
        assert names(seen) == ["word 1", "word 2"]
        assert sorted(engine.read) == [1, 2], "each once"
    finally:
        engine.go.set()
        reader.close()


def test_the_screen_is_watched_while_texts_are_recognized(reader: TextReader, engine: FakeEngine) -> None:
    engine.go.clear()
    watched = []

    def watch() -> None:
        watched.append(len(engine.sheets))
        engine.go.set()

    pixels = blank()
    write(pixels, 1, UPPER)
    assert names(reader.read(pixels, (), [window()], meanwhile=watch)) == ["word 1"]
    assert watched[0] == 0


def test_engine_that_is_loading_is_waited_for_only_where_nothing_else_tells_what_is_there(engine: FakeEngine) -> None:
    engine.go.clear()
    reader = TextReader(engine, count(100), PATIENT)
    reader.awaits_engine = False
    try:
        pixels = blank()
        write(pixels, 1, UPPER)
        write(pixels, 2, LOWER)
        known = element(1, "anything", UPPER)
        early = reader.read(pixels, (known,), [window(title="Editor")])
        assert early.elements == (known,)
        assert early.notes == ("The window 'Editor' shows texts that are not recognized yet; look again to see them.",)
        Timer(0.2, engine.go.set).start()
        assert names(reader.read(pixels, (), [window()])) == ["word 1", "word 2"]
    finally:
        engine.go.set()
        reader.close()


def test_more_areas_than_allowed_are_counted(engine: FakeEngine) -> None:
    reader = TextReader(engine, count(1), Limits(wait_s=20.0, most_areas=3))
    try:
        pixels = blank()
        for word in range(1, 6):
            write(pixels, word, Rect(20, 40 * word, 60, 12))
        seen = reader.read(pixels, (), [window(title="Log")])
        assert names(seen) == ["word 1", "word 2", "word 3"]
        assert seen.notes == ("The window 'Log' shows more texts than are listed; scroll or enlarge it to see them.",)
    finally:
        reader.close()


def test_failing_engine_is_noted_and_the_tree_stays() -> None:
    reader = TextReader(FakeEngine(unreadable()), count(1), PATIENT)
    try:
        pixels = blank()
        write(pixels, 1, UPPER)
        known = element(1, "Save", LOWER)
        seen = reader.read(pixels, (known,), [window()])
        assert seen.elements == (known,)
        assert seen.notes == ("Some texts are only in the picture; they could not be recognized.",)
    finally:
        reader.close()


def test_text_that_an_element_says_as_well_is_no_element_but_its_place_is_known(
    reader: TextReader, engine: FakeEngine
) -> None:
    engine.readings = {1: "Ready", 2: "1/2"}
    pixels = blank()
    write(pixels, 1, Rect(20, 30, 40, 12))
    write(pixels, 2, Rect(280, 30, 30, 12))
    bar = element(1, "Ready", Rect(10, 25, 310, 22), "status bar")
    read = reader.read(pixels, [bar], [window()])
    assert names(read) == ["1/2"]
    assert [rect.x < 100 for rect in read.repeated] == [True]


def test_uncertain_text_is_left_out(reader: TextReader, engine: FakeEngine) -> None:
    pixels = blank()
    write(pixels, 1, UPPER)
    engine.confidence = 0.5
    assert reader.read(pixels, (), [window()]).elements == ()


def test_a_single_letter_of_a_word_that_is_written_downwards_is_left_out(
    reader: TextReader, engine: FakeEngine
) -> None:
    engine.readings = {1: "0", 2: "0"}
    pixels = blank()
    write(pixels, 1, Rect(20, 60, 6, 8))
    write(pixels, 2, Rect(20, 160, 6, 8))
    pixels[169:177, 20:26:3] = (9, 9, 9)  # the next letter, right below it
    [alone] = reader.read(pixels, (), [window()]).elements
    assert alone.rect.y < 100


def test_icon_is_no_ideograph_where_nothing_else_is_written_so(reader: TextReader, engine: FakeEngine) -> None:
    engine.readings = {1: "厂", 2: "文件"}
    pixels = blank()
    write(pixels, 1, UPPER)
    label = element(1, "File", Rect(10, 10, 30, 12))
    assert names(reader.read(pixels, (label,), [window()])) == []
    assert names(reader.read(pixels, (replace(label, name="文件"),), [window()])) == ["厂"]
    more = pixels.copy()
    write(more, 2, LOWER)
    assert names(reader.read(more, (label,), [window()])) == ["厂", "文件"]


def test_mute_windows_are_read_while_the_tree_is(reader: TextReader, engine: FakeEngine) -> None:
    terminal, page = window(1, Rect(0, 0, 200, 300)), window(2, Rect(200, 0, 200, 300))
    known = element(1, "page", Rect(210, 10, 60, 12), window_id=2)
    reader.read(blank(), (known,), [terminal, page])
    pixels = blank()
    write(pixels, 1, UPPER)
    write(pixels, 2, Rect(250, 60, 60, 12))
    reader.look_ahead(pixels, [terminal, page])
    deadline = time.monotonic() + 20
    while not engine.read and time.monotonic() < deadline:
        time.sleep(0.005)
    assert engine.read == [1]
    assert names(reader.read(pixels, (known,), [terminal, page])) == ["word 1", "word 2"]
    assert engine.read == [1, 2]


def test_screen_that_changes_its_size_is_seen_anew(reader: TextReader) -> None:
    pixels = blank()
    write(pixels, 1, UPPER)
    reader.read(pixels, (), [window()])
    wide = blank(640, 480)
    write(wide, 2, UPPER)
    assert names(reader.read(wide, (), [window(1, Rect(0, 0, 640, 480))])) == ["word 2"]
