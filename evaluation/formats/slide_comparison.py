"""Two presentations compared: `compare_pptx_files`, slide by slide and shape by shape, in the aspects that count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.formats.slides import notes_of, presentation_of
from evaluation.state.metrics import Metric, Score
from evaluation.state.parameters import new_model

if TYPE_CHECKING:
    from pptx.slide import Slide

TOLERANCE = 0.005
"""Largest difference of two lengths that count as the same, as a part of the larger one. LibreOffice rounds."""
_TABLE, _PICTURE, _FREEFORM = 19, 13, 5
_SIDES = ("left", "top", "width", "height")
_LOW, _RIGHT, _HIGH = 3_600_000, 4_320_000, 1_980_000
"""Where OSWorld's tasks want a title or table, a shape, and a picture to be, in English metric units."""

Aspects = set[str]


def compare_pptx_files(result: Path, expected: Path, **options: Any) -> Score:
    """Two presentations agree in every examined aspect; see `_EXAMINED` and `_NOT_EXAMINED` for the options."""
    wanted, found = presentation_of(expected), presentation_of(result)
    aspects = {name.removeprefix("examine_") for name, on in options.items() if on is True}
    if "number_of_slides" in aspects and len(found.slides) != len(wanted.slides):
        return Score(0.0, f"there are {len(found.slides)} slides, expected {len(wanted.slides)}")
    for number, (slide, other) in enumerate(zip(found.slides, wanted.slides, strict=False), 1):
        problem = next(_slide_differences(slide, other, number, aspects, options["approximately_tolerance"]), "")
        if problem:
            return Score(0.0, f"slide {number}: {problem}")
    return Score(1.0, f"{result.name} is as expected")


def _slide_differences(slide: Slide, other: Slide, number: int, aspects: Aspects, tolerance: float) -> Iterator[str]:
    if "background_color" in aspects and _background(slide) != _background(other):
        yield f"the background is {_background(slide)}, expected {_background(other)}"
    if "note" in aspects and notes_of(slide) != notes_of(other):
        yield f"the notes are {notes_of(slide)!r}, expected {notes_of(other)!r}"
    bullets, right_bullets = _bullets(slide), _bullets(other)  # first: python-pptx adds layouts to lines that it reads
    shapes, others = list(slide.shapes), list(other.shapes)
    if len(shapes) != len(others):
        yield f"there are {len(shapes)} shapes, expected {len(others)}"
    has_text = False
    for shape, twin in zip(shapes, others, strict=False):
        for problem in _shape_differences(shape, twin, number, aspects, tolerance):
            yield f"{shape.name!r}: {problem}"
        has_text = has_text or any(line.runs for line in _lines(shape) if _lines(twin))
    if "bullets" in aspects and has_text and bullets != right_bullets:
        yield "the bullets differ"
    texts, right = list(_texts(slide.shapes)), list(_texts(other.shapes))
    if len(texts) != len(right):
        yield f"there are {len(texts)} texts, expected {len(right)}"
    if "alignment" in aspects:
        for one, two in zip(texts, right, strict=False):
            yield from _line_differences(_lines(one), _lines(two), aspects & {"text", "alignment"}, runs=False)


def _shape_differences(shape: Any, twin: Any, number: int, aspects: Aspects, tolerance: float) -> Iterator[str]:
    texts = [getattr(one, "text", None) if one.has_text_frame else None for one in (shape, twin)]
    differing = {name for name in _SIDES if not _near(getattr(shape, name), getattr(twin, name), tolerance)}
    kinds = (shape.shape_type, twin.shape_type)

    def same_kind(kind: int) -> bool:
        return kinds == (kind, kind)

    if "shape" in aspects and differing:
        yield f"its {', '.join(sorted(differing))} differ"
    # What OSWorld's single tasks ask for, by slide, kind and text.
    title, table, picture = texts == ["Product Comparison"] * 2, number == 3 and same_kind(_TABLE), same_kind(_PICTURE)
    no_texts = texts == [None, None]
    same_texts = None not in texts and texts[0] == texts[1]
    for aspect, special, wrong in (
        ("title_bottom_position", same_texts, title and (shape.top <= twin.top or shape.top < _LOW)),
        ("table_bottom_position", table, shape.top <= twin.top or shape.top < _LOW),
        ("image_size", picture, bool(differing & {"width", "height"})),
        ("modify_height", no_texts or same_kind(_FREEFORM), "height" in differing),
        ("shape_for_shift_size", texts == ["Elaborate on what you want to discuss."] * 2, False),
    ):
        if aspect in aspects and (wrong if special else differing):
            yield f"its place or size is wrong ({aspect})"
    if "right_position" in aspects and number == 2 and no_texts and (shape.left <= twin.left or shape.left < _RIGHT):
        yield "it is not at the right"
    if "top_position" in aspects and number == 2 and picture and (shape.top >= twin.top or shape.top > _HIGH):
        yield "it is not at the top"
    if same_kind(_TABLE):
        yield from _table_differences(shape.table, twin.table, aspects)
    elif None not in texts:
        yield from _line_differences(_lines(shape), _lines(twin), aspects)


