"""Whether documents of LibreOffice are seen as they are, and whether a click on a part of them hits it.

The programs of `benchmarks/fixtures/office` fill a sheet, a text and a presentation at random, change them through
LibreOffice's own interface (UNO), and tell what is in view and what is selected. `office_seen`: share of the cells,
paragraphs and shapes in view that are seen with what they hold; `office_unseen_shown`: share of the elements of
documents that show something else; `office_hit`: share of the clicks that selected what was clicked.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aci.acting.actions import Click, Hotkey
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element
from aci.observation.sheet_text import is_sheet_cell
from benchmarks.support.figures import Figures, tell
from benchmarks.support.truth.programs import PYTHON, program

NAMES = ("office_parts", "office_seen", "office_unseen_shown", "office_clicks", "office_hit")
_FIXTURES = "benchmarks.fixtures.office"
DOCUMENTS, STEPS = 3, 20
QUICK_STEPS = 8
SIZE = (1280, 900)
_CLICKS = 2
_ESCAPES = 3  # end editing, leave what is edited, and select nothing, so that no handles lie over other things
_LIMIT_S = 60.0
_LEAST_WORDS = 5  # of a part of a paragraph, to be taken for this paragraph
_WHOLE = {"x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0}  # a slide, in shares of it
_FLOWING = frozenset({"paragraph", "heading"})


@dataclass
class Found:
    """What came of looking at a document and clicking in it."""

    parts: int = 0  # cells, paragraphs or shapes in view
    unseen: list[str] = field(default_factory=list)  # those that are not seen with what they hold
    elements: int = 0  # elements of the document
    phantoms: list[str] = field(default_factory=list)  # those that hold something else
    clicks: int = 0
    missed: list[str] = field(default_factory=list)  # clicks that selected something else


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document.

    Attributes:
        compare: Adds what a report and the elements have in common to what was found, after the name of the step.
        targets: Returns the elements to click.
        hit: Returns whether the report after a click says that this element was hit.
        has_handles: Whether what is selected in it has handles.
    """

    compare: Callable[[str, Mapping[str, Any], Sequence[Element], Found], None]
    targets: Callable[[Mapping[str, Any], Sequence[Element]], list[Element]]
    hit: Callable[[Element, Mapping[str, Any], Sequence[Element]], bool]
    has_handles: bool = True


def measure(figures: Figures, quick: bool) -> None:
    """Set the figures."""
    found = []
    for name in KINDS:
        here = [
            look_and_click(name, seed, QUICK_STEPS if quick else STEPS) for seed in range(1 if quick else DOCUMENTS)
        ]
        for line in dict.fromkeys(line for one in here for line in (*one.unseen, *one.phantoms, *one.missed)):
            tell(f"  {name}, {line}")
        counts = (sum(len(one.unseen) for one in here), sum(len(one.missed) for one in here))
        tell(f"{name}: {sum(one.parts for one in here)} parts, {counts[0]} unseen; {counts[1]} clicks missed")
        found += here
    parts, clicks = sum(one.parts for one in found), sum(one.clicks for one in found)
    figures.set("office_parts", parts)
    figures.set("office_seen", 1 - sum(len(one.unseen) for one in found) / parts)
    figures.set("office_unseen_shown", sum(len(one.phantoms) for one in found) / sum(one.elements for one in found))
    figures.set("office_clicks", clicks)
    figures.set("office_hit", 1 - sum(len(one.missed) for one in found) / clicks)


def look_and_click(name: str, seed: int, steps: int) -> Found:
    """Change a document, look at it and click in it, several times.

    Args:
        name: One of `KINDS`, which is also the name of its program.
        seed: Seed of the document, of the changes and of the clicks.
        steps: How often to look; each look but the first one follows a change.

    Raises:
        NotMeasured: The program does not report.
    """
    kind, chance, found = KINDS[name], random.Random(seed), Found()
    with program((*PYTHON, f"{_FIXTURES}.{name}"), seed, SIZE) as shower:
        desktop = shower.desktop
        for step in range(steps):
            shown, elements = shower.change(_LIMIT_S), desktop.observe().elements
            at = f"{name} {seed}, step {step} ({shown['after']})"
            kind.compare(at, shown, elements, found)
            for _ in range(_CLICKS):
                targets = kind.targets(shown, elements)
                if not targets:
                    break
                target = chance.choice(targets)
                desktop.perform(Click(element_id=target.id))
                found.clicks += 1
                if not kind.hit(target, shown := shower.report(_LIMIT_S), elements):
                    what = f"{target.role} {target.name!r} {(target.text or '')[:30]!r} at {target.point}"
                    found.missed.append(f"{at}: {what}")
                for _ in range(_ESCAPES if kind.has_handles else 0):
                    desktop.perform(Hotkey(keys=("Escape",)))
                elements = desktop.observe().elements
    return found


def _compare_sheet(at: str, shown: Mapping[str, Any], elements: Sequence[Element], found: Found) -> None:
    """Compare cells; of an error, only that no other content is seen, since LibreOffice does not report it."""
    cells = [element for element in elements if is_sheet_cell(element)]
    texts: dict[str, list[str]] = {}
    for cell in cells:
        texts.setdefault(cell.name, []).append(cell.text or "")
    found.parts += len(shown["cells"])
    found.unseen += [
        f"{at}: {address} {content!r}, seen as {texts.get(address)}"
        for address, content in shown["cells"].items()
        if address not in texts or not all(_holds(text, content) for text in texts[address])
    ]
    found.elements += len(cells)
    known = shown["cells"].keys() | shown["partly"].keys()
    found.phantoms += [f"{at}: nothing in {cell.name}" for cell in cells if cell.text and cell.name not in known]


