from __future__ import annotations

import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook

from agent_s.probes.documents import read_document
from agent_s.probes.places import MAX_BYTES, NotReadable
from agent_s.probes.preferences import KEYFILE
from agent_s.probes.prober import Prober
from agent_s.probes.requests import (
    BookmarkProbe,
    CellProbe,
    ChangedProbe,
    FileProbe,
    PreferenceProbe,
    Probe,
    SettingProbe,
    TextProbe,
)

OPEN_DOCUMENT = """<?xml version="1.0"?><office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body>{}</office:body></office:document-content>"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "Documents").mkdir(parents=True)
    return home


def prober(home: Path | None, instruction: str = "Save notes.txt", since: float = 0.0) -> Prober:
    return Prober(home, instruction, since)


def answer(home: Path, probe: Probe, **more: object) -> tuple[bool | None, str]:
    result = prober(home, **more).probe(probe)  # type: ignore[arg-type]
    return result.holds, result.found


def packed(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return path


# Files


def test_files_are_found_by_path_and_by_name(home: Path) -> None:
    (home / "Documents/notes.txt").write_text("hello")
    for path in ("~/Documents/notes.txt", "Documents/notes.txt", "notes.txt", str(home / "Documents/notes.txt")):
        result = prober(home).probe(FileProbe(path=path))
        assert (result.holds, result.place) == (True, "~/Documents/notes.txt")
    assert answer(home, FileProbe(path="~/notes.txt"))[0] is False


def test_a_file_in_a_folder_of_a_folder_is_found_and_listed(home: Path) -> None:
    began = time.time()
    (home / "Documents" / "Invoices").mkdir()
    (home / "Documents" / "Invoices" / "jan.txt").write_text("", encoding="utf-8")
    asked = prober(home, since=began)
    assert asked.probe(FileProbe(path="jan.txt")).place == "~/Documents/Invoices/jan.txt"
    assert [change.what for change in asked.differences()] == ["~/Documents/Invoices/jan.txt"]
    assert asked.folders() == ("Documents",)
    empty = asked.probe(TextProbe(path="jan.txt", text=""))
    assert (empty.holds, empty.found) == (True, "it is empty")
    assert asked.probe(TextProbe(path="jan.txt", text="1")).holds is False


def test_of_several_files_one_must_be_named(home: Path) -> None:
    for place in (home, home / "Documents"):
        (place / "notes.txt").write_text("hello")
    holds, found = answer(home, FileProbe(path="notes.txt"))
    assert holds is None and "~/Documents/notes.txt" in found
    assert answer(home, FileProbe(path="~/notes.txt"))[0] is True


def test_a_file_is_changed_if_it_was_written_or_renamed_since_the_start(home: Path) -> None:
    old, renamed = home / "notes.txt", home / "renamed.txt"
    old.write_text("hello")
    renamed.write_text("hello")
    for path in (old, renamed):
        os.utime(path, (1000, 1000))
    since = old.stat().st_ctime + 1
    assert answer(home, ChangedProbe(path="~/notes.txt"), since=since)[0] is False
    assert answer(home, ChangedProbe(path="~/notes.txt"), since=since - 2)[0] is True


@pytest.mark.parametrize(
    ("text", "exact", "holds"),
    [("hello", False, True), ("hell", False, False), ("Hello", False, False), ("hello", True, False),
     ("hello world", True, True), ("2.50", False, True), ("2.05", False, False), ("2.50", True, False)],
)  # fmt: skip
def test_texts_are_compared_by_whole_words_and_numbers_by_value(
    home: Path, text: str, exact: bool, holds: bool
) -> None:
    (home / "notes.txt").write_text("2.5" if text[0].isdigit() else "hello\nworld\n")
    assert answer(home, TextProbe(path="~/notes.txt", text=text, exact=exact))[0] is holds


def test_a_result_shows_a_bounded_part(home: Path) -> None:
    (home / "notes.txt").write_text("a " * 5000 + "needle " + "b " * 5000)
    holds, found = answer(home, TextProbe(path="~/notes.txt", text="needle"))
    assert holds and "needle" in found and len(found) < 1000


# What is not read


@pytest.mark.parametrize(
    "path", ["~/.ssh/id_rsa", "~/../etc/passwd", "/etc/passwd", "/dev/zero", ".bashrc", "~/.config/x"]
)
def test_other_places_are_not_read(home: Path, path: str) -> None:
    assert answer(home, TextProbe(path=path, text="x"))[0] is None


def test_a_place_that_the_task_names_is_read(home: Path, tmp_path: Path) -> None:
    named = tmp_path / "elsewhere.txt"
    named.write_text("hello")
    assert answer(home, TextProbe(path=str(named), text="hello"))[0] is None
    assert answer(home, TextProbe(path=str(named), text="hello"), instruction=f"Save it as {named}")[0] is True


def test_a_file_that_the_task_does_not_concern_is_not_read(home: Path) -> None:
    (home / "diary.txt").write_text("hello")
    later = time.time() + 3600
    holds, found = answer(home, TextProbe(path="~/diary.txt", text="hello"), since=later)
    assert holds is None and "does not name it" in found
    assert answer(home, TextProbe(path="~/diary.txt", text="hello"), since=later, instruction="Edit diary.txt")[0]


def test_links_that_lead_away_devices_and_pipes_are_not_read(home: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("hello")
    (home / "notes.txt").symlink_to(tmp_path / "secret.txt")
    assert answer(home, TextProbe(path="~/notes.txt", text="hello"))[0] is None
    (home / ".hidden").mkdir()
    (home / ".hidden/a.txt").write_text("hello")
    (home / "inner.txt").symlink_to(home / ".hidden/a.txt")
    assert answer(home, TextProbe(path="~/inner.txt", text="hello"))[0] is None
    os.mkfifo(home / "pipe.txt")
    assert not answer(home, TextProbe(path="~/pipe.txt", text="hello"))[0]


def test_huge_files_are_not_read(home: Path) -> None:
    with (home / "notes.txt").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    holds, found = answer(home, TextProbe(path="~/notes.txt", text="hello"))
    assert holds is None and "at most" in found


def test_without_a_home_nothing_is_read() -> None:
    result = prober(None).probe(FileProbe(path="~/notes.txt"))
    assert (result.holds, result.number) == (None, 1)


def test_secrets_are_hidden(home: Path) -> None:
    (home / "notes.txt").write_text("hunter22")
    result = Prober(home, "notes.txt", 0.0, lambda text: text.replace("hunter22", "***")).probe(
        TextProbe(path="~/notes.txt", text="x")
    )
    assert "hunter22" not in result.found and "***" in result.found


# Documents


def test_texts_of_office_documents_are_read(tmp_path: Path) -> None:
    runs = "<w:document xmlns:w='x'><w:p><w:t>hello </w:t><w:t>world</w:t></w:p></w:document>"
    slide = "<p:sld xmlns:p='x' xmlns:a='y'><a:p><a:r><a:t>hello world</a:t></a:r></a:p></p:sld>"
    text = OPEN_DOCUMENT.format("<text:p>hello<text:s/><text:span>world</text:span></text:p>")
    documents = (
        packed(tmp_path / "a.docx", word__document_xml=runs),
        packed(tmp_path / "a.pptx", ppt__slides__slide1_xml=slide),
        packed(tmp_path / "a.odt", content_xml=text),
    )
    for path in documents:
        assert read_document(path.read_bytes()).text == "hello world"


def test_damaged_and_unknown_files_are_not_read(tmp_path: Path) -> None:
    unknown = packed(tmp_path / "a.zip", readme="hello")
    nested = "<text:p>" + "<text:span>" * 5000 + "</text:span>" * 5000 + "</text:p>"
    for content in (
        unknown.read_bytes(),
        b"PK\x03\x04 nonsense",
        b"\0\1\2\3",
        packed(tmp_path / "b.odt", content_xml="<a>").read_bytes(),
        packed(tmp_path / "c.odt", content_xml=OPEN_DOCUMENT.format(nested)).read_bytes(),
    ):
        with pytest.raises(NotReadable):
            read_document(content)


def test_long_text_with_a_single_quotation_mark_is_not_a_table() -> None:
    text = 'one, two\n"' + "x" * 200_000
    document = read_document(text.encode())
    assert (document.text, document.cells) == (text, {})


def xlsx(path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["B5"], sheet["B6"], sheet["C1"] = 42, "=SUM(B1:B5)", "twelve"
    book.create_sheet("Other")["A1"] = 1.5
    book.save(path)


def ods(path: Path) -> None:
    cells = """<office:spreadsheet><table:table table:name="Sheet"><table:table-row table:number-rows-repeated="4">
      <table:table-cell/><table:table-cell/></table:table-row><table:table-row><table:table-cell/>
      <table:table-cell office:value="42"><text:p>42.00</text:p></table:table-cell></table:table-row>
      <table:table-row><table:table-cell table:number-columns-repeated="1"/>
      <table:table-cell table:formula="of:=SUM([.B1:.B5])" office:value="42"><text:p>42</text:p></table:table-cell>
      </table:table-row></table:table>
      <table:table table:name="Other"><table:table-row><table:table-cell office:value="1.5"/>
      </table:table-row></table:table></office:spreadsheet>"""
    packed(path, content_xml=OPEN_DOCUMENT.format(cells))


@pytest.mark.parametrize("write", [xlsx, ods])
@pytest.mark.parametrize(
    ("cell", "value", "sheet", "holds"),
    [("B5", "42", "", True), ("B5", "42.0", "", True), ("A5", "42", "", False), ("A5", "", "", True),
     ("B5", "", "", False), ("B6", "=sum(B1:B5)", "", True), ("A1", "1.5", "Other", True),
     ("A1", "1.5", "Third", False)],
)  # fmt: skip
def test_cells_of_workbooks_are_compared(
    home: Path, write: Callable[[Path], None], cell: str, value: str, sheet: str, holds: bool
) -> None:
    write(home / "notes.xlsx")
    assert answer(home, CellProbe(path="~/notes.xlsx", cell=cell, value=value, sheet=sheet))[0] is holds


def test_cells_of_separated_values_are_compared(home: Path) -> None:
    (home / "notes.csv").write_text('name;age\n"Ann; Bo";7\n')
    assert answer(home, CellProbe(path="~/notes.csv", cell="A2", value="Ann; Bo"))[0] is True
    (home / "notes.txt").write_text("no table")
    assert answer(home, CellProbe(path="~/notes.txt", cell="A1", value="no table"))[0] is None


# Settings


def write_settings(home: Path, value: str) -> None:
    (home / KEYFILE).parent.mkdir(parents=True, exist_ok=True)
    (home / KEYFILE).write_text(
        f"[org/app/view]\nword-wrap={value}\nsize=uint32 3\nfont='Mono 12'\n[org/gtk/settings]\nwidth={len(value)}\n"
    )


@pytest.mark.parametrize(
    ("key", "value", "holds"),
    [("org/app/view/word-wrap", "true", True), ("org.app.view.word-wrap", "false", False), ("word-wrap", "true", True),
     ("size", "3", True), ("font", "Mono 12", True), ("wrap", "true", None), ("unknown", "x", None)],
)  # fmt: skip
def test_settings_are_compared(home: Path, key: str, value: str, holds: bool | None) -> None:
    write_settings(home, "true")
    assert answer(home, SettingProbe(key=key, value=value))[0] is holds


def test_preferences_of_chromium_are_read_from_its_profile(home: Path) -> None:
    profile = home / ".config/browser-profile/Default"
    assert answer(home, PreferenceProbe(key="a.b", value="true"))[0] is None
    profile.mkdir(parents=True)
    (profile / "Preferences").write_text(json.dumps({"a": {"b": True, "c": "x"}}))
    mark = {"type": "url", "name": "News", "url": "http://news.test/"}
    (profile / "Bookmarks").write_text(json.dumps({"roots": {"bar": {"children": [mark]}, "version": 1}}))
    assert answer(home, PreferenceProbe(key="a.b", value="true"))[0] is True
    assert answer(home, PreferenceProbe(key="a.c", value="y"))[0] is False
    assert answer(home, BookmarkProbe(name="News"))[0] is True
    assert answer(home, BookmarkProbe(name="News", url="http://other.test"))[0] is False
    assert answer(home, BookmarkProbe())[0] is False


def test_folders_are_found_and_what_was_removed_is_listed(home: Path) -> None:
    for name in ("notes.txt", "old/a.txt", "old/deep/b.txt", "kept/c.txt"):
        (home / "Documents" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / "Documents" / name).write_text("hello")
    begun = prober(home, since=time.time() + 100)
    (home / "Documents/Recipes").mkdir()
    (home / "Documents/notes.txt").rename(home / "Documents/Recipes/notes.txt")
    shutil.rmtree(home / "Documents/old")
    made = begun.probe(FileProbe(path="~/Documents/Recipes"))
    assert (made.holds, made.changed) == (True, True)
    assert "files and folders in it: 1" in made.found
    assert begun.probe(FileProbe(path="kept")).changed is False
    assert begun.probe(ChangedProbe(path="kept")).holds is False
    assert begun.probe(TextProbe(path="Recipes", text="hello")).holds is None
    assert [(change.what, change.after) for change in begun.differences()] == [
        ("~/Documents/Recipes/", "new folder"),
        ("~/Documents/notes.txt", "removed"),
        ("~/Documents/old/", "removed"),
    ]


def test_what_a_run_changed_is_listed(home: Path) -> None:
    write_settings(home, "false")
    begun = prober(home, since=time.time() - 1)
    (home / "Documents/new.txt").write_text("hello")
    (home / ".cache").mkdir()
    (home / ".cache/hidden.txt").write_text("hello")
    write_settings(home, "true")
    assert [(change.kind, change.what, change.before, change.after) for change in begun.differences()] == [
        ("file", "~/Documents/new.txt", "", ""),
        ("setting", "org/app/view/word-wrap", "false", "true"),
    ]


def test_an_answer_quotes_whole_words_only(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(f"{'12345 ' * 200}middle {'67890 ' * 200}")
    quoted = prober(tmp_path).probe(TextProbe(path="notes.txt", text="middle")).quoted.split()
    assert set(quoted) == {"12345", "middle", "67890"}
    assert prober(tmp_path).probe(TextProbe(path="notes.txt", text="12345")).quoted.startswith("12345 12345")
