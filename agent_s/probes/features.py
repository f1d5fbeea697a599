"""What an office document has besides its plain text, as lines such as "Heading 1: Introduction".

Of OpenDocument and Office Open XML: styled paragraphs, direct formatting, headers and footers, tables of contents,
pictures, links, AutoFilters, conditional formats, frozen panes and charts.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from intents.numbers import shows

MAX_FEATURES = 400
_MAX_LINE = 160  # maximum number of characters per line

_NODES = Iterable[ElementTree.Element]
_PLAIN_STYLES = frozenset(
    {"", "Standard", "Text body", "Default Paragraph Style", "Normal", "Body Text", "Header", "Footer"}
)
_FIELDS = frozenset({"page-number", "page-count", "date", "time", "title", "author-name", "file-name"})
_FIELD_CODES = {
    "PAGE": "page number",
    "NUMPAGES": "page count",
    "DATE": "date",
    "TIME": "time",
    "FILENAME": "file name",
}
_SPACES = {"tab": "\t", "line-break": "\n"}
_ESCAPED = re.compile(r"_([0-9a-f]{2,4})_")
# attributes of a style, the values that mean nothing special, and what the others are called; {} is the value
_FORMATS = {
    "font-weight": ({"normal"}, "bold"),
    "font-style": ({"normal"}, "italic"),
    "text-underline-style": ({"none"}, "underlined"),
    "text-line-through-style": ({"none"}, "struck through"),
    "font-size": (set[str](), "{}"),
    "color": ({"auto"}, "colour {}"),
    "background-color": ({"transparent"}, "background {}"),
}
_ALIGNMENTS = {"center": "centered", "end": "right-aligned", "right": "right-aligned", "justify": "justified",
               "both": "justified"}  # fmt: skip
_RUN_FORMATS = {"b": "bold", "i": "italic", "u": "underlined", "strike": "struck through"}
_CHARTS = {"circle": "pie", "ring": "donut", "filled-radar": "net", "radar": "net", "doughnut": "donut"}


def features_of(archive: zipfile.ZipFile) -> tuple[str, ...]:
    """Return the features of a packed document.

    Raises:
        zipfile.BadZipFile, ElementTree.ParseError, ValueError: It is damaged.
    """
    names = archive.namelist()

    def part(name: str) -> ElementTree.Element:
        return ElementTree.fromstring(archive.read(name)) if name in names else ElementTree.Element("none")

    def parts(pattern: str) -> Iterator[tuple[str, ElementTree.Element]]:
        return ((name, part(name)) for name in sorted(names) if re.fullmatch(pattern, name))

    if "content.xml" in names:
        found = _open_document(part("content.xml"), part("styles.xml"), part("settings.xml"))
        charts = (root for _, root in parts(r"Object \d+/content\.xml"))
    else:
        found = _word(part("word/document.xml"), part("word/styles.xml"), parts(r"word/(?:header|footer)\d*\.xml"))
        charts = (root for _, root in parts(r"(?:xl|word|ppt)/charts/chart\d+\.xml"))
    sheets = (line for _, root in parts(r"xl/worksheets/sheet\d+\.xml") for line in _worksheet(root))
    lines = chain(found, sheets, chain.from_iterable(map(_chart, charts)))
    joined = (" ".join(line.split())[:_MAX_LINE] for line in lines)
    return tuple(islice(dict.fromkeys(filter(None, joined)), MAX_FEATURES))


def has(feature: str, wanted: str) -> bool:
    """Return whether a feature contains a text, in its content or, if the text names the kind, as a whole."""
    return shows(feature if ":" in wanted else feature.partition(": ")[2] or feature, wanted)


def paragraph_text(node: ElementTree.Element) -> str:
    """Return the text of an OpenDocument paragraph, without its comments."""
    parts = [node.text or ""]
    for child in node:
        kind = _local(child.tag)
        if kind == "s":
            parts.append(" " * min(100, int(_get(child, "c") or "1")))
        elif kind != "annotation":
            parts.append(_SPACES.get(kind) or paragraph_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _named(root: ElementTree.Element, *names: str) -> _NODES:
    return (node for node in root.iter() if _local(node.tag) in names)


def _get(node: ElementTree.Element, name: str) -> str:
    return next((value for key, value in node.items() if _local(key) == name), "")


def _text(node: ElementTree.Element) -> str:
    return " ".join(paragraph_text(node).split())


# OpenDocument


def _open_document(
    content: ElementTree.Element, styles: ElementTree.Element, settings: ElementTree.Element
) -> Iterator[str]:
    automatic = {
        _get(style, "name"): style
        for group in _named(content, "automatic-styles")
        for style in group
        if _local(style.tag) == "style"
    }
    for body in _named(content, "text"):
        if "office" in body.tag:
            yield from _text_body(body, automatic)
    for page in _named(styles, "master-page"):
        for part in page:
            kind = _local(part.tag)
            fields = [_local(node.tag).replace("-", " ") for node in part.iter() if _local(node.tag) in _FIELDS]
            if kind in ("header", "footer"):
                yield from _margin(kind, _text(part), fields)
    for area in _named(content, "database-range"):
        if _get(area, "display-filter-buttons") == "true":
            yield f"AutoFilter: {_range(area)}"
    for format_ in _named(content, "conditional-format"):
        for rule in format_:
            style, value = _get(rule, "apply-style-name"), _get(rule, "value")
            says = f"{value}, style {_decoded(style)}" if style else _local(rule.tag).replace("-", " ")
            yield f"Conditional formatting of {_range(format_)}: {says}"
    yield from _frozen(settings)


def _margin(kind: str, text: str, fields: list[str]) -> Iterator[str]:
    """Yield the line of a header or footer that is not empty."""
    if text or fields:
        yield f"{kind.capitalize()}: {text}" + (f" ({', '.join(fields)})" if fields else "")


def _text_body(body: ElementTree.Element, automatic: Mapping[str, ElementTree.Element]) -> Iterator[str]:
    listed = {node for index in _named(body, "table-of-content", "alphabetical-index") for node in index.iter()}
    for node in body.iter():
        kind, text = _local(node.tag), _text(node)
        if kind in ("table-of-content", "alphabetical-index"):
            body_of = next(iter(_named(node, "index-body")), node)
            entries = " ".join(map(_text, _named(body_of, "p")))
            yield f"{'Table of contents' if kind == 'table-of-content' else 'Index'}: {entries}"
        elif node in listed:
            continue
        elif kind == "h":
            yield f"Heading {_get(node, 'outline-level')}: {text}"
        elif kind == "table":
            rows, columns = (len(list(_named(node, name))) for name in ("table-row", "table-column"))
            yield f"Table {_get(node, 'name')} of {rows} rows" + (f" and {columns} columns" if columns > 1 else "")
        elif kind == "image":
            yield "Picture"
        elif kind == "a":
            yield f"Link {text}: {_get(node, 'href')}"
        own = automatic.get(_get(node, "style-name")) if kind in ("p", "h", "span") and text else None
        style = _get(own, "parent-style-name") if own is not None else _get(node, "style-name")
        if kind == "p" and text and (named := _decoded(style)) not in _PLAIN_STYLES:
            yield f"{named}: {text}"
        if own is not None and (formats := _formats(own)):
            yield f"{', '.join(formats)}: {text}"


def _formats(style: ElementTree.Element) -> list[str]:
    found = []
    for properties in style:
        for key, value in properties.items():
            none, called = _FORMATS.get(_local(key), ({value}, ""))
            if _local(key) == "text-align":
                found.append(_ALIGNMENTS.get(value, ""))
            elif value not in none:
                found.append(called.format(value))
    return list(dict.fromkeys(filter(None, found)))


def _decoded(style: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), style)


def _range(node: ElementTree.Element) -> str:
    return _get(node, "target-range-address").replace("$", "")


def _frozen(settings: ElementTree.Element) -> Iterator[str]:
    for tables in _named(settings, "config-item-map-named"):
        if _get(tables, "name") == "Tables":
            for sheet in tables:
                items = {_get(item, "name"): item.text or "" for item in sheet}
                for direction, what in (("Vertical", "row"), ("Horizontal", "column")):
                    count = items.get(f"{direction}SplitPosition", "0")
                    if items.get(f"{direction}SplitMode") == "2" and count != "0":
                        yield _frozen_line(what, int(count), _get(sheet, "name"))


def _frozen_line(what: str, count: int, sheet: str = "") -> str:
    which = f"first {what}" if count == 1 else f"first {count} {what}s"
    return f"Frozen: the {which}{f' of sheet {sheet}' if sheet else ''}"


# Office Open XML


def _word(
    document: ElementTree.Element, styles: ElementTree.Element, margins: Iterable[tuple[str, ElementTree.Element]]
) -> Iterator[str]:
    names = {
        _get(style, "styleId"): _get(name, "val")
        for style in _named(styles, "style")
        for name in style
        if _local(name.tag) == "name"
    }
    for gallery in _named(document, "docPartGallery"):
        yield _get(gallery, "val").capitalize()
    for paragraph in _named(document, "p"):
        text = _runs(paragraph)
        own = {_local(node.tag): _get(node, "val") for group in _direct(paragraph, "pPr") for node in group}
        style = names.get(own.get("pStyle", ""), own.get("pStyle", ""))
        if text and style not in _PLAIN_STYLES:
            yield f"{style[:1].upper()}{style[1:]}: {text}"
        if text and (alignment := _ALIGNMENTS.get(own.get("jc", ""))):
            yield f"{alignment}: {text}"
        for run in _direct(paragraph, "r"):
            set_ = {_local(node.tag): _get(node, "val") for group in _direct(run, "rPr") for node in group}
            formats = [name for tag, name in _RUN_FORMATS.items() if set_.get(tag, "0") not in ("0", "false", "none")]
            if formats and (said := _runs(run)):
                yield f"{', '.join(formats)}: {said}"
    for name, root in margins:
        codes = [node.text or _get(node, "instr") for node in _named(root, "instrText", "fldSimple")]
        fields = [_FIELD_CODES[word] for code in codes for word in code.split()[:1] if word in _FIELD_CODES]
        yield from _margin("header" if "header" in name else "footer", _runs(root), fields)


def _direct(node: ElementTree.Element, name: str) -> _NODES:
    return (child for child in node if _local(child.tag) == name)


def _runs(node: ElementTree.Element) -> str:
    return "".join(run.text or "" for run in _named(node, "t"))


def _worksheet(root: ElementTree.Element) -> Iterator[str]:
    for area in _named(root, "autoFilter"):
        yield f"AutoFilter: {_get(area, 'ref')}"
    for format_ in _named(root, "conditionalFormatting"):
        for rule in _named(format_, "cfRule"):
            formulas = " ".join(node.text or "" for node in _named(rule, "formula"))
            kind = _get(rule, "operator") or _get(rule, "type")
            yield f"Conditional formatting of {_get(format_, 'sqref')}: {kind} {formulas}"
    for pane in _named(root, "pane"):
        for key, what in (("ySplit", "row"), ("xSplit", "column")):
            if _get(pane, "state").startswith("frozen") and (count := _get(pane, key)):
                yield _frozen_line(what, int(float(count)))


# Charts


def _chart(root: ElementTree.Element) -> Iterator[str]:
    """Yield a line for a chart: its kind, its title, and the cells that it shows."""
    of_office = [_local(node.tag).removesuffix("Chart") for node in root.iter() if _local(node.tag).endswith("Chart")]
    charts = [_get(node, "class").rpartition(":")[2] for node in _named(root, "chart") if _get(node, "class")]
    if not of_office and not charts:
        return
    kind = (charts or of_office)[0]
    if kind.removesuffix("3D") == "bar":
        flat = any(_get(node, "vertical") == "true" for node in root.iter())
        flat = flat or any(_get(node, "val") == "bar" for node in _named(root, "barDir"))
        kind = "bar" if flat else "column"
    title = next(iter(_named(root, "title")), None)
    keys = ("cell-range-address", "values-cell-range-address")
    cells = [_get(node, key) for key in keys for node in root.iter()]
    cells += [node.text or "" for node in _named(root, "f")]
    shown = " ".join(dict.fromkeys(filter(None, cells))).replace("$", "")
    named = "" if title is None else _text(title)
    yield f"{_CHARTS.get(kind, kind).capitalize()} chart {named!r} of {shown}"