def _holds(text: str, content: str | float | None) -> bool:
    if content is None or isinstance(content, str):
        return text == (content or "")
    if text in ("TRUE", "FALSE"):
        return content == (text == "TRUE")
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        return False
    return abs(number - content) <= 1e-6 * max(1.0, abs(content))


def _cells(_: Mapping[str, Any], elements: Sequence[Element]) -> list[Element]:
    return [element for element in elements if is_sheet_cell(element) and element.point is not None]


def _selects_cell(cell: Element, after: Mapping[str, Any], _: Sequence[Element]) -> bool:
    first, _, _ = after["selected"].rpartition(".")[2].replace("$", "").partition(":")
    return bool(first == cell.name)


def _compare_letter(at: str, shown: Mapping[str, Any], elements: Sequence[Element], found: Found) -> None:
    """Compare paragraphs: from the first to the last one that is seen, none may be missing."""
    seen = [_readings(element) for element in _paragraphs(shown, elements)]
    listed = [text for text in shown["paragraphs"] if text]
    places = [
        place for place, text in enumerate(listed) if any(_shows(readings, text, _LEAST_WORDS) for readings in seen)
    ]
    between = range(places[0], places[-1] + 1) if places else range(0)
    found.parts += len(between)
    found.unseen += [f"{at}: {listed[place][:40]!r} is not seen" for place in between if place not in places]
    found.elements += len(seen)
    known = ["", *listed, *shown["elsewhere"]]
    found.phantoms += [
        f"{at}: there is no {readings[0][:40]!r}"
        for readings in seen
        if not any(_shows(readings, text) for text in known)
    ]


def _readings(paragraph: Element) -> tuple[str, str]:
    """Return the text of a paragraph, and that without the number or bullet that may stand before it."""
    text = (paragraph.text or paragraph.name).strip()
    return text, text.partition(" ")[2].strip()


def _shows(readings: Sequence[str], text: str, least_words: int = 1) -> bool:
    """Return whether one of the readings is a text, or what of it is on one of two pages, of so many words."""
    parts = [one for one in readings if len(one.split()) >= least_words]
    return text in readings or any(text.startswith(f"{one} ") or text.endswith(f" {one}") for one in parts)


def _paragraphs(_: Mapping[str, Any], elements: Sequence[Element]) -> list[Element]:
    inside = [element for element in elements if any(one.startswith("document text") for one in element.path)]
    return [element for element in inside if element.role in _FLOWING and element.point is not None]


def _reaches_paragraph(paragraph: Element, after: Mapping[str, Any], _: Sequence[Element]) -> bool:
    return after["at"] is not None and _shows(_readings(paragraph), after["at"].strip())


def _compare_slide(at: str, shown: Mapping[str, Any], elements: Sequence[Element], found: Found) -> None:
    """Compare shapes whose middle is on the slide, and not under a shape that is drawn later."""
    shapes, told = _shapes(shown, elements), shown["shapes"]
    here = [
        place
        for place, shape in enumerate(told)
        if _is_in(_middle(shape), _WHOLE) and not any(_is_in(_middle(shape), later) for later in told[place + 1 :])
    ]
    found.parts += len(here)
    found.unseen += [
        f"{at}: {told[place]} is not seen"
        for place in here
        if not any(place in _of(element, shown, elements) for element in shapes)
    ]
    found.elements += len(shapes)
    found.phantoms += [
        f"{at}: there is no {element.name!r} {element.text!r}"
        for element in shapes
        if not _of(element, shown, elements)
    ]


def _shapes(_: Mapping[str, Any], elements: Sequence[Element]) -> list[Element]:
    return [element for element in elements if element.role == "shape" and element.point is not None]


def _targets(shown: Mapping[str, Any], elements: Sequence[Element]) -> list[Element]:
    """Return the shapes to click: of a line whose middle is covered, nothing tells where the rest of it lies."""
    return [one for one in _shapes(shown, elements) if one.name != "Line" or one.point == one.rect.center]


def _of(element: Element, shown: Mapping[str, Any], elements: Sequence[Element]) -> list[int]:
    """Return which of the shapes that the program tells an element may be."""
    slide = next(one.rect for one in elements if one.role == "panel" and "document presentation" in one.path[-1])
    return [
        place
        for place, shape in enumerate(shown["shapes"])
        if shape["text"] in (element.text or "", None) and element.rect.grown(2, 2).contains(_pixel(shape, slide))
    ]


def _pixel(shape: Mapping[str, Any], slide: Rect) -> Point:
    across, down = _middle(shape)
    return Point(slide.x + round(across * slide.width), slide.y + round(down * slide.height))


def _middle(shape: Mapping[str, Any]) -> tuple[float, float]:
    return shape["x"] + shape["width"] / 2, shape["y"] + shape["height"] / 2


def _is_in(place: tuple[float, float], shape: Mapping[str, Any]) -> bool:
    across, down = place
    return bool(0 <= across - shape["x"] <= shape["width"] and 0 <= down - shape["y"] <= shape["height"])


def _selects_shape(shape: Element, after: Mapping[str, Any], elements: Sequence[Element]) -> bool:
    return any(place in after["selected"] for place in _of(shape, after, elements))


KINDS: Mapping[str, Kind] = {
    "sheet": Kind(_compare_sheet, _cells, _selects_cell, has_handles=False),
    "letter": Kind(_compare_letter, _paragraphs, _reaches_paragraph),
    "slide": Kind(_compare_slide, _targets, _selects_shape),
}
