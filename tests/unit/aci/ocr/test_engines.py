from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import pytest

from aci.errors import MissingDependency, RecognitionFailed
from aci.ocr import text_engine
from aci.ocr.engines import ENGINES, EngineName, available_engines, build_engine
from aci.ocr.paddleocr import PaddleOcr
from aci.ocr.tesseract import Tesseract
from aci.ocr.text_engine import restore_ellipsis, sample_picture


def test_engine_that_is_not_installed_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_engine, "find_spec", lambda module: None)
    with pytest.raises(MissingDependency) as caught:
        build_engine("rapidocr")
    assert caught.value.hint == f"{sys.executable} -m pip install 'rapidocr>=3' 'onnxruntime>=1.17'"


def test_program_that_is_not_installed_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MissingDependency) as caught:
        build_engine("tesseract")
    assert "tesseract-ocr" in caught.value.hint


@pytest.mark.parametrize(
    ("read", "written"),
    [("Save As..", "Save As..."), ("Save As...", "Save As..."), ("cd ..", "cd .."), ("a..b", "a..b"), ("End.", "End.")],
)
def test_dot_that_recognition_loses_is_put_back(read: str, written: str) -> None:
    assert restore_ellipsis(read) == written


def test_unknown_engine_is_refused() -> None:
    with pytest.raises(ValueError, match="rapidocr, paddleocr, tesseract"):
        build_engine(cast("EngineName", "abacus"))


def test_paddle_never_looks_for_models_elsewhere(tmp_path: Path) -> None:
    for models in (None, tmp_path):
        with pytest.raises(MissingDependency, match="models"):
            PaddleOcr(models)


def test_every_engine_is_reported_with_a_reason_or_as_working(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_engine, "find_spec", lambda module: None)
    monkeypatch.setenv("PATH", "/nowhere")
    reports = available_engines()
    assert [report.name for report in reports] == list(ENGINES)
    assert all(not report.works and report.detail and report.hint for report in reports)


def program(folder: Path, script: str) -> None:
    path = folder / "tesseract"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_program_that_fails_is_an_error_with_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "cat > /dev/null; echo no such language >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(RecognitionFailed, match="no such language"):
        Tesseract("xyz").recognize(sample_picture())


def test_words_far_apart_on_a_line_are_labels_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        ["level", "page_num", "block_num", "par_num", "line_num", "word_num", "left", "top", "width", "height", "conf"],
        ["5", "1", "1", "1", "1", "1", "36", "26", "60", "20", "96.5"],
        ["5", "1", "1", "1", "1", "2", "104", "26", "40", "20", "90.0"],
        ["5", "1", "1", "1", "1", "3", "256", "26", "40", "20", "88.0"],
        ["5", "1", "1", "1", "2", "1", "36", "66", "40", "20", "12.0"],
    ]
    texts = ["text", "Save", "as", "Quit", "~~"]
    table = "\n".join("\t".join([*row, text]) for row, text in zip(rows, texts, strict=True))
    (tmp_path / "table").write_text(table)
    program(tmp_path, f"cat > /dev/null; cat {tmp_path}/table")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    read = Tesseract().recognize(sample_picture())
    assert [(box.text, box.confidence) for box in read] == [("Save as", 0.9), ("Quit", 0.88)]
    assert (read[0].rect.x, read[0].rect.y, read[0].rect.width) == (10, 5, 54)
