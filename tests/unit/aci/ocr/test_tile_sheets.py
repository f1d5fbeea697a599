from __future__ import annotations

import numpy as np

from aci.observation.geometry import Rect
from aci.ocr.text_engine import TextBox
from aci.ocr.tile_sheets import Tile, make_sheets, make_tile
from tests.unit.aci.ocr.pictures import FakeEngine, blank, write


def tile(word: int, width: int = 60, height: int = 14, shade: int = 255) -> Tile:
    pixels = blank(width, height, shade)
    write(pixels, word, Rect(2, 2, width - 4, height - 4))
    return make_tile(pixels, np.ones(pixels.shape[:2], dtype=bool))


def test_every_tile_gets_its_own_text() -> None:
    tiles = [tile(word, width=40 + 17 * word, height=10 + word, shade=255 - word) for word in range(1, 30)]
    engine = FakeEngine()
    read: dict[bytes, tuple[TextBox, ...]] = {}
    sheets = list(make_sheets(tiles))
    for sheet in sheets:
        read |= sheet.by_tile(engine.recognize(sheet.pixels))
    assert 1 < len(sheets) < len(tiles)
    assert len(read) == len(tiles)
    for word, each in enumerate(tiles, 1):
        [box] = read[each.key]
        assert box.text == f"word {word}"
        assert (box.rect.x, box.rect.y, box.rect.height) == (2, 2, each.pixels.shape[0] - 4)


def test_several_readers_get_a_sheet_each() -> None:
    tiles = [tile(word) for word in range(1, 9)]
    assert [len(sheet.places) for sheet in make_sheets(tiles)] == [8]
    assert [len(sheet.places) for sheet in make_sheets(tiles, readers=2)] == [4, 4]
    assert [len(sheet.places) for sheet in make_sheets(tiles[:1], readers=2)] == [1]


def test_box_that_an_engine_pads_is_cut_to_its_tile() -> None:
    [sheet] = make_sheets([tile(1), tile(2)])
    first, place = sheet.places[0]
    padded = TextBox(Rect(place.x - 5, place.y - 4, place.width + 9, place.height + 8), "padded", 1.0)
    [box] = sheet.by_tile([padded])[first.key]
    assert box.rect == Rect(0, 0, place.width, place.height)


def test_words_of_a_line_are_joined_and_lines_are_not() -> None:
    [sheet] = make_sheets([tile(1, 200, 60)])
    only, place = sheet.places[0]
    read = [
        TextBox(Rect(place.x + 60, place.y + 1, 50, 15), "root", 0.5),
        TextBox(Rect(place.x, place.y, 50, 16), "-rw-r--r--", 1.0),
        TextBox(Rect(place.x, place.y + 30, 50, 16), "next", 0.9),
        TextBox(Rect(place.x + 150, place.y, 40, 16), "far", 0.9),
    ]
    texts = {box.text: box for box in sheet.by_tile(read)[only.key]}
    assert set(texts) == {"-rw-r--r-- root", "far", "next"}
    line = texts["-rw-r--r-- root"]
    assert line.rect == Rect(0, 0, 110, 16)
    assert 0.5 < line.confidence < 1.0


def test_key_depends_on_pixels_and_shape() -> None:
    assert tile(1).key == tile(1).key
    assert tile(1).key != tile(2).key
    flat, tall = blank(20, 10), blank(10, 20)
    every = np.ones((10, 20), dtype=bool)
    assert make_tile(flat, every).key != make_tile(tall, every.T).key


def test_what_is_not_wanted_neither_shows_nor_counts() -> None:
    pixels = blank(60, 14)
    wanted = np.ones((14, 60), dtype=bool)
    wanted[:, 30:] = False
    plain = make_tile(pixels, wanted)
    write(pixels, 5, Rect(32, 2, 20, 10))
    covered = make_tile(pixels, wanted)
    assert covered.key == plain.key
    assert (covered.pixels == 255).all()
