"""The engines themselves, on pictures of labels and on screens whose text is only pixels."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from aci.acting.actions import Type
from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from aci.ocr.engines import EngineName, available_engines, build_engine
from aci.ocr.repeats import contains_text, same_text
from aci.ocr.text_engine import TextEngine

pytestmark = pytest.mark.slow
LIMIT_S = 60.0
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
COLORS = (
    ("white", "black"),
    ("#202020", "#dddddd"),
    ("#f6f5f4", "#2e3436"),
    ("#1a5fb4", "white"),
    ("#fff8d0", "#704000"),
)
NOUNS = ("file", "report", "table", "chart", "invoice", "customer", "window", "printer", "folder", "message", "account")
VERBS = ("Open", "Close", "Rename", "Delete", "Export", "Import", "Print", "Share", "Convert", "Archive")
LABELS = [f"{VERBS[n % 10]} {NOUNS[n % 11]} {n}" for n in range(100)]

needs_rapidocr = pytest.mark.skipif(
    find_spec("rapidocr") is None or find_spec("onnxruntime") is None, reason="pip install agent-s[ocr]"
)


@pytest.fixture(scope="module")
def engine() -> TextEngine:
    return build_engine("rapidocr")


@pytest.fixture(scope="module")
def reading_desktop(engine: TextEngine) -> Iterator[VirtualDesktop]:
    with VirtualDesktop(size=(1000, 700), ocr=engine) as running:
        yield running


def labels_picture(size: int, background: str, color: str) -> NDArray[np.uint8]:
    """Return the first 20 labels in two columns, 30 px apart."""
    image = Image.new("RGB", (480, 320), background)
    font = ImageFont.truetype(FONT, size)
    for index, label in enumerate(LABELS[:20]):
        ImageDraw.Draw(image).text((12 + index % 2 * 240, 10 + index // 2 * 30), label, fill=color, font=font)
    return np.asarray(image)


def read_back(engine: TextEngine, pixels: NDArray[np.uint8]) -> list[str]:
    """Return which of the labels were read, each at its place."""
    boxes = engine.recognize(pixels)
    places = {label: Rect(12 + n % 2 * 240, 4 + n // 2 * 30, 220, 28) for n, label in enumerate(LABELS[:20])}
    return [
        label
        for label, place in places.items()
        if any(place.contains(box.rect.center) and same_text(box.text, label) for box in boxes)
    ]


def until(desktop: VirtualDesktop, wanted: str) -> Observation:
    """Observe until a text that is only pixels has been read."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        seen = desktop.observe()
        if any(wanted in each.name for each in pixel_texts(seen)):
            return seen
        if time.monotonic() > deadline:
            raise AssertionError(f"{wanted!r} was not read within {LIMIT_S} s; seen:\n{seen.to_text()}")


def complete(desktop: VirtualDesktop, least_told: int = 1) -> Observation:
    """Observe until the tree tells at least so many elements and nothing is left out."""
    deadline = time.monotonic() + LIMIT_S
    while (seen := desktop.observe()).unread or seen.notes or len(told_by_tree(seen)) < least_told:
        assert time.monotonic() < deadline, (seen.notes, seen.to_text())
    return seen


def told_by_tree(seen: Observation) -> list[Element]:
    return [each for each in seen.elements if each.source == "accessibility"]


def pixel_texts(seen: Observation) -> list[Element]:
    return [each for each in seen.elements if each.source == "ocr"]


@needs_rapidocr
@pytest.mark.parametrize(("background", "color"), COLORS)
@pytest.mark.parametrize("size", [12, 14])
def test_rapidocr_reads_labels(engine: TextEngine, size: int, background: str, color: str) -> None:
    assert len(read_back(engine, labels_picture(size, background, color))) >= 19


@needs_rapidocr
@pytest.mark.parametrize("shape", [(40, 300), (1, 1), (7, 3), (5, 900)])
def test_rapidocr_finds_nothing_where_nothing_is(engine: TextEngine, shape: tuple[int, int]) -> None:
    assert engine.recognize(np.full((*shape, 3), 255, dtype=np.uint8)) == []


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="apt-get install tesseract-ocr")
def test_tesseract_reads_labels() -> None:
    tesseract = build_engine("tesseract")
    assert len(read_back(tesseract, labels_picture(14, "white", "black"))) >= 18
    assert len(read_back(tesseract, labels_picture(14, "#202020", "#dddddd"))) >= 18
    assert tesseract.recognize(np.full((40, 300, 3), 255, dtype=np.uint8)) == []


@needs_rapidocr
@pytest.mark.skipif(find_spec("paddleocr") is None, reason="pip install agent-s[paddleocr]")
def test_paddleocr_reads_labels(tmp_path: Path) -> None:
    paddle = build_engine("paddleocr", models_for_paddle(tmp_path))
    assert len(read_back(paddle, labels_picture(14, "white", "black"))) >= 19


