from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from aci.observation.geometry import Point, Rect
from aci.ocr.lines import LARGEST_HEIGHT_PX, LARGEST_WIDTH_PX, find_lines
from tests.unit.aci.ocr.pictures import blank


def drawn(*texts: tuple[int, int, str], size: int = 13) -> NDArray[np.uint8]:
    image = Image.fromarray(blank())
    for x, y, text in texts:
        ImageDraw.Draw(image).text((x, y), text, fill="black", font=ImageFont.load_default(size=size))
    return np.array(image)


def pieces(pixels: NDArray[np.uint8]) -> list[Rect]:
    return find_lines(pixels, np.ones(pixels.shape[:2], dtype=bool))


def test_a_plain_picture_has_no_lines() -> None:
    assert pieces(blank()) == []
    assert find_lines(drawn((10, 10, "Hidden")), np.zeros((300, 400), dtype=bool)) == []


def test_lines_and_columns_come_apart_in_reading_order() -> None:
    found = pieces(drawn((10, 10, "Name of the file"), (250, 10, "Size"), (10, 40, "Report"), (250, 40, "12 kB")))
    assert len(found) == 4
    assert [(rect.x < 200, rect.y < 35) for rect in found] == [
        (True, True),
        (False, True),
        (True, False),
        (False, False),
    ]


def test_words_of_a_line_and_dots_of_its_letters_stay_together() -> None:
    assert len(pieces(drawn((10, 10, "Save as a copy: lilli")))) == 1
    assert len(pieces(drawn((10, 10, "ÄÖÜ iii jjj")))) == 1


def test_labels_of_a_menu_bar_come_apart_and_words_do_not() -> None:
    image = Image.fromarray(blank())
    font, x, ends = ImageFont.load_default(size=13), 10, []
    for label in ("Open file", "Edit", "View", "Help"):
        ImageDraw.Draw(image).text((x, 10), label, fill="black", font=font)
        x += int(ImageDraw.Draw(image).textlength(label, font=font))
        ends.append(x)
        x += 16
    found = pieces(np.array(image))
    assert len(found) == 4
    assert all(abs(rect.right - end) < 6 for rect, end in zip(found, ends, strict=True))


def test_frame_around_lines_does_not_hold_them_together() -> None:
    pixels = drawn((30, 30, "First line"), (30, 70, "Second line"), (30, 110, "Third line"))
    image = Image.fromarray(pixels)
    ImageDraw.Draw(image).rectangle((10, 10, 380, 280), outline="black", width=2)
    assert len(pieces(np.array(image))) == 3


def test_rules_carets_and_boxes_are_not_text() -> None:
    pixels = blank()
    pixels[50, 10:390] = 0
    pixels[80:96, 100] = 0
    pixels[150:250, 150:250] = 90
    assert pieces(pixels) == []


def test_only_the_wanted_pixels_are_cut_out() -> None:
    pixels = drawn((10, 10, "Told already"), (10, 60, "Not told"))
    wanted = np.ones(pixels.shape[:2], dtype=bool)
    wanted[:40] = False
    [rect] = find_lines(pixels, wanted)
    assert rect.y > 50


def test_text_lies_wholly_in_its_piece() -> None:
    pixels = drawn((40, 50, "Ägypten gjpqy"))
    [rect] = pieces(pixels)
    ink = np.argwhere(pixels[:, :, 0] < 200)
    assert rect.y <= ink[:, 0].min() and ink[:, 0].max() < rect.bottom
    assert rect.x <= ink[:, 1].min() and ink[:, 1].max() < rect.right


def test_pieces_without_a_plain_line_are_cut_to_a_size_that_an_engine_can_take() -> None:
    noise = np.random.default_rng(0).integers(0, 2, (900, 2600, 1), dtype=np.uint8) * 255
    found = pieces(np.repeat(noise, 3, axis=2))
    assert all(rect.width <= LARGEST_WIDTH_PX + 4 and rect.height <= LARGEST_HEIGHT_PX + 4 for rect in found)
    assert sum(rect.area for rect in found) >= 900 * 2600


def test_dashed_frame_and_ruler_of_a_canvas_do_not_hold_what_is_around_it_together() -> None:
    pixels = blank(1000, 700)
    pixels[40:680, 300:304:2] = 0  # the ticks of a ruler
    pixels[40:680:8, 300:310] = 0
    for column in range(310, 800, 8):
        pixels[100, column : column + 4] = pixels[600, column : column + 4] = 0
    image = Image.fromarray(pixels)
    places = ((230, 150, "Brush"), (230, 400, "Eraser"), (806, 200, "Layers"), (806, 560, "Opacity of the layer"))
    for x, y, text in places:
        ImageDraw.Draw(image).text((x, y), text, fill="black", font=ImageFont.load_default(size=13))
    found = pieces(np.array(image))
    assert sum(rect.area for rect in found) < 0.2 * 500 * 500
    for x, y, text in places:
        around = [rect for rect in found if rect.contains(Point(x + 10, y + 8))]
        width = int(ImageDraw.Draw(image).textlength(text, font=ImageFont.load_default(size=13)))
        assert any(rect.x <= x + 2 and rect.right >= x + width - 2 for rect in around), text


def test_texts_of_a_large_empty_diagram_stay_whole() -> None:
    image = Image.fromarray(blank(600, 400))
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(size=13)
    for step in range(0, 340, 4):
        draw.point([(60 + step, 40 + step), (61 + step, 40 + step), (60 + step, 41 + step)], fill="black")
    draw.text((150, 190), "Revenue of the year", fill="black", font=font)
    found = pieces(np.array(image))
    assert any(
        rect.x <= 152 and rect.right >= 148 + draw.textlength("Revenue of the year", font=font) for rect in found
    )
