"""What office documents have besides their plain text."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from openpyxl import Workbook
from openpyxl.chart import BarChart, LineChart, Reference
from openpyxl.formatting.rule import CellIsRule

from agent_s.probes.documents import read_document
from agent_s.probes.prober import Prober
from agent_s.probes.requests import TextProbe

NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "style", "text", "table", "chart", "config", "drawing", "calcext")
) + ' xmlns:fo="urn:fo" xmlns:xlink="urn:xlink"'  # fmt: skip
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def document(**parts: str) -> bytes:
    """Return a packed document with these parts; in their names, __ stands for a slash and _xml for the suffix."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml").replace("Object_", "Object "), content)
    return packed.getvalue()


def open_document(body: str, styles: str = "", **parts: str) -> bytes:
    content = (
        f"<office:document-content {NAMESPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body>{body}</office:body></office:document-content>"
    )
    return document(content_xml=content, **parts)


def style(name: str, parent: str = "", **properties: str) -> str:
    said = " ".join(f'fo:{key.replace("_", "-")}="{value}"' for key, value in properties.items())
    return (
        f'<style:style style:name="{name}" style:parent-style-name="{parent}">'
        f"<style:text-properties {said}/></style:style>"
    )


LETTER = open_document(
    """<office:text><text:p text:style-name="P1">City Gardens</text:p>
    <text:table-of-content><text:index-body><text:p text:style-name="Contents_20_1">Parks<text:tab/>1</text:p>
    </text:index-body></text:table-of-content>
    <text:h text:style-name="Heading_20_1" text:outline-level="1">Parks</text:h>
    <text:p text:style-name="Standard">Ten <text:span text:style-name="T1">new</text:span> <text:a
      xlink:href="https://example.org/">parks</text:a></text:p>
    <text:p text:style-name="P2">The end</text:p>
    <table:table table:name="Costs"><table:table-column/><table:table-column/><table:table-row/></table:table>
    <text:p><drawing:frame><drawing:image/></drawing:frame></text:p>
    </office:text>""",
    style("P1", "Title")
    + style("P2", "Standard", text_align="center", font_weight="normal")
    + style("T1", font_weight="bold", font_style="italic", font_size="14pt", color="#ff0000"),
    styles_xml=f"""<office:document-styles {NAMESPACES}><office:master-styles><style:master-page style:name="A">
      <style:header><text:p/></style:header>
      <style:footer><text:p>Page <text:page-number>1</text:page-number></text:p></style:footer>
    </style:master-page></office:master-styles></office:document-styles>""",
)


def test_styles_formats_margins_and_objects_of_a_letter() -> None:
    assert read_document(LETTER).features == (
        "Title: City Gardens",
        "Table of contents: Parks 1",
        "Heading 1: Parks",
        "bold, italic, 14pt, colour #ff0000: new",
        "Link parks: https://example.org/",
        "centered: The end",
        "Table Costs of 1 rows and 2 columns",
        "Picture",
        "Footer: Page 1 (page number)",
    )