def models_for_paddle(folder: Path) -> Path:
    """Lay out the models that come with rapidocr as PaddleOCR expects its own."""
    import onnxruntime
    import rapidocr
    import yaml

    detection, recognition = (
        next((Path(rapidocr.__file__).parent / "models").glob(f"*_{kind}_small.onnx")) for kind in ("det", "rec")
    )
    session = onnxruntime.InferenceSession(str(recognition), providers=["CPUExecutionProvider"])
    letters = session.get_modelmeta().custom_metadata_map["character"].splitlines()
    normalize = {"mean": [0.5] * 3, "std": [0.5] * 3, "scale": "1./255.", "order": "hwc"}
    steps = {
        "det": ([{"DetResizeForTest": None}, {"NormalizeImage": normalize}, {"ToCHWImage": None}], {}),
        "rec": ([{"RecResizeImg": {"image_shape": [3, 48, 320]}}], {"character_dict": letters}),
    }
    for kind, model in (("det", detection), ("rec", recognition)):
        (folder / kind).mkdir()
        (folder / kind / "inference.onnx").symlink_to(model)
        before, after = steps[kind]
        description = {
            "Global": {"model_name": f"PP-OCRv6_small_{kind}"},
            "PreProcess": {"transform_ops": before},
            "PostProcess": {"name": "DBPostProcess" if kind == "det" else "CTCLabelDecode", **after},
        }
        (folder / kind / "inference.yml").write_text(yaml.safe_dump(description, allow_unicode=True))
    return folder


def installed() -> list[EngineName]:
    return [report.name for report in available_engines() if report.works]


@pytest.mark.skipif(not installed(), reason="no OCR engine is installed")
def test_engines_that_are_installed_work_when_tried_out() -> None:
    reports = {report.name: report for report in available_engines(try_out=True)}
    assert [reports[name].detail for name in installed() if not reports[name].works] == []


@needs_rapidocr
@pytest.mark.desktop
def test_terminal_can_be_read_and_unchanged_lines_keep_their_ids(reading_desktop: VirtualDesktop) -> None:
    terminal = reading_desktop.launch(["xterm", "-fa", "DejaVu Sans Mono", "-fs", "10", "-e", "/bin/sh"])
    try:
        reading_desktop.perform(Type(text="echo first $((20+22)) line\n"))
        before = until(reading_desktop, "first 42 line")
        [first] = [each for each in pixel_texts(before) if "first 42 line" in each.name]
        assert first.role == "text line"
        assert first.point is not None and first.rect.contains(first.point)
        assert next(each for each in before.windows if each.id == first.window_id).app == "XTerm"
        reading_desktop.perform(Type(text="echo second $((50+5)) line\n"))
        after = until(reading_desktop, "second 55 line")
        assert after.by_id[first.id].name == first.name
        assert 'text line "first 42 line"' in after.to_text()
    finally:
        terminal.terminate()


@needs_rapidocr
@pytest.mark.desktop
def test_page_that_is_an_image_becomes_usable(reading_desktop: VirtualDesktop) -> None:
    image = Image.new("RGB", (900, 560), "white")
    for index, label in enumerate(LABELS):
        x, y = 10 + index % 5 * 180, 8 + index // 5 * 27
        background, color = COLORS[index % len(COLORS)]
        ImageDraw.Draw(image).rectangle((x - 6, y - 5, x + 170, y + 20), fill=background)
        font = ImageFont.truetype(FONT, 12 + index % 3)
        ImageDraw.Draw(image).text((x, y), label, fill=color, font=font)
    folder = Path(reading_desktop.home)
    image.save(folder / "labels.png")
    page = folder / "page.html"
    page.write_text(
        "<title>Picture</title><body style='margin:8px'><p>Words of the tree itself</p><img src=labels.png></body>"
    )
    browser = reading_desktop.launch(["chromium", f"file://{page}"], timeout_s=60)
    try:
        until(reading_desktop, LABELS[50])
        seen = complete(reading_desktop)
        texts = pixel_texts(seen)
        exact = [label for label in LABELS if any(re.sub(r"\s", "", t.name) == label.replace(" ", "") for t in texts)]
        assert len(exact) >= 95
        told = told_by_tree(seen)
        assert any("Words of the tree itself" in each.name for each in told)
        assert not [each.name for each in texts if "Words of the tree" in each.name]
        assert duplicates(seen) == []
    finally:
        browser.terminate()


@needs_rapidocr
@pytest.mark.desktop
@pytest.mark.parametrize("argv", [["mousepad"], ["gnome-calculator"], ["thunar"]])
def test_no_text_of_the_tree_is_repeated(reading_desktop: VirtualDesktop, argv: list[str]) -> None:
    if shutil.which(argv[0]) is None:
        pytest.skip(f"{argv[0]} is not installed")
    program = reading_desktop.launch(argv)
    try:
        seen = complete(reading_desktop, least_told=6)
        assert duplicates(seen) == []
        assert len(seen.by_id) == len(seen.elements) + len(seen.candidates)
    finally:
        program.terminate()


def duplicates(seen: Observation) -> list[tuple[str, str]]:
    """Return each recognized text with the element that tells the same at the same place."""
    return [
        (text.name, told)
        for text in pixel_texts(seen)
        for other in seen.elements
        if other.source == "accessibility"
        and other.window_id == text.window_id
        and other.rect.contains(text.rect.center)
        for told in (other.name, other.text or "")
        if contains_text(told, text.name)
    ]
