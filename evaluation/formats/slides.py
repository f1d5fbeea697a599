"""Presentations (`*.pptx`), with python-pptx: pictures, transitions, orientation, texts, notes, backgrounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from evaluation.state.metrics import Score, score_of, score_unless
from evaluation.state.parameters import Parameters
from evaluation.state.reading import as_format

if TYPE_CHECKING:
    from pptx.presentation import Presentation
    from pptx.slide import Slide

_MAINLY = 50  # how much more of a color there must be than of the others, of 255; and less than which is none


class SlideRule(Parameters):
    """A slide and its expected content; None is not checked."""

    index: int  # its number, from 0
    texts: tuple[str, ...] = ()  # each must be in some shape
    notes: str | None = None
    # color of its background, such as `00FF00`
    background: Annotated[str, Field(pattern="^[0-9A-F]{6}$")] | None = None


def check_image_stretch_and_center(result: Path, expected: Path) -> Score:
    """The first picture of the expected presentation fills the first slide, within half an inch."""
    wanted, found = presentation_of(expected), presentation_of(result)
    half, width, height = 457_200, wanted.slide_width or 0, wanted.slide_height or 0
    pictures, shown = (_pictures(one.slides[0]) if len(one.slides) else [] for one in (wanted, found))
    same = [one for one in shown if pictures and one.image.blob == pictures[0].image.blob]
    if not same:
        return Score(0.0, "the picture is not on the first slide")
    one = same[-1]
    fills = abs(one.width - width) <= half and abs(one.height - height) <= half
    centered = abs(one.left - (width - one.width) / 2) <= half and abs(one.top - (height - one.height) / 2) <= half
    return score_of(fills and centered, f"the picture {'fills' if fills else 'does not fill'} the slide")


def check_page_number_colors(result: Path, color: Literal["red", "green", "blue", "black"]) -> Score:
    """The next to last color of the slide master, that of its page numbers, is mainly red, green or blue, or black."""
    colors = presentation_of(result).slide_master._element.xpath(".//a:solidFill//a:srgbClr/@val")
    if len(colors) < 2:
        return Score(0.0, "the slide master has no color for page numbers")
    parts = [int(colors[-2][place : place + 2], 16) for place in (0, 2, 4)]
    if color == "black":
        return score_of(max(parts) < _MAINLY, f"the color is {colors[-2]}")
    main = parts.pop(("red", "green", "blue").index(color))
    return score_of(main > max(parts) + _MAINLY, f"the color is {colors[-2]}")


def check_transition(result: Path, slide_idx: int, transition_type: str) -> Score:
    """A slide, counted from 0, has a transition of that name, such as `fade` or `dissolve`."""
    found = presentation_of(result)
    if not 0 <= slide_idx < len(found.slides):
        return Score(0.0, f"{result.name} has no slide {slide_idx}")
    kinds = [
        str(child.tag).rpartition("}")[2]
        for node in found.slides[slide_idx]._element.iter("{*}transition")
        for child in node
    ]
    return score_of(transition_type in kinds, f"the transitions of the slide are {kinds}")


def check_slide_orientation_Portrait(result: Path) -> Score:  # noqa: N802 - OSWorld's name
    """The slides are higher than wide."""
    found = presentation_of(result)
    width, height = found.slide_width or 0, found.slide_height or 0
    return score_of(width < height, f"the slides are {width} x {height}")


def check_slides(result: Path, slides: tuple[SlideRule, ...] = (), count: int | None = None) -> Score:
    """Every rule holds: texts, notes and backgrounds of slides, and their number."""
    found = presentation_of(result)
    problems = [problem for rule in slides for problem in _rule_problems(rule, found)]
    if count is not None and len(found.slides) != count:
        problems.append(f"there are {len(found.slides)} slides, expected {count}")
    return score_unless(problems, f"{result.name} is as expected")


def presentation_of(path: Path) -> Presentation:
    """Return a presentation.

    Raises:
        WrongFormat: The file is none.
    """
    from pptx import Presentation
    from pptx.exc import PackageNotFoundError

    with as_format(path, "a pptx presentation", PackageNotFoundError):
        return Presentation(str(path))


def _pictures(slide: Slide) -> list[Any]:
    from pptx.enum.shapes import MSO_SHAPE_TYPE

    return [shape for shape in slide.shapes if shape.shape_type == MSO_SHAPE_TYPE.PICTURE]


def _shapes(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _paragraphs(shape: Any) -> list[Any]:
    if getattr(shape, "has_table", False):
        return [line for row in shape.table.rows for cell in row.cells for line in cell.text_frame.paragraphs]
    return list(shape.text_frame.paragraphs) if shape.has_text_frame else []


def _background(slide: Slide) -> str | None:
    """Return the color of a slide's own background; None where it has none or no plain one.

    Read from the XML: python-pptx would add a background to a slide that is asked for its own.
    """
    colors = slide._element.xpath("./p:cSld/p:bg/p:bgPr/a:solidFill/a:srgbClr/@val")
    return str(colors[0]).upper() if colors else None


def notes_of(slide: Slide) -> str:
    """Return the notes of a slide; empty if it has none."""
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    return frame.text.strip() if frame is not None else ""


def _rule_problems(rule: SlideRule, presentation: Presentation) -> list[str]:
    if not 0 <= rule.index < len(presentation.slides):
        return [f"there is no slide {rule.index}"]
    slide = presentation.slides[rule.index]
    lines = ["\n".join(line.text for line in _paragraphs(shape)) for shape in _shapes(slide.shapes)]
    problems = [f"slide {rule.index} lacks {text!r}" for text in rule.texts if not any(text in line for line in lines)]
    if rule.notes is not None and notes_of(slide) != rule.notes:
        problems.append(f"the notes of slide {rule.index} are {notes_of(slide)!r}, expected {rule.notes!r}")
    if rule.background is not None and _background(slide) != rule.background:
        problems.append(f"the background of slide {rule.index} is {_background(slide)}, expected {rule.background}")
    return problems
