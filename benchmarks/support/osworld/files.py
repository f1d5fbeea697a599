"""Files of each kind that metrics judge: one that is right, and others that are nearly right, wrong, empty or damaged.

Every function writes its variants into a folder and returns them by name; `equal` is the expected one.
"""

from __future__ import annotations

import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageEnhance, ImageOps

Variants = dict[str, Path]
TEXTS = {
    "equal": "One line of text\nAnother  line, with 12:30:05\nThe last one\n",
    "near": "One line of text\nAnother line, with 12:30:05\nThe last one",
    "capitals": "ONE line of text\nAnother  line, with 12:30:05\nThe last one\n",
    "order": "The last one\nOne line of text\nAnother  line, with 12:30:05\n",
    "different": "Nothing of the kind\n",
    "empty": "",
    "damaged": "One line of text\nAnother",
}


def texts(folder: Path, suffix: str = ".txt", contents: dict[str, str] | None = None) -> Variants:
    """Write text files."""
    found = {}
    for name, content in (contents or TEXTS).items():
        path = folder / name / f"file{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        found[name] = path
    return found


def of_texts(suffix: str, **contents: str) -> Callable[[Path], Variants]:
    """Return a function that writes text files of a kind; the damaged one is cut off, the empty one empty."""
    cut = {"empty": "", "damaged": contents["equal"][: len(contents["equal"]) // 2]}
    return lambda folder: texts(folder, suffix, cut | contents)


def built(suffix: str, **builders: Callable[[Path], None]) -> Callable[[Path], Variants]:
    """Return a function that has files built; the damaged one is the right one, cut off."""

    def write(folder: Path) -> Variants:
        found = texts(folder, suffix, {name: "" for name in (*builders, "empty", "damaged")})
        for name, build in builders.items():
            build(found[name])
        found["damaged"].write_bytes(found["equal"].read_bytes()[: found["equal"].stat().st_size // 2])
        return found

    return write


def document(*lines: str, style: Callable[[Any], None] = lambda document: None) -> Callable[[Path], None]:
    """Return what writes a docx document."""

    def build(path: Path) -> None:
        from docx import Document

        made = Document()
        for line in lines or ("One line.", "Another line.", "References", "Ada, 1843.", "Turing, 1936."):
            made.add_paragraph(line)
        style(made)
        made.save(str(path))

    return build


def _runs(change: Callable[[Any], None], which: slice = slice(None)) -> Callable[[Any], None]:
    def style(made: Any) -> None:
        for paragraph in made.paragraphs[which]:
            for run in paragraph.runs:
                change(run)

    return style


def _set(path: str, value: Any) -> Callable[[Any], None]:
    *owners, name = path.split(".")

    def change(thing: Any) -> None:
        for owner in owners:
            thing = getattr(thing, owner)
        setattr(thing, name, value)

    return change


def _styles() -> dict[str, Callable[[Any], None]]:
    from docx.enum.text import WD_BREAK, WD_COLOR_INDEX
    from docx.shared import Pt

    def picture(made: Any) -> None:
        path = Path(made._picture)
        made.paragraphs[0].runs[0].add_picture(str(path))

    def break_page(made: Any) -> None:
        made.paragraphs[0].runs[0].add_break(WD_BREAK.PAGE)

    def number(made: Any) -> None:
        made.sections[0].footer.paragraphs[0].text = "Page 1"

    def table(made: Any) -> None:
        made.add_table(2, 2).cell(0, 1).text = "x"

    def italic(size: int) -> Callable[[Any], None]:
        def change(run: Any) -> None:
            run.italic, run.font.size = True, Pt(size)

        return change

    return {
        "font": _runs(_set("font.name", "Courier New")),
        "mixed fonts": _runs(_set("font.name", "Courier New"), slice(0, 1)),
        "subscript": _runs(_set("font.subscript", True), slice(0, 1)),
        "strike": _runs(_set("font.strike", True), slice(-1, None)),
        "italic 14": _runs(italic(14)),
        "italic 12": _runs(italic(12)),
        "yellow": _runs(_set("font.highlight_color", WD_COLOR_INDEX.YELLOW), slice(0, 1)),
        "centered": lambda made: _set("alignment", 1)(made.paragraphs[0]),
        "spacing": lambda made: _set("paragraph_format.line_spacing", 2.0)(made.paragraphs[1]),
        "page break": break_page,
        "page number": number,
        "table": table,
    }


def documents(folder: Path) -> Variants:
    """Write docx documents, of other texts and of other styles."""
    lines = ("One line.", "Another line.", "References", "Ada, 1843.", "Turing, 1936.")
    contents = {
        "equal": document(*lines),
        "near": document("One  line.", *lines[1:]),
        "capitals": document("ONE line.", *lines[1:]),
        "order": document(*reversed(lines)),
        "extra blank": document(lines[0], "", *lines[1:]),
        "different": document("Nothing", "of", "it"),
        "references": document(*lines[:3], "Ada, 1844.", "Turing, 1937."),
        "no references": document(*lines[:2]),
    }
    styled = {name: document(*lines, style=style) for name, style in _styles().items()}
    return built(".docx", **contents, **styled)(folder)


def open_documents(folder: Path) -> Variants:
    """Write odt documents with only their content."""

    def write(*lines: str, color: str = "") -> Callable[[Path], None]:
        names = "".join(
            f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
            for prefix, name in (
                *((name, name) for name in ("office", "text", "style", "manifest")),
                ("fo", "xsl-fo-compatible"),
            )
        )
        properties = f'<style:text-properties fo:background-color="{color}"/>' if color else ""
        styles = f'<style:style style:name="T1" style:family="text">{properties}</style:style>'
        body = "".join(f'<text:p><text:span text:style-name="T1">{line}</text:span></text:p>' for line in lines)
        content = (
            f'<office:document-content{names} office:version="1.2"><office:automatic-styles>{styles}'
            f"</office:automatic-styles><office:body><office:text>{body}</office:text></office:body>"
            "</office:document-content>"
        )
        kind = "application/vnd.oasis.opendocument.text"
        entries = "".join(
            f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{media}"/>'
            for path, media in (("/", kind), ("content.xml", "text/xml"))
        )

        def build(path: Path) -> None:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("mimetype", kind)
                archive.writestr("content.xml", content)
                archive.writestr("META-INF/manifest.xml", f"<manifest:manifest{names}>{entries}</manifest:manifest>")

        return build

    return built(
        ".odt",
        equal=write("One line.", "Another."),
        near=write("One  line.", "Another."),
        different=write("Nothing."),
        order=write("Another.", "One line."),
        yellow=write("One line.", "Another.", color="#ffff00"),
        green=write("One line.", "Another.", color="#00ff00"),
    )(folder)


def presentations(folder: Path) -> Variants:
    """Write presentations, each with another aspect changed."""
    from pptx import Presentation
    from pptx.dml.color import RGBColor
    from pptx.enum.text import PP_ALIGN
    from pptx.util import Emu, Pt

    colors: Any = RGBColor

    def write(change: Callable[[Any], None] = lambda slide: None, titles: tuple[str, ...] = ("One", "Two")) -> Any:
        def build(path: Path) -> None:
            made = Presentation()
            for title in titles:
                slide = made.slides.add_slide(made.slide_layouts[1])
                slide.shapes.title.text = title
                slide.placeholders[1].text = "First\nSecond"
            change(made)
            made.save(str(path))

        return build

    def run(made: Any) -> Any:
        return made.slides[0].placeholders[1].text_frame.paragraphs[0].runs[0]

    def background(made: Any) -> None:
        fill = made.slides[0].background.fill
        fill.solid()
        fill.fore_color.rgb = colors.from_string("00FF00")

    def portrait(made: Any) -> None:
        made.slide_width, made.slide_height = made.slide_height, made.slide_width

    def notes(made: Any) -> None:
        made.slides[0].notes_slide.notes_text_frame.text = "A note"

    def transition(made: Any) -> None:
        from lxml import etree

        name = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
        etree.SubElement(etree.SubElement(made.slides[0]._element, f"{name}transition"), f"{name}dissolve")

    line = "slides"
    changes: dict[str, Callable[[Any], None]] = {
        "bold": lambda made: _set("font.bold", True)(run(made)),
        "not bold": lambda made: _set("font.bold", False)(run(made)),
        "italic": lambda made: _set("font.italic", True)(run(made)),
        "underline": lambda made: _set("font.underline", True)(run(made)),
        "size": lambda made: _set("font.size", Pt(40))(run(made)),
        "name": lambda made: _set("font.name", "Arial")(run(made)),
        "red": lambda made: _set("font.color.rgb", colors.from_string("FF0000"))(run(made)),
        "strike": lambda made: run(made).font._element.set("strike", "sngStrike"),
        "right": lambda made: _set("alignment", PP_ALIGN.RIGHT)(
            made.slides[0].placeholders[1].text_frame.paragraphs[0]
        ),
        "left": lambda made: _set("alignment", PP_ALIGN.LEFT)(made.slides[0].placeholders[1].text_frame.paragraphs[0]),
        "indent": lambda made: _set("level", 1)(made.slides[0].placeholders[1].text_frame.paragraphs[1]),
        "moved": lambda made: _set("left", Emu(2_000_000))(made.slides[0].shapes.title),
        "hardly moved": lambda made: _set("top", made.slides[0].shapes.title.top + 100)(made.slides[0].shapes.title),
        "background": background,
        "notes": notes,
        "portrait": portrait,
        "transition": transition,
    }
    assert line
    return built(
        ".pptx",
        equal=write(),
        different=write(titles=("Other", "Two")),
        order=write(titles=("Two", "One")),
        fewer=write(titles=("One",)),
        **{name: write(change) for name, change in changes.items()},
    )(folder)


def workbooks(folder: Path) -> Variants:
    """Write workbooks, with their sheets as CSV files beside them."""
    from openpyxl import Workbook
    from openpyxl.chart import BarChart, LineChart, Reference
    from openpyxl.styles import Font, PatternFill
    from openpyxl.worksheet.datavalidation import DataValidation

    rows: list[list[Any]] = [["Name", "Mark"], ["Ada", 1.5], ["Grace", 2], ["Alan", 3]]

    def write(content: list[list[Any]], change: Callable[[Any], None] = lambda sheet: None) -> Callable[[Path], None]:
        def build(path: Path) -> None:
            book = Workbook()
            sheet: Any = book.active
            sheet.title = "Sheet1"
            for row in content:
                sheet.append(row)
            change(sheet)
            book.save(path)
            printed = "\n".join(",".join(map(str, row)) for row in content)
            path.with_name(f"{path.stem}-Sheet1.csv").write_text(f"{printed}\n")

        return build

    def chart(kind: Any, title: str = "Marks") -> Callable[[Any], None]:
        def change(sheet: Any) -> None:
            made = kind()
            made.title = title
            made.add_data(Reference(sheet, min_col=2, min_row=1, max_row=4), titles_from_data=True)
            sheet.add_chart(made, "E2")

        return change

    def validation(sheet: Any) -> None:
        one = DataValidation(type="list", formula1='"Pass,Fail"')
        sheet.add_data_validation(one)
        one.add("C2:C4")

    def bold(sheet: Any) -> None:
        sheet["A1"].font = Font(bold=True, name="Arial", color="FFFF0000")
        sheet["A1"].fill = PatternFill("solid", fgColor="FF00FF00")

    def hidden(sheet: Any) -> None:
        sheet.row_dimensions[2].hidden = True

    changes: dict[str, Callable[[Any], None]] = {
        "bar": chart(BarChart),
        "bar of another title": chart(BarChart, "Others"),
        "line": chart(LineChart),
        "validation": validation,
        "bold": bold,
        "hidden": hidden,
        "frozen": lambda sheet: _set("freeze_panes", "A2")(sheet),
        "zoomed": lambda sheet: _set("sheet_view.zoomScale", 150)(sheet),
        "filtered": lambda sheet: _set("auto_filter.ref", "A1:B4")(sheet),
        "other sheet": lambda sheet: _set("title", "Other")(sheet),
    }
    return built(
        ".xlsx",
        equal=write(rows),
        near=write([*rows[:1], ["Ada", 1.50000001], *rows[2:]]),
        almost=write([*rows[:1], ["ada ", 1.6], *rows[2:]]),
        order=write([rows[0], *reversed(rows[1:])]),
        different=write([["Nothing"]]),
        **{name: write(rows, change) for name, change in changes.items()},
    )(folder)


def pictures(folder: Path) -> Variants:
    """Write pictures of a gradient with shapes, changed in brightness, color, size or content."""
    base = Image.linear_gradient("L").resize((96, 96)).convert("RGB")
    draw = ImageDraw.Draw(base)
    draw.rectangle((16, 16, 40, 70), fill=(200, 40, 60))
    draw.ellipse((50, 30, 86, 66), fill=(40, 120, 200))
    noise = Image.effect_noise((96, 96), 90).convert("RGB")
    triangle = Image.new("RGB", (96, 96), "white")
    ImageDraw.Draw(triangle).polygon([(48, 30), (30, 66), (66, 66)], fill="yellow", outline="black")
    corner = Image.new("RGB", (96, 96), "white")
    ImageDraw.Draw(corner).polygon([(10, 0), (0, 20), (20, 20)], fill="yellow", outline="black")
    clear = Image.new("RGBA", (128, 128), (0, 0, 0, 0))
    clear.paste(base.convert("RGBA"), (16, 16))
    mask = Image.new("RGB", (96, 96), "black")
    ImageDraw.Draw(mask).rectangle((0, 0, 30, 30), fill="white")
    green = mask.copy()
    ImageDraw.Draw(green).rectangle((0, 0, 30, 30), fill=(10, 200, 10))
    made = {
        "equal": base,
        "near": ImageEnhance.Brightness(base).enhance(1.01),
        "darker": ImageEnhance.Brightness(base).enhance(0.6),
        "lighter": ImageEnhance.Brightness(base).enhance(1.3),
        "colorful": ImageEnhance.Color(base).enhance(1.6),
        "contrast": ImageEnhance.Contrast(base).enhance(1.3),
        "sharper": ImageEnhance.Sharpness(base).enhance(2.5),
        "blurred": ImageEnhance.Sharpness(base).enhance(0.0),
        "mirrored": ImageOps.mirror(base),
        "smaller": base.resize((48, 48)),
        "palette": base.quantize(64),
        "gray": base.convert("L"),
        "different": noise,
        "triangle": triangle,
        "corner": corner,
        "transparent": clear,
        "mask": mask,
        "green": green,
    }
    return built(".png", **{name: _saving(image) for name, image in made.items()})(folder)


def _saving(image: Image.Image) -> Callable[[Path], None]:
    return lambda path: image.save(path)


def pdf(*pages: str) -> Callable[[Path], None]:
    """Return what writes a PDF with a line of text on each page."""

    def build(path: Path) -> None:
        kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
        objects = [
            "<</Type/Catalog/Pages 2 0 R>>",
            f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
            "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        ]
        for number, text in enumerate(pages):
            font = f"/Contents {5 + 2 * number} 0 R/Resources<</Font<</F 3 0 R>>>>"
            objects.append(f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 200]{font}>>")
            stream = f"BT /F 12 Tf 20 100 Td ({text}) Tj ET"
            objects.append(f"<</Length {len(stream)}>> stream\n{stream}\nendstream")
        content, places = "%PDF-1.4\n", []
        for number, body in enumerate(objects, 1):
            places.append(len(content))
            content += f"{number} 0 obj {body} endobj\n"
        table = "".join(f"{place:010d} 00000 n \n" for place in places)
        end = (
            f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer <</Root 1 0 R/Size {len(objects) + 1}>>\n"
        )
        path.write_text(f"{content}{end}startxref\n{len(content)}\n%%EOF\n")

    return build


def pdfs(folder: Path) -> Variants:
    """Write PDF files."""
    return built(
        ".pdf",
        equal=pdf("Hello world of text", "Second page"),
        near=pdf("Hello world of test", "Second page"),
        different=pdf("Nothing"),
        order=pdf("Second page", "Hello world of text"),
        longer=pdf("Hello world of text", "Second page", "Third page"),
    )(folder)


def archives(folder: Path) -> Variants:
    """Write zip archives of text files."""

    def write(**members: str) -> Callable[[Path], None]:
        def build(path: Path) -> None:
            with zipfile.ZipFile(path, "w") as archive:
                for name, content in members.items():
                    archive.writestr(f"{name}.txt", content)

        return build

    return built(
        ".zip",
        equal=write(a="one", b="two"),
        near=write(a="one", b="two "),
        different=write(a="three", b="four"),
        order=write(b="two", a="one"),
        fewer=write(a="one"),
        renamed=write(a="one", c="two"),
    )(folder)


def databases(folder: Path) -> Variants:
    """Write SQLite databases."""

    def write(*numbers: int) -> Callable[[Path], None]:
        def build(path: Path) -> None:
            path.unlink(missing_ok=True)
            with closing(sqlite3.connect(path)) as database:
                database.execute("CREATE TABLE marks (mark INTEGER)")
                database.executemany("INSERT INTO marks VALUES (?)", [(number,) for number in numbers])
                database.commit()

        return build

    return built(".sqlite", equal=write(1, 2), near=write(1), different=write(7), order=write(2, 1), no_rows=write())(
        folder
    )


def books(folder: Path) -> Variants:
    """Write epub books."""

    def write(*chapters: str, title: str = "Book") -> Callable[[Path], None]:
        def build(path: Path) -> None:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("toc.ncx", f"<ncx>\n<navPoint id='x'/>\n<docTitle>{title}</docTitle>\n</ncx>\n")
                archive.writestr(
                    "content.opf", f"<package>\n<dc:identifier>{title}</dc:identifier>\n<x/>\n</package>\n"
                )
                for number, text in enumerate(chapters):
                    archive.writestr(f"{number}.html", f"<html><body><p>{text}</p><p>same</p></body></html>")

        return build

    return built(
        ".epub",
        equal=write("One", "Two"),
        near=write("One", "Too"),
        order=write("Two", "One"),
        different=write("x", title="Other"),
        longer=write("One", "Two", "Three"),
    )(folder)
