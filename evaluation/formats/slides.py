"""Presentations (`*.pptx`), with python-pptx: texts, fonts, shapes, backgrounds, notes, transitions, orientation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from evaluation.state.metrics import Metric, Score, metrics_by_name, score_of, score_unless
from evaluation.state.parameters import Parameters, new_model
from evaluation.state.reading import as_format

if TYPE_CHECKING:
    from pptx.presentation import Presentation
    from pptx.slide import Slide

TOLERANCE_EMU = 12_700
"""Largest distance of a shape from its place: 1 pt, in English metric units. LibreOffice rounds when it saves."""


class Transition(Parameters):
    """A slide, from 0, and the name of its transition, such as `fade` or `dissolve`."""

    slide_idx: int
    transition_type: str


class SlideRule(Parameters):
    """A slide and its expected content; None is not checked.

    Attributes:
        index: Its number, from 0.
        texts: Each must be in some shape.
        notes: Its notes.
        background: Color of its background, such as `00FF00`.
    """

    index: int
    texts: tuple[str, ...] = ()
    notes: str | None = None
    background: Annotated[str, Field(pattern="^[0-9A-F]{6}$")] | None = None


class SlideRules(Parameters):
    """Rules for a presentation."""

    slides: tuple[SlideRule, ...] = ()
    count: int | None = None


def compare_pptx_files(result: Path, expected: Path, **examined: bool) -> Score:
    """Two presentations agree in every examined aspect."""
    wanted, found = _presentation(expected), _presentation(result)
    aspects = {name.removeprefix("examine_") for name, on in examined.items() if on}
    if "number_of_slides" in aspects and len(found.slides) != len(wanted.slides):
        return Score(0.0, f"there are {len(found.slides)} slides, expected {len(wanted.slides)}")
    for number, (slide, other) in enumerate(zip(found.slides, wanted.slides, strict=False), 1):
        problem = _slide_difference(slide, other, aspects)
        if problem:
            return Score(0.0, f"slide {number}: {problem}")
    return Score(1.0, f"{result.name} is as expected")


def check_transition(result: Path, expected: Transition) -> Score:
    """A slide has that transition."""
    found = _presentation(result)
    if not 0 <= expected.slide_idx < len(found.slides):
        return Score(0.0, f"{result.name} has no slide {expected.slide_idx}")
    kinds = [
        str(child.tag).rpartition("}")[2]
        for node in found.slides[expected.slide_idx]._element.iter("{*}transition")
        for child in node
    ]
    return score_of(expected.transition_type in kinds, f"the transitions of the slide are {kinds}")


def check_slide_orientation_Portrait(result: Path) -> Score:  # noqa: N802 - OSWorld's name
    """The slides are higher than wide."""
    found = _presentation(result)
    width, height = found.slide_width or 0, found.slide_height or 0
    return score_of(width < height, f"the slides are {width} x {height}")


def check_slides(result: Path, expected: SlideRules) -> Score:
    """Every rule holds: texts, notes and backgrounds of slides, and their number."""
    found = _presentation(result)
    problems = [problem for rule in expected.slides for problem in _rule_problems(rule, found)]
    if expected.count is not None and len(found.slides) != expected.count:
        problems.append(f"there are {len(found.slides)} slides, expected {expected.count}")
    return score_unless(problems, f"{result.name} is as expected")


def _presentation(path: Path) -> Presentation:
    from pptx import Presentation
    from pptx.exc import PackageNotFoundError

    with as_format(path, "a pptx presentation", PackageNotFoundError):
        return Presentation(str(path))


def _slide_difference(slide: Slide, other: Slide, aspects: set[str]) -> str:
    for name, read in _SLIDE_ASPECTS.items():
        if name in aspects and read(slide) != read(other):
            return f"{name} is {read(slide)!r}, expected {read(other)!r}"
    shapes, others = list(_shapes(slide.shapes)), list(_shapes(other.shapes))
    if "shape" in aspects and len(shapes) != len(others):
        return f"there are {len(shapes)} shapes, expected {len(others)}"
    for shape, twin in zip(shapes, others, strict=False):
        if "shape" in aspects and not _same_place(shape, twin):
            return f"{shape.name!r} lies at another place or has another size"
        if problem := _text_difference(shape, twin, aspects):
            return f"{shape.name!r}: {problem}"
    return ""


def _shapes(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _same_place(shape: Any, twin: Any) -> bool:
    pairs = ((getattr(shape, name), getattr(twin, name)) for name in ("left", "top", "width", "height"))
    return all(abs((one or 0) - (two or 0)) <= TOLERANCE_EMU for one, two in pairs)


def _text_difference(shape: Any, twin: Any, aspects: set[str]) -> str:
    lines, others = (_paragraphs(one) for one in (shape, twin))
    if "text" in aspects:
        texts, right = [line.text for line in lines], [line.text for line in others]
        if texts != right:
            return f"the text is {texts}, expected {right}"
    for line, other in zip(lines, others, strict=False):
        for name, read in _LINE_ASPECTS.items():
            if name in aspects and read(line) != read(other):
                return f"{name} of {line.text!r} is {read(line)}, expected {read(other)}"
        for name, read in _FONT_ASPECTS.items():
            found, wanted = _by_letter(line, read), _by_letter(other, read)
            if "text" not in aspects:  # other texts have other numbers of letters
                found, wanted = sorted(set(map(str, found))), sorted(set(map(str, wanted)))
            if name in aspects and found != wanted:
                return f"{name} of {line.text!r} differs"
    return ""


def _paragraphs(shape: Any) -> list[Any]:
    if getattr(shape, "has_table", False):
        return [line for row in shape.table.rows for cell in row.cells for line in cell.text_frame.paragraphs]
    return list(shape.text_frame.paragraphs) if shape.has_text_frame else []


def _by_letter(paragraph: Any, read: Any) -> list[Any]:
    """Return a property for each letter: applications cut the same text into other runs."""
    return [value for run in paragraph.runs for value in [read(run)] * len(run.text)]


def _color(run: Any) -> str | None:
    from pptx.enum.dml import MSO_COLOR_TYPE

    color = run.font.color
    return str(color.rgb) if color is not None and color.type == MSO_COLOR_TYPE.RGB else None


def _strike(run: Any) -> str:
    properties = run._r.rPr
    return "noStrike" if properties is None else str(properties.get("strike", "noStrike"))


def _bullet(paragraph: Any) -> list[tuple[str, str]]:
    return [
        (name, node.get("char") or node.get("type") or "")
        for name in ("buChar", "buAutoNum")
        for node in paragraph._p.iter(f"{{*}}{name}")
    ]


_LINE_ASPECTS: dict[str, Any] = {
    "alignment": lambda line: int(line.alignment or 1),
    "indent": lambda line: line.level,
    "bullets": _bullet,
}
_FONT_ASPECTS: dict[str, Any] = {
    "font_name": lambda run: run.font.name,
    "font_size": lambda run: run.font.size,
    "font_bold": lambda run: bool(run.font.bold),
    "font_italic": lambda run: bool(run.font.italic),
    "font_underline": lambda run: bool(run.font.underline),
    "strike_through": _strike,
    "color_rgb": _color,
}


def _background(slide: Slide) -> str | None:
    """Return the color of a slide's own background; None where it has none or no plain one.

    Read from the XML: python-pptx would add a background to a slide that is asked for its own.
    """
    colors = slide._element.xpath("./p:cSld/p:bg/p:bgPr/a:solidFill/a:srgbClr/@val")
    return str(colors[0]).upper() if colors else None


def _notes(slide: Slide) -> str:
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    return frame.text.strip() if frame is not None else ""


def _rule_problems(rule: SlideRule, presentation: Presentation) -> list[str]:
    if not 0 <= rule.index < len(presentation.slides):
        return [f"there is no slide {rule.index}"]
    slide = presentation.slides[rule.index]
    lines = ["\n".join(line.text for line in _paragraphs(shape)) for shape in _shapes(slide.shapes)]
    problems = [f"slide {rule.index} lacks {text!r}" for text in rule.texts if not any(text in line for line in lines)]
    if rule.notes is not None and _notes(slide) != rule.notes:
        problems.append(f"the notes of slide {rule.index} are {_notes(slide)!r}, expected {rule.notes!r}")
    if rule.background is not None and _background(slide) != rule.background:
        problems.append(f"the background of slide {rule.index} is {_background(slide)}, expected {rule.background}")
    return problems


_SLIDE_ASPECTS: dict[str, Any] = {"background_color": _background, "note": _notes}
_ASPECTS = ("number_of_slides", "shape", "text", *_SLIDE_ASPECTS, *_LINE_ASPECTS, *_FONT_ASPECTS)
"""The compared aspects; OSWorld's option `examine_...` switches one off."""
SlideOptions = new_model("SlideOptions", **{f"examine_{name}": (bool, True) for name in _ASPECTS})

METRICS = {
    "compare_pptx_files": Metric.of(compare_pptx_files, options=SlideOptions),
    **metrics_by_name(check_transition, check_slide_orientation_Portrait, check_slides),
}
