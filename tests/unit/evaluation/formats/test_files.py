from __future__ import annotations

import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import CheckFailed
from evaluation.state.context import TaskContext
from tests.unit.evaluation.judging import judge, read, value


@pytest.mark.parametrize(
    ("func", "found", "rules", "score"),
    [
        ("literal_match", 3, {"expected": "3"}, 1),
        ("literal_match", "a", {"expected": "b"}, 0),
        ("is_in_list", ["a", "b"], {"expected": "b"}, 1),
        ("is_in_list", ["a", "b"], {"expected": "c"}, 0),
        ("fuzzy_match", "abcd", {"expected": "abcd"}, 1),
        ("fuzzy_match", "abcd", {"expected": "abxx"}, 0.5),
        ("check_list", "one 1\ntwo", {"expect": [r"\d"], "unexpect": ["three"]}, 1),
        ("check_list", "one 1\ntwo", {"expect": [r"^\d"]}, 0),
        ("check_list", "one 1\ntwo", {"unexpect": ["two"]}, 0),
        ("check_directory", ["a", "b/"], {"expected": ["b/", "a"]}, 1),
        ("check_directory", ["a", "b/"], {"expected": ["a"]}, 0),
        ("check_number", "about 12.5 s", {"expected": [{"method": "gt", "ref": 12}, {"method": "lt", "ref": 13}]}, 1),
        ("check_number", "about 12.5 s", {"expected": [{"method": "gt", "ref": 13}]}, 0),
        ("check_number", "none", {"expected": [{"method": "gt", "ref": 0}]}, 0),
        ("check_direct_json_object", '{"a": 1}', {"expected": {"a": 1}}, 1),
        ("check_direct_json_object", {"a": "long"}, {"expected": {"a": "on"}, "expect_in_result": True}, 1),
        ("check_direct_json_object", {"a": "long"}, {"expected": {"a": "on"}}, 0),
        ("check_direct_json_object", "no JSON", {"expected": {"a": 1}}, 0),
    ],
)
def test_metrics_score_values(func: str, found: Any, rules: dict[str, Any], score: float) -> None:
    assert value(func, found, rules) == score


def test_options_change_the_scores_of_values() -> None:
    assert value("literal_match", ["A"], {"expected": ["a"]}, type="list", ignore_case=True) == 1
    assert value("fuzzy_match", "abcd", {"expected": "abxx"}, threshold=0.4) == 1
    assert value("compare_pdfs", "Two  words", "two words", ignore_blanks=True, ignore_case=True) == 1
    assert value("compare_pdfs", "Two  words", "other") < 1
    with pytest.raises(CheckFailed, match="not a regular expression"):
        judge("check_list", "x", {"expect": ["("]})


@pytest.mark.parametrize(
    ("func", "content", "rules", "score"),
    [
        ("file_contains", "one two", {"expected": ["one"]}, 1),
        ("file_contains", "one two", {"expected": ["one", "three"]}, 0),
        ("check_csv", "a,b\n1,2\n", {"expect": [{"a": "1", "b": "2"}]}, 1),
        ("check_csv", "a,b\n1,2\n", {"expect": [{"a": "2"}]}, 0),
        ("check_csv", "a,b\n1,2\n", {"unexpect": [{"a": "1"}]}, 0),
        ("check_json_settings", '// note\n{"x": {"y": 1}, "z": 2}', {"expected": {"x": {"y": 1}}}, 1),
        ("check_json_settings", '{"x": 1}', {"expected": {"x": 2}}, 0),
        ("check_json_settings", "{", {"expected": {"x": None}}, 0),
    ],
)
def test_metrics_score_text_files(tmp_path: Path, func: str, content: str, rules: dict[str, Any], score: float) -> None:
    (tmp_path / "a").write_text(content)

    assert value(func, tmp_path / "a", rules) == score


def test_csv_files_are_compared_by_lines_and_texts_by_similarity(tmp_path: Path) -> None:
    one, two, three = tmp_path / "1", tmp_path / "2", tmp_path / "3"
    one.write_text("a,b\r\n1,2\r\n")
    two.write_text("a,b\n1,2\n")
    three.write_text(" A,b\n1,2\n")

    assert value("compare_csv", one, two) == 1
    assert judge("compare_csv", three, two).why == "line 1 is ' A,b', expected 'a,b'"
    assert value("compare_csv", three, two, strict=False, ignore_case=True) == 1
    assert value("compare_csv", one, [three, two]) == 1
    two.write_text("a,b\n")
    assert value("compare_csv", one, two) == 0
    assert 0 < value("diff_text_file", one, three) < 1


def test_archive_metrics_compare_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.write(tmp_path / "a.txt", "a.txt")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "a.txt", "./a.txt")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as file:
        file.writestr("a.txt", "y")

    assert value("compare_archive", tmp_path / "a.tar.gz", tmp_path / "a.zip") == 1
    assert value("compare_archive", tmp_path / "b.zip", tmp_path / "a.zip") == 0
    assert value("check_archive", tmp_path / "a.tar.gz", {"include": ["*.txt"], "exclude": ["*.png"]}) == 1
    assert value("check_archive", tmp_path / "a.zip", {"include": ["*.png"]}) == 0
    assert value("check_archive", tmp_path / "a.zip", {"exclude": ["a*"]}) == 0
    assert value("check_archive", tmp_path / "a.txt", {}) == 0


def test_list_directory_is_sorted_and_marks_folders(context: TaskContext, home: Path) -> None:
    (home / "Documents/a.txt").touch()

    assert read(context, "list_directory", path="~").value == ["Documents/", "Documents/a.txt"]
    assert read(context, "list_directory", path="~/gone").value is None


PDF = b"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>> endobj
4 0 obj <</Length 34>> stream
BT /F 12 Tf 9 9 Td (Hello) Tj ET  
endstream endobj
5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj
trailer <</Root 1 0 R>>
"""


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs poppler-utils")
def test_text_of_a_pdf_is_read_and_another_file_is_absent(context: TaskContext) -> None:
    assert read(context, "pdf_text", path="~/a.pdf").value is None
    (context.desktop.home / "a.pdf").write_bytes(PDF)
    assert read(context, "pdf_text", path="~/a.pdf").value.strip() == "Hello"
    (context.desktop.home / "a.pdf").write_text("Hello")
    assert read(context, "pdf_text", path="~/a.pdf").value is None


def test_missing_pdf_reader_is_an_error_that_names_the_package(
    context: TaskContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (context.desktop.home / "a.pdf").write_bytes(PDF)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CheckFailed, match="apt-get install -y poppler-utils"):
        read(context, "pdf_text", path="~/a.pdf")
