"""Text and cells of documents: plain text, OpenDocument, Office Open XML and PDF."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from aci.observation.cell_addresses import address_of
from agent_s.probes.features import features_of, paragraph_text
from agent_s.probes.places import NotReadable

MAX_UNPACKED = 60_000_000  # bytes
MAX_CELLS = 200_000
PDF_LIMIT_S = 10.0

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
# errors of the readers of packed documents, for damaged, encrypted or endlessly nested ones
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, EOFError, ElementTree.ParseError, LookupError, ValueError, TypeError, RuntimeError,
)  # fmt: skip
_PARAGRAPHS = frozenset({f"{_TEXT}p", f"{_TEXT}h"})


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a document."""

    text: str
    # forms of the value of each filled cell (value, text as shown, formula), by sheet and address
    cells: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    sheets: tuple[str, ...] = ()  # names of the sheets
    features: tuple[str, ...] = ()  # features besides its text, such as "Heading 1: Introduction"


def read_document(content: bytes) -> Document:
    """Read a document; its content decides the format.

    Raises:
        NotReadable: It is damaged, too large, or of an unknown format.
    """
    if content.startswith(b"%PDF"):
        return Document(_pdf_text(content))
    if content.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                return _packed(archive, content)
        except _DAMAGED as error:
            raise NotReadable(f"it is damaged, or no document: {error}") from error
    return _plain(content)


# Plain text


def _plain(content: bytes) -> Document:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = content.decode("utf-16", errors="replace")
    elif b"\0" in content:
        raise NotReadable("it is neither a text nor a document of a known format")
    else:
        text = content.decode("utf-8-sig", errors="replace")
    return Document(text, _separated(text))


def _separated(text: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the cells of separated values; none for other texts."""
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    if separator not in first:
        return {}
    try:
        rows = list(islice(csv.reader(io.StringIO(text), delimiter=separator), MAX_CELLS // 10))
    except csv.Error:  # not CSV, such as a long text with a single quotation mark
        return {}
    return {
        ("", address_of((row, column))): (value,)
        for row, values in enumerate(rows)
        for column, value in enumerate(values[:1000])
        if value
    }


def _pdf_text(content: bytes) -> str:
    program = shutil.which("pdftotext")
    if program is None:
        raise NotReadable("reading PDF needs pdftotext: sudo apt-get install -y poppler-utils")
    try:
        ended = subprocess.run([program, "-layout", "-", "-"], input=content, capture_output=True, timeout=PDF_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        raise NotReadable(f"it could not be read within {PDF_LIMIT_S:g} s") from error
    if ended.returncode != 0:
        raise NotReadable("it is no PDF that could be read")
    return ended.stdout.decode("utf-8", errors="replace")


# Packed documents


def _packed(archive: zipfile.ZipFile, content: bytes) -> Document:
    if sum(entry.file_size for entry in archive.infolist()) > MAX_UNPACKED:
        raise NotReadable(f"it holds more than {MAX_UNPACKED} bytes")
    names = archive.namelist()
    if "xl/workbook.xml" in names:
        document = _workbook(content)
    elif "content.xml" in names:
        document = _open_document(ElementTree.fromstring(archive.read("content.xml")))
    else:
        parts = [name for name in names if re.fullmatch(r"word/document\.xml|ppt/slides/slide\d+\.xml", name)]
        if not parts:
            raise NotReadable("it is not a document of a known format")
        parts.sort(key=lambda name: [int(number) for number in re.findall(r"\d+", name)])
        document = Document("\n".join(_runs(ElementTree.fromstring(archive.read(name))) for name in parts))
    return replace(document, features=features_of(archive))


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _runs(root: ElementTree.Element) -> str:
    """Return the text of Office Open XML: runs (`t`) in paragraphs (`p`)."""
    lines = []
    for paragraph in (node for node in root.iter() if _local(node.tag) == "p"):
        parts = ((_local(node.tag), node.text or "") for node in paragraph.iter())
        lines.append("".join(text if tag == "t" else "\t" if tag == "tab" else "" for tag, text in parts))
    return "\n".join(lines)


def _open_document(root: ElementTree.Element) -> Document:
    text = "\n".join(paragraph_text(node) for node in root.iter() if node.tag in _PARAGRAPHS)
    cells: dict[tuple[str, str], tuple[str, ...]] = {}
    sheets = []
    for sheet in root.iterfind(f"{_OFFICE}body/{_OFFICE}spreadsheet/{_TABLE}table"):
        name = sheet.get(f"{_TABLE}name", "")
        sheets.append(name)
        cells |= {(name, address): forms for address, forms in islice(_sheet_cells(sheet), MAX_CELLS)}
    return Document(text, cells, tuple(sheets))


def _sheet_cells(sheet: ElementTree.Element) -> Iterator[tuple[str, tuple[str, ...]]]:
    row = 0
    for line in sheet.iter(f"{_TABLE}table-row"):
        column = 0
        repeated_rows = int(line.get(f"{_TABLE}number-rows-repeated", "1"))
        for cell in line:
            repeated = int(cell.get(f"{_TABLE}number-columns-repeated", "1"))
            forms = _forms(cell)
            if forms:
                for down in range(min(repeated_rows, 1000)):
                    for right in range(min(repeated, 1000)):
                        yield address_of((row + down, column + right)), forms
            column += repeated
        row += repeated_rows


def _forms(cell: ElementTree.Element) -> tuple[str, ...]:
    value = cell.get(f"{_OFFICE}value") or cell.get(f"{_OFFICE}date-value") or cell.get(f"{_OFFICE}boolean-value") or ""
    shown = "\n".join(paragraph_text(node) for node in cell if node.tag in _PARAGRAPHS)
    formula = cell.get(f"{_TABLE}formula", "").partition(":=")[2]
    plain = re.sub(r"\[\.?([^\]]*)\]", lambda match: match[1].replace(":.", ":"), formula)
    return tuple(dict.fromkeys(filter(None, (value, shown, f"={plain}" if plain else ""))))


def _workbook(content: bytes) -> Document:
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    cells: dict[tuple[str, str], tuple[str, ...]] = {}
    sheets: tuple[str, ...] = ()
    try:
        for data_only in (True, False):
            book = load_workbook(io.BytesIO(content), read_only=True, data_only=data_only)
            sheets = tuple(book.sheetnames)
            filled = (
                (sheet.title, cell)
                for sheet in book.worksheets
                for row in sheet.iter_rows()
                for cell in row
                if cell.value not in (None, "")
            )
            for title, cell in islice(filled, MAX_CELLS):
                place = (title, cell.coordinate)
                cells[place] = tuple(dict.fromkeys((*cells.get(place, ()), _value(cell.value))))
    except InvalidFileException as error:
        raise NotReadable(f"it is not a workbook: {error}") from error
    return Document("\n".join(forms[0] for forms in cells.values()), cells, sheets)


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, datetime) and not (value.hour or value.minute or value.second):
        return value.date().isoformat()
    return str(value)