def _table_differences(table: Any, other: Any, aspects: Aspects) -> Iterator[str]:
    sizes = [(len(one.rows), len(one.columns)) for one in (table, other)]
    if sizes[0] != sizes[1]:
        yield f"the table has {sizes[0]} rows and columns, expected {sizes[1]}"
        return
    fonts = {"font_bold", "font_italic", "font_underline"} | (aspects & {"color_rgb"})
    for row, twin in zip(table.rows, other.rows, strict=True):
        for cell, same in zip(row.cells, twin.cells, strict=True):
            lines, others = (list(one.text_frame.paragraphs) for one in (cell, same))
            yield from _line_differences(lines, others, fonts)


def _line_differences(lines: list[Any], others: list[Any], aspects: Aspects, runs: bool = True) -> Iterator[str]:
    texts, right = ("\n".join(line.text for line in one).strip() for one in (lines, others))
    if "text" in aspects and texts != right:
        yield f"the text is {texts!r}, expected {right!r}"
    if len(lines) != len(others):
        yield f"there are {len(lines)} paragraphs, expected {len(others)}"
    for line, other in zip(lines, others, strict=False):
        for name, read in _LINE_ASPECTS.items():
            if name in aspects and read(line) != read(other):
                yield f"{name} of {line.text!r} is {read(line)}, expected {read(other)}"
        if runs and len(line.runs) != len(other.runs):
            yield f"{line.text!r} has {len(line.runs)} runs, expected {len(other.runs)}"
        for run, twin in zip(line.runs, other.runs, strict=False) if runs else ():
            for name, same in _FONT_ASPECTS.items():
                if name in aspects and not same(run, twin):
                    yield f"{name} of {run.text!r} differs"


def _near(one: int | None, two: int | None, tolerance: float) -> bool:
    one, two = one or 0, two or 0
    return one == two or (one != 0 != two and abs(one - two) / max(abs(one), abs(two)) <= tolerance)


def _lines(shape: Any) -> list[Any]:
    return list(shape.text_frame.paragraphs) if getattr(shape, "has_text_frame", False) else []


def _texts(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        if getattr(shape, "has_text_frame", False):
            yield shape
        if hasattr(shape, "shapes"):
            yield from _texts(shape.shapes)


def _background(slide: Slide) -> str | None:
    """Return the color of a slide's background, or of its master where the slide has none; None for any other fill.

    Read from the XML: python-pptx would add a background to a slide that is asked for its own.
    """
    for owner in (slide, slide.slide_layout.slide_master):
        fills = owner._element.xpath("./p:cSld/p:bg/p:bgPr/*[local-name() != 'effectLst']")
        if fills and not fills[0].tag.endswith("}noFill"):
            colors = fills[0].xpath("self::a:solidFill/a:srgbClr/@val")
            return str(colors[0]).upper() if colors else None
    return None


def _bullets(slide: Slide) -> list[tuple[str, str, str]]:
    """Return level, sign and text of each paragraph of a slide that has a text.

    As in OSWorld, a line without a layout is not the same as one of level 0, except for the first.
    """
    found: list[tuple[str, str, str]] = []
    for line in slide._element.iter("{*}p"):
        text = "".join(node.text or "" for node in line.iter("{*}t"))
        if text.strip():
            layout = line.find("{*}pPr")
            sign = None if layout is None else layout.find("{*}buChar")
            level = layout.get("lvl", "0") if layout is not None else "none" if found else "0"
            found.append((level, "" if sign is None else sign.get("char", ""), text))
    return found


def _same(read: Callable[[Any], Any]) -> Callable[[Any, Any], bool]:
    return lambda run, twin: read(run) == read(twin)


def _color(run: Any) -> str | None:
    from pptx.enum.dml import MSO_COLOR_TYPE

    color = run.font.color
    return str(color.rgb) if color is not None and color.type == MSO_COLOR_TYPE.RGB else None


def _same_if_both_known(run: Any, twin: Any) -> bool:
    return _color(run) == _color(twin) or None in (_color(run), _color(twin))


def _same_underline(run: Any, twin: Any) -> bool:
    one, two = run.font.underline, twin.font.underline
    return one == two or (None in (one, two) and True not in (one, two))


def _strike(run: Any) -> str:
    properties = run._r.rPr
    return "noStrike" if properties is None else str(properties.get("strike", "noStrike"))


_LINE_ASPECTS: dict[str, Callable[[Any], Any]] = {
    "alignment": lambda line: int(line.alignment or 1),
    "indent": lambda line: line.level,
}
_FONT_ASPECTS: dict[str, Callable[[Any, Any], bool]] = {
    "font_name": _same(lambda run: run.font.name),
    "font_size": _same(lambda run: run.font.size),
    "font_bold": _same(lambda run: bool(run.font.bold)),
    "font_italic": _same(lambda run: bool(run.font.italic)),
    "color_rgb": _same_if_both_known,
    "font_underline": _same_underline,
    "strike_through": _same(_strike),
}
_EXAMINED = ("number_of_slides", "shape", "text", "bullets", "background_color", "note", *_LINE_ASPECTS, *_FONT_ASPECTS)
_NOT_EXAMINED = (
    *("title_bottom_position", "table_bottom_position", "right_position", "top_position"),
    *("shape_for_shift_size", "image_size", "modify_height"),
)
_OPTIONS = new_model(
    "SlideOptions",
    approximately_tolerance=(float, TOLERANCE),
    enable_debug=(bool, False),
    **{f"examine_{name}": (bool, name in _EXAMINED) for name in (*_EXAMINED, *_NOT_EXAMINED)},
)
"""OSWorld's options: `examine_...` switches an aspect on or off."""

METRICS = {"compare_pptx_files": Metric.of(compare_pptx_files, options=_OPTIONS)}