def test_filters_conditional_formats_frozen_rows_and_charts_of_an_open_document_sheet() -> None:
    sheet = open_document(
        """<office:spreadsheet><table:table table:name="Sales"><calcext:conditional-formats>
        <calcext:conditional-format calcext:target-range-address="Sales.$D$2:Sales.$D$9">
        <calcext:condition calcext:apply-style-name="Good_20_one" calcext:value="&gt;100"/><calcext:color-scale/>
        </calcext:conditional-format></calcext:conditional-formats></table:table><table:database-ranges>
        <table:database-range table:target-range-address="Sales.A1:Sales.D9" table:display-filter-buttons="true"/>
        <table:database-range table:target-range-address="Sales.F1:Sales.F9"/></table:database-ranges>
        </office:spreadsheet>""",
        settings_xml=f"""<office:settings {NAMESPACES}><config:config-item-map-named config:name="Tables">
        <config:config-item-map-entry config:name="Sales">
        <config:config-item config:name="VerticalSplitMode">2</config:config-item>
        <config:config-item config:name="VerticalSplitPosition">1</config:config-item>
        <config:config-item config:name="HorizontalSplitMode">0</config:config-item>
        <config:config-item config:name="HorizontalSplitPosition">3</config:config-item>
        </config:config-item-map-entry></config:config-item-map-named></office:settings>""",
        Object_1__content_xml=f"""<office:chart {NAMESPACES}><chart:chart chart:class="chart:bar"><chart:title>
        <text:p>By product</text:p></chart:title><chart:plot-area table:cell-range-address="Sales.C1:Sales.D9"/>
        </chart:chart></office:chart>""",
    )
    assert read_document(sheet).features == (
        "AutoFilter: Sales.A1:Sales.D9",
        "Conditional formatting of Sales.D2:Sales.D9: >100, style Good one",
        "Conditional formatting of Sales.D2:Sales.D9: color scale",
        "Frozen: the first row of sheet Sales",
        "Column chart 'By product' of Sales.C1:Sales.D9",
    )


def test_the_same_of_a_workbook(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Product", "Sales"])
    sheet.append(["Apples", 7])
    sheet.auto_filter.ref, sheet.freeze_panes = "A1:B2", "B3"
    sheet.conditional_formatting.add("B2:B2", CellIsRule(operator="greaterThan", formula=["100"]))
    for chart, title in ((BarChart(), "Bars"), (LineChart(), "Lines")):
        chart.title = title
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=2), titles_from_data=True)
        sheet.add_chart(chart)
    book.save(tmp_path / "a.xlsx")
    assert read_document((tmp_path / "a.xlsx").read_bytes()).features == (
        "AutoFilter: A1:B2",
        "Conditional formatting of B2: greaterThan 100",
        "Frozen: the first 2 rows",
        "Frozen: the first column",
        "Column chart 'Bars' of 'Sheet'!B1 'Sheet'!B2",
        "Line chart 'Lines' of 'Sheet'!B1 'Sheet'!B2",
    )


def test_styles_formats_and_margins_of_a_word_document() -> None:
    letter = document(
        word__document_xml=f"""<w:document {WORD}><w:docPartGallery w:val="Table of Contents"/>
        <w:p><w:pPr><w:pStyle w:val="Heading1"/><w:jc w:val="center"/></w:pPr><w:r><w:t>Parks</w:t></w:r></w:p>
        <w:p><w:r><w:rPr><w:b/><w:u w:val="none"/></w:rPr><w:t>New</w:t></w:r><w:r><w:t> parks</w:t></w:r></w:p>
        </w:document>""",
        word__styles_xml=f"""<w:styles {WORD}><w:style w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>
        </w:styles>""",
        word__footer1_xml=f"""<w:ftr {WORD}><w:p><w:r><w:instrText> PAGE </w:instrText></w:r></w:p></w:ftr>""",
        word__header1_xml=f"""<w:hdr {WORD}><w:p><w:r><w:t>Draft</w:t></w:r></w:p></w:hdr>""",
    )
    assert read_document(letter).features == (
        "Table of contents",
        "Heading 1: Parks",
        "centered: Parks",
        "bold: New",
        "Footer: (page number)",
        "Header: Draft",
    )


def test_a_feature_is_found_by_its_content_or_with_its_kind(tmp_path: Path) -> None:
    (tmp_path / "letter.odt").write_bytes(LETTER)
    prober = Prober(tmp_path, "Write letter.odt", 0.0)
    asked = ("Heading 1: Parks", "Heading 2: Parks", "Page 1", "Title", "Footer")
    results = [prober.probe(TextProbe(path="letter.odt", text=text)) for text in asked]
    assert [result.holds for result in results] == [True, False, True, False, False]
    assert results[0].features[0] == "Heading 1: Parks"
    assert results[1].features[0] == "Title: City Gardens"
