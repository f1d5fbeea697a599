"""Icons and shapes in drawn pictures."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from aci.candidates.colors import color_name
from aci.candidates.figures import Figure, find_figures
from aci.observation.geometry import Rect

pytest.importorskip("cv2", reason="pip install agent-s[ocr]")


class Drawing:
    def __init__(self, paper: str = "#f6f5f4", size: tuple[int, int] = (800, 500)) -> None:
        self.image = Image.new("RGB", size, paper)
        self.pen = ImageDraw.Draw(self.image)
        self.named: list[Rect] = []

    def find(self) -> list[Figure]:
        pixels = np.array(self.image)
        named = np.zeros(pixels.shape[:2], dtype=bool)
        for rect in self.named:
            named[rect.y : rect.bottom, rect.x : rect.right] = True
        return find_figures(pixels, np.ones(pixels.shape[:2], dtype=bool), named)


def rects(figures: list[Figure]) -> list[tuple[int, int, int, int]]:
    return [(figure.rect.x, figure.rect.y, figure.rect.width, figure.rect.height) for figure in figures]


def test_a_filled_shape_is_found_with_its_box_and_color() -> None:
    drawing = Drawing()
    drawing.pen.rectangle((100, 80, 219, 159), fill="#e53935")
    (shape,) = drawing.find()
    assert (shape.kind, rects([shape]), color_name(shape.color)) == ("shape", [(100, 80, 120, 80)], "red")


def test_the_lines_of_a_menu_button_are_one_icon() -> None:
    drawing = Drawing()
    for row in range(3):
        drawing.pen.rectangle((40, 40 + row * 6, 55, 41 + row * 6), fill="black")
    (icon,) = drawing.find()
    assert (icon.kind, rects([icon])) == ("icon", [(40, 40, 16, 14)])


def test_neighbours_in_a_toolbar_stay_apart() -> None:
    drawing = Drawing("#2d2d2d")
    for place in range(5):
        drawing.pen.ellipse((20 + place * 24, 10, 35 + place * 24, 25), outline="white", width=2)
    drawing.pen.line((0, 36, 799, 36), fill="#777777")
    assert [rect[0] for rect in sorted(rects(drawing.find()))] == [20, 44, 68, 92, 116]


def test_bars_on_an_axis_are_shapes_of_their_own() -> None:
    drawing = Drawing()
    colors = ("#e53935", "#1e88e5", "#43a047", "#fdd835", "#8e24aa")
    for place, color in enumerate(colors):
        drawing.pen.rectangle((100 + place * 40, 300 - place * 30, 125 + place * 40, 399), fill=color)
    drawing.pen.line((80, 400, 360, 400), fill="black")
    assert len(drawing.find()) == 5


def test_slices_of_a_pie_are_hit_inside() -> None:
    drawing = Drawing()
    for place, color in enumerate(("#e53935", "#1e88e5", "#43a047")):
        drawing.pen.pieslice((200, 100, 440, 340), place * 120, place * 120 + 120, fill=color)
    found = drawing.find()
    assert len(found) == 3
    assert {drawing.image.getpixel((figure.point.x, figure.point.y)) for figure in found} == {
        figure.color for figure in found
    }


def test_stones_on_a_ruled_board_are_found_and_its_cells_are_not() -> None:
    drawing = Drawing("white")
    drawing.pen.rectangle((100, 20, 540, 460), fill="#dcb35c")
    for step in range(12):
        drawing.pen.line((100 + step * 40, 20, 100 + step * 40, 460), fill="black")
        drawing.pen.line((100, 20 + step * 40, 540, 20 + step * 40), fill="black")
    for column, row, color in ((2, 3, "black"), (5, 5, "white"), (6, 5, "black"), (9, 8, "white")):
        x, y = 100 + column * 40, 20 + row * 40
        drawing.pen.ellipse((x - 16, y - 16, x + 16, y + 16), fill=color, outline="black")
    assert len(drawing.find()) == 4


def test_a_shape_with_a_line_to_another_keeps_its_own_box() -> None:
    drawing = Drawing()
    drawing.pen.rectangle((60, 60, 139, 119), fill="#1e88e5")
    drawing.pen.line((140, 90, 400, 90), fill="#555555", width=2)
    assert rects(drawing.find()) == [(60, 60, 80, 60)]


def test_what_is_named_is_left_out_but_not_the_shape_around_it() -> None:
    drawing = Drawing()
    drawing.pen.rectangle((100, 80, 299, 179), outline="black")
    drawing.pen.text((160, 120), "Start", fill="black")
    drawing.named.append(Rect(156, 116, 50, 20))
    assert rects(drawing.find()) == [(100, 80, 200, 100)]


def test_frames_rules_and_plain_paper_are_not_figures() -> None:
    drawing = Drawing()
    assert drawing.find() == []
    drawing.pen.rectangle((10, 10, 700, 450), outline="black")
    drawing.pen.line((10, 60, 700, 60), fill="black")
    assert drawing.find() == []


@pytest.mark.parametrize(
    ("color", "name"),
    [((0, 0, 0), "black"), ((250, 250, 250), "white"), ((128, 128, 128), "grey"), ((30, 136, 229), "blue"),
     ((120, 60, 20), "brown"), ((255, 0, 255), "pink"), ((10, 60, 20), "dark green")],
)  # fmt: skip
def test_colors_have_everyday_names(color: tuple[int, int, int], name: str) -> None:
    assert color_name(color) == name
