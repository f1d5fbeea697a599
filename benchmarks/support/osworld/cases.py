"""The cases: each metric on variants of the files or values that it judges, with each of some rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.support.osworld import files
from benchmarks.support.osworld.files import Variants, of_texts


@dataclass(frozen=True, slots=True)
class Case:
    """One call of a metric."""

    metric: str  # its name
    label: str  # the variant that is judged, and the number of the rules
    result: Any  # what it judges
    expected: Any = None  # a file, rules, or None
    options: dict[str, Any] = field(default_factory=dict)
    original: Any = None  # what the original judges, if that has another shape


XCU = (
    '<oor:items xmlns:oor="http://openoffice.org/2001/registry">'
    '<item oor:path="/org.openoffice.Office.{}"><prop oor:name="{}"><value>{}</value></prop></item></oor:items>'
)
SAVING = ("Common/Save/Document", "AutoSaveTimeIntervall")
SCREEN = ("Impress/Misc/Start", "EnablePresenterScreen")
FONT = ("Writer/DefaultFont", "Standard")
FILTER = 'version="9"\nname="A"\nenabled="yes"\ntype="17"\naction="{}"\nactionValue="x"\ncondition="ALL"\n'
PAGE = "<html><head><style>p {{ background-image: url('{}') }}</style></head><body><p class='a'>{}</p><p>b</p></body></html>"
STATUS = "<root><state>{}</state><information><category name='meta'><info name='filename'>{}</info></category></information></root>"
TREE = '<desktop-frame xmlns:st="https://accessibility.ubuntu.example.org/ns/state"><application name="A">{}</application></desktop-frame>'

FAMILIES: dict[str, Callable[[Path], Variants]] = {
    "text": files.texts,
    "csv": of_texts(
        ".csv",
        equal="name,mark\nAda,1\nAlan,2\n",
        near="name,mark\nAda ,1\nAlan,2\n",
        capitals="Name,mark\nada,1\nAlan,2\n",
        order="name,mark\nAlan,2\nAda,1\n",
        different="x,y\n1,2\n",
    ),
    "json": of_texts(
        ".json",
        equal='{"a": 1, "b": {"c": "text"}, "d": [1, 2]}',
        near='{"a": 1.0, "b": {"c": "texts"}, "d": [1, 2]}',
        order='{"d": [2, 1], "b": {"c": "text"}, "a": 1}',
        different='{"x": null}',
        listed='[{"key": "ctrl+f", "command": "find"}]',
        other='[{"key": "ctrl+g", "command": "find"}]',
    ),
    "yaml": of_texts(
        ".yaml",
        equal="a: 1\nb: {c: text}\n",
        near="a: 2\nb: {c: text}\n",
        order="b: {c: text}\na: 1\n",
        different="x: 1\n",
    ),
    "python": of_texts(
        ".py",
        equal="#!/usr/bin/python\ndef f():\n    return 1\n",
        near="def f():\n\n    return 1  \n",
        tabs="def f():\n\treturn 1\n",
        different="def g():\n    return 2\n",
        order="    return 1\ndef f():\n",
    ),
    "number": of_texts(
        ".txt", equal="3.14159\n", near="3.14160", different="4", words="The result is 3.14159.", order="951413"
    ),
    "html": of_texts(
        ".html",
        equal=PAGE.format("a.png", "x"),
        near=PAGE.format("a.png", "x "),
        different=PAGE.format("b.png", "y"),
        order="<html><body><p>b</p><p class='a'>x</p></body></html>",
    ),
    "saving": of_texts(
        ".xcu",
        equal=XCU.format(*SAVING, 3),
        near=XCU.format(*SAVING, 4),
        different=XCU.format(*FONT, 3),
        order=XCU.format(*SAVING, 30),
    ),
    "screen": of_texts(
        ".xcu",
        equal=XCU.format(*SCREEN, "false"),
        near=XCU.format(*SCREEN, "true"),
        different=XCU.format(*FONT, "false"),
        order=XCU.format(*SCREEN, "no"),
    ),
    "font": of_texts(
        ".xcu",
        equal=XCU.format(*FONT, "Arial"),
        near=XCU.format(*FONT, "Arial Black"),
        different=XCU.format(*SAVING, "Arial"),
        order=XCU.format(*FONT, "lairA"),
    ),
    "gimp": of_texts(
        ".rc",
        equal='# GIMP\n(layer-new-name "Square")\n(hide-docks yes)\n(history-item "filters-vignette" 1)\n',
        near='(layer-new-name "Squares")\n(hide-docks no)\n',
        order='(hide-docks yes)\n(layer-new-name "Square")\n',
        different='(theme "Dark")\n',
    ),
    "vlc": of_texts(
        ".rc",
        equal="# comment\nqt-max-volume=200\nqt-bgcone=0\nqt-minimal-view=1\ninput-record-path=/a\nglobal-key-play-pause=p\n"
        "one-instance-when-started-from-file=0\nqt-slider-colours=0;0;0;9;9;9\n",
        near="qt-max-volume=201\nqt-bgcone=1\nqt-minimal-view=0\ninput-record-path=/a/b\n#global-key-play-pause=\n"
        "qt-slider-colours=0;0;200;9;9;9\n",
        commented="#qt-max-volume=125\n#qt-bgcone=1\n#qt-minimal-view=0\n#input-record-path=\n",
        order="qt-bgcone=0\nqt-max-volume=200\n",
        different="volume=1\n",
    ),
    "prefs": of_texts(
        ".js",
        equal='user_pref("a.theme", "dark");\nuser_pref("b", true);\n',
        near='user_pref("a.theme", "darker");\nuser_pref("b", true);\n',
        order='user_pref("b", true);\nuser_pref("a.theme", "dark");\n',
        different='user_pref("c", 1);\n',
        switched='user_pref("a.theme", "dark");\nuser_pref("b", false);\n',
    ),
    "filter": of_texts(
        ".dat",
        equal=FILTER.format("Forward"),
        near=FILTER.format("Forwards"),
        different=FILTER.format("Delete"),
        order=FILTER.format("Delete") + FILTER.format("Forward").partition("\n")[2],
    ),
    "mbox": of_texts(
        "",
        equal="From - 1\nX-Mozilla-Status: 0001\nSubject: a\n\nA\nFrom - 2\nX-Mozilla-Status: 0001\nSubject: b\n\nB\n",
        near="From - 1\nX-Mozilla-Status: 0001\nSubject: a\n\nA!\n",
        different="From - 1\nSubject: z\n\nZ\n",
        order="From - 2\nX-Mozilla-Status: 0001\nSubject: b\n\nB\nFrom - 1\nX-Mozilla-Status: 0001\nSubject: a\n\nA\n",
    ),
    "status": of_texts(
        ".xml",
        equal=STATUS.format("playing", "film.mp4"),
        near=STATUS.format("paused", "film.mp4"),
        different=STATUS.format("playing", "song.mp3"),
        path=STATUS.format("playing", "/a/film.mp4"),
        address=STATUS.format("playing", "https://asite.com/film.mp4"),
    ),
    "docx": files.documents,
    "odt": files.open_documents,
    "pptx": files.presentations,
    "xlsx": files.workbooks,
    "png": files.pictures,
    "pdf": files.pdfs,
    "zip": files.archives,
    "sqlite": files.databases,
    "epub": files.books,
}

PAIRS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "compare_text_file": ("text", [{}, {"ignore_blanks": True}, {"ignore_case": True}]),
    "diff_text_file": ("text", [{}]),
    "compare_csv": ("csv", [{}, {"strict": False}, {"ignore_case": True}]),
    "compare_python_pure_text": ("python", [{}]),
    "compare_result_files": ("number", [{}]),
    "compare_htmls": ("html", [{}]),
    "compare_epub": ("epub", [{}]),
    "compare_docx_files": (
        "docx",
        [
            {},
            {"ignore_blanks": False},
            {"ignore_case": True},
            {"ignore_order": True},
            {"content_only": True},
            {"fuzzy_match": True},
            {"delete_empty_lines": True, "ignore_blanks": False},
        ],
    ),
    "compare_docx_files_and_ignore_new_lines": ("docx", [{}, {"ignore_blanks": False}]),
    "compare_init_lines": ("docx", [{}]),
    "compare_docx_tables": ("docx", [{}]),
    "compare_docx_images": ("docx", [{}]),
    "compare_line_spacing": ("docx", [{}]),
    "compare_insert_equation": ("docx", [{}]),
    "compare_subscript_contains": ("docx", [{}]),
    "compare_contains_image": ("docx", [{}]),
    "compare_highlighted_text": ("docx", [{}]),
    "check_italic_font_size_14": ("docx", [{}]),
    "evaluate_strike_through_last_paragraph": ("docx", [{}]),
    "compare_references": ("docx", [{}, {"reference_base_result": 0.9}]),
    "check_highlighted_words": ("odt", [{}]),
    "compare_pptx_files": (
        "pptx",
        [
            {},
            {"examine_shape": False},
            {"examine_bullets": False},
            {"examine_font_bold": False},
            {"examine_alignment": False},
            {"examine_right_position": True, "examine_shape": False},
        ],
    ),
    "check_image_stretch_and_center": ("pptx", [{}]),
    "compare_images": ("png", [{}, {"reference_base_result": 0.5}]),
    "compare_image_list": ("png", [{}]),
    "check_structure_sim": ("png", [{}]),
    "check_structure_sim_resized": ("png", [{}]),
    "check_file_exists_and_structure_sim": ("png", [{}]),
    "check_brightness_decrease_and_structure_sim": ("png", [{}]),
    "check_contrast_increase_and_structure_sim": ("png", [{}]),
    "check_saturation_increase_and_structure_sim": ("png", [{}]),
    "check_palette_and_structure_sim": ("png", [{}]),
    "check_image_mirror": ("png", [{}]),
    "check_green_background": ("png", [{}]),
    "check_sharper": ("png", [{}]),
    "compare_pdfs": ("pdf", [{}]),
    "compare_pdf_images": ("pdf", [{}]),
    "compare_archive": ("zip", [{}]),
    "compare_zip_files": ("zip", [{}]),
    "check_thunderbird_folder": ("mbox", [{}]),
}
"""Metrics of two files, their kind, and options; each variant is judged against the right one, and the right one against it."""

_EXPECT_JSON = [{"key": ["a"], "method": "eq", "ref": 1}, {"key": ["b", "c"], "method": "re", "ref": "^text$"}]
RULES: dict[str, tuple[str, list[Any]]] = {
    "check_list": (
        "text",
        [{"expect": [r"^One", r"\d\d:\d\d"]}, {"unexpect": ["Another"]}, {"expect": ["last"], "unexpect": ["None"]}],
    ),
    "file_contains": ("text", [{"expected": ["One line", "last"]}, {"expected": ["absent"]}]),
    "check_line_number": ("text", [{"expected": "1"}, {"expected": 0}]),
    "compare_config": ("text", [{"expected": files.TEXTS["equal"]}, {"expected": ""}]),
    "check_csv": ("csv", [{"expect": [{"name": "Ada", "mark": "1"}]}, {"unexpect": [{"name": "Alan"}]}]),
    "check_json": (
        "json",
        [
            {"expect": _EXPECT_JSON},
            {"unexpect": [_EXPECT_JSON[0]]},
            {"expect": [{"key": ["d", 0], "method": "le", "ref": 1}]},
        ],
    ),
    "check_json_settings": ("json", [{"expected": {"a": 1}}, {"expected": {"b": {"c": "text"}}}, {"expected": {}}]),
    "check_json_keybindings": ("json", [{"expected": {"key": "ctrl+f", "command": "find"}}]),
    "run_sqlite3": ("sqlite", [{"sql": "select sum(mark) > 2 from marks"}, {"sql": "select count(*) from marks"}]),
    "check_html_background_image": ("html", [{"value": "a.png"}, {"value": "c.png"}]),
    "check_auto_saving_time": ("saving", [{"minutes": 3}]),
    "check_presenter_console_disable": ("screen", [None]),
    "find_default_font": ("font", [{"font_name": "Arial"}]),
    "check_config_status": (
        "gimp",
        [
            {"key": "hide-docks", "value": "yes"},
            {"key": "layer-new-name", "value": '"Square"'},
            {"key": ["history-item", '"filters-vignette"'], "value": "1"},
        ],
    ),
    "check_qt_max_volume": ("vlc", [{"expected_qt_max_volume": 200}, {"expected_qt_max_volume": "125"}]),
    "check_qt_bgcone": ("vlc", [{"expected_qt_bgcone": 0}, {"expected_qt_bgcone": "1"}]),
    "check_qt_minimal_view": ("vlc", [{"expected_qt_minimal_view": 1}, {"expected_qt_minimal_view": 0}]),
    "check_qt_slider_colours": (
        "vlc",
        [{"type": "blackish"}, {"type": "match", "expected_qt_slider_colours": "0;0;0;9;9;9"}],
    ),
    "check_global_key_play_pause": (
        "vlc",
        [{"expected_global_key_play_pause": 1}, {"expected_global_key_play_pause": "0"}],
    ),
    "check_one_instance_when_started_from_file": ("vlc", [{"expected_one_instance_when_started_from_file": 0}]),
    "is_vlc_recordings_folder": ("vlc", [{"recording_file_path": "/a"}]),
    "is_vlc_playing": (
        "status",
        [{"type": "file_name", "file_name": "film.mp4"}, {"type": "url", "url": "https://asite.com/film.mp4"}],
    ),
    "check_thunderbird_prefs": (
        "prefs",
        [
            {"expect": {"a.theme": {"method": "re", "ref": "dark$"}}},
            {"expect": {"a.theme": {"method": "eq", "ref": "dark"}}, "unexpect": {"b": {"method": "eq", "ref": False}}},
        ],
    ),
    "check_thunderbird_filter": (
        "filter",
        [
            {"expect": [{"enabled": "yes", "action": "Forward", "condition": ["ALL"]}]},
            {"unexpect": [{"action": "Delete"}]},
        ],
    ),
    "compare_font_names": ("docx", [{"font_name": "Courier New"}]),
    "contains_page_break": ("docx", [{}, {"page_break_count": 2}]),
    "has_page_numbers_in_footers": ("docx", [None]),
    "is_first_line_centered": ("docx", [None]),
    "fuzzy_place_math": ("docx", [{"expected": ["Nothing", "of", "it"]}]),
    "check_slide_orientation_Portrait": ("pptx", [None]),
    "check_transition": (
        "pptx",
        [{"slide_idx": 0, "transition_type": "dissolve"}, {"slide_idx": 7, "transition_type": "fade"}],
    ),
    "check_page_number_colors": ("pptx", [{"color": "red"}]),
    "check_image_size": (
        "png",
        [{"width": 96, "height": 96}, {"height": 48}, {"width": 96, "ignore_transparent": True}],
    ),
    "check_image_file_size": ("png", [{"max_size": 3000}]),
    "check_triangle_position": ("png", [None]),
    "check_pdf_pages": ("pdf", [{"relation": "eq", "ref_value": 2}, {"relation": "lt", "ref_value": 2}]),
    "compare_conference_city_in_order": ("xlsx", [{"expected": ["a"] * 21}]),
}
"""Metrics of one file with rules."""

_CELL = {"type": "check_cell", "sheet_idx": 0}
TABLE_RULES: list[dict[str, Any]] = [
    {"type": "sheet_name"},
    {"type": "sheet_data", "sheet_idx0": 0, "sheet_idx1": "EI0"},
    {"type": "sheet_data", "sheet_idx0": "RNSheet1", "sheet_idx1": "ENSheet1", "precision": 0},
    {"type": "sheet_print", "sheet_idx0": "RNSheet1", "sheet_idx1": "ENSheet1", "ignore_case": True},
    {
        "type": "sheet_fuzzy",
        "sheet_idx0": 0,
        "sheet_idx1": "EI0",
        "rules": [{"range": ["A1:B4"], "type": "exact_match"}],
    },
    {
        "type": "sheet_fuzzy",
        "sheet_idx0": 0,
        "sheet_idx1": "EI0",
        "rules": [
            {"range": ["A2:A4"], "type": "fuzzy_match", "threshold": 60, "ignore_case": True, "trim_trailings": " "}
        ],
    },
    {"type": "chart", "sheet_idx0": 0, "sheet_idx1": "EI0", "chart_props": ["type", "title", "legend"]},
    {"type": "freeze", "sheet_idx0": 0, "sheet_idx1": "EI0"},
    {"type": "filter", "sheet_idx0": 0, "sheet_idx1": "EI0"},
    {"type": "row_props", "sheet_idx0": 0, "sheet_idx1": "EI0", "props": ["hidden"]},
    {"type": "pivot_table", "sheet_idx0": 0, "sheet_idx1": "EI0", "pivot_props": ["col_fields"]},
    {"type": "style", "sheet_idx0": 0, "sheet_idx1": "EI0", "props": ["font_bold", "font_name", "bgcolor"]},
    {"type": "zoom", "sheet_idx": 0, "method": "gt", "ref": 100},
    {
        "type": "data_validation",
        "sheet_idx": 0,
        "dv_props": [
            {
                "ranges": {"method": "spreadsheet_range", "ref": ["C2:C4", "C2:C99"]},
                "formula1": {"method": "str_set_eq", "ref": ["Fail", "Pass"]},
            }
        ],
    },
    {**_CELL, "coordinate": "B2", "props": {"value": {"method": "approx:0.01", "ref": 1.5}}},
    {**_CELL, "coordinate": "B2", "props": {"value": {"method": "range.te", "ref": [1, 1.5]}}},
    {
        **_CELL,
        "coordinate": "A1",
        "props": {"font_bold": {"method": "eq", "ref": True}, "fgcolor": {"method": "eq", "ref": "FF00FF00"}},
    },
    {**_CELL, "coordinate": "A2", "props": {"value": {"method": "re", "ref": "^Ada"}}},
]

_TIME = (
    "               Local time: Thu 2024-01-25 12:56:06 {0}\n           Universal time: Thu 2024-01-25 12:56:06 UTC\n"
    "                 RTC time: Thu 2024-01-25 12:56:05\n                Time zone: Etc/UTC ({0}, {1})\n"
)
_TABS = [{"title": "A", "url": "https://asite.com/x"}, {"title": "B", "url": "http://www.bsite.com"}]
_BOOKMARKS = {
    "bookmark_bar": {
        "children": [
            {
                "type": "folder",
                "name": "Liked Authors",
                "children": [{"type": "url", "name": "1", "url": "https://asite.com/"}],
            },
            {"type": "url", "name": "x", "url": "https://bsite.com/"},
        ]
    }
}
_JSON = {"a": "one", "b": [1, 2], "c": None}
_TREES = [
    TREE.format('<text name="N">Ada</text>'),
    TREE.format('<text name="N">Adam</text>'),
    TREE.format(""),
    TREE.format('<text name="M" st:focused="true">Ada</text>'),
    TREE.format('<list/><text name="N">Ada</text>'),
]
VALUES: dict[str, tuple[list[Any], list[Any], list[dict[str, Any]]]] = {
    "exact_match": (["a\n", "a", "A", "", ["a"], 3, {"a": 1}, "b a"], [{"expected": "a"}, {"expected": ["a"]}, {"expected": 3.0}], [{}]),
    "match_in_list": (["a", "b", "ab", "", 1, "B"], [{"expected": ["a", "b"]}], [{}]),
    "literal_match": (["a", "A", "", 1, "1", "a "], ["a", "1"], [{}, {"ignore_case": True}]),
    "is_in_list": (["abc", "", "cab", ["a"], ["b", "a"], "A"], [{"expected": "a"}], [{}]),
    "fuzzy_match": (["abc", "abd", "", "xyz", "cba", "ABC"], [{"expected": "abc"}], [{}]),
    "check_include_exclude": (["use terminal", "use", "", "terminal use", "USE", "use terminal, none"], [{"include": ["use", "terminal"]}, {"include": ["use"], "exclude": ["none"]}, {"exclude": ["use"]}], [{}]),
    "check_direct_json_object": ([_JSON, {"a": "one"}, {}, {"a": "On", "b": [2, 1]}, '{"a": "one", "b": [1, 2]}', {"b": [1, 2], "a": "one two"}, "{'a': 'one'}"], [{"expected": {"a": "one"}}, {"expected": {"a": "one", "b": [1, 2]}}, {"expected": {"c": None}}, {"expected": {"a": ["one", "two"]}, "expect_in_result": True}, {"expected": {"a": "one"}, "expect_in_result": True}, {"expected": {"b": [2, 1], "ignore_list_order": True}}], [{}]),
    "check_gnome_favorite_apps": (["['a.desktop', 'b.desktop']", "['b.desktop', 'a.desktop']", "['a.desktop']", "[]", "['a.desktop', 'c.desktop']", "['a.desktop', 'b.desktop', 'c.desktop']"], [{"expected": ["a.desktop", "b.desktop"]}], [{}]),
    "is_utc_0": ([_TIME.format("UTC", "+0000"), _TIME.format("CET", "+0100"), _TIME.format("UTC", "+0000 "), "", "\n\n\n", _TIME.format("WET", "+0000")], [None], [{}]),
    "check_text_enlarged": (["1.5\n", "1.0", "0.9", "2", "1", "1.01"], [None], [{}]),
    "is_in_vm_clickboard": (["rgb(1, 2)", "rgb(1,2)", "", "x rgb(1, 2) y", "(2, 1)bgr", "RGB(1, 2)"], [{"expected": "rgb(1, 2)"}, {"expected": ["rgb", "1"]}], [{}]),
    "is_extension_installed": (["a.b\nc.d\n", "c.d\n", "", "a.bb\n", "c.d\na.b", "A.B"], [{"type": "contain", "expected": "a.b"}, {"type": "not_contain", "expected": "a.b"}], [{}]),
    "is_vlc_fullscreen": ([{"width": 9, "height": 9}, {"width": 9, "height": 8}, {"width": 8, "height": 9}, {"width": 0, "height": 0}, {"height": 9, "width": 9}, {"width": 10, "height": 9}], [{"width": 9, "height": 9}], [{}]),
    "is_expected_active_tab": (["https://asite.com/x", "http://asite.com/x", "https://www.asite.com/x", "https://A.test/x", "https://asite.com/x/", "asite.com", "https://bsite.com", {"url": "https://asite.com/x", "title": "", "content": ""}, "https://asite.com/X", "https://asite.com/x?q=1"], [{"type": "url", "url": "https://asite.com/x"}, {"type": "url", "url": "http://asite.com/"}], [{}]),
    "is_expected_url_pattern_match": (["https://asite.com/x?q=1", "https://asite.com", "b", {"url": "https://asite.com/x?q=1"}, "q=1 /x", "https://A.test/X"], [{"expected": ["/x", "q=\\d"]}, {"expected": ["asite.com"]}], [{}]),
    "is_expected_search_query": ([{"url": "https://gsite.com/search?q=N&"}, {"url": "https://gsite.com/search?q=M&"}, {"url": "https://gsite.com/"}, {"url": "x"}, {"url": "/search?q=N"}, {"url": "q=N&/search?"}], [{"expect": {"pattern": "gsite\\.com.*/search\\?q=N&"}}], [{}]),
    "is_expected_tabs": ([_TABS, _TABS[::-1], _TABS[:1], [*_TABS, _TABS[0]], [_TABS[0], _TABS[0]], [{"title": "", "url": "https://csite.com"}]], [{"type": "url", "urls": ["https://www.asite.com/x", "http://bsite.com/"]}, {"type": "url", "urls": ["https://asite.com/x"]}], [{}]),
    "is_expected_bookmarks": ([_BOOKMARKS, {"bookmark_bar": {"children": []}}, {"bookmark_bar": {"children": _BOOKMARKS["bookmark_bar"]["children"][::-1]}}, {"bookmark_bar": {"children": _BOOKMARKS["bookmark_bar"]["children"][:1]}}, {"bookmark_bar": {"children": _BOOKMARKS["bookmark_bar"]["children"][1:]}}, {"bookmark_bar": {"children": [{"type": "url", "name": "x", "url": "https://bsite.com"}]}}], [{"type": "bookmark_bar_folders_names", "names": ["Liked Authors"]}, {"type": "bookmark_bar_websites_urls", "urls": ["https://bsite.com/"]}, {"type": "liked_authors_websites_urls", "names": ["Liked Authors"], "urls": [["https://z.test/", "https://asite.com/"]]}], [{}]),
    "is_expected_installed_extensions": ([["A", "B"], ["B", "A", "C"], ["A"], ["a", "b"], ["C"], ["A", "BB"]], [{"expected": ["A", "B"]}], [{}]),
    "check_enabled_experiments": ([["a@1", "b@2"], ["b@2", "a@1"], ["a@1"], [], ["a", "b"], ["a@1", "b@2", "c@1"]], [{"type": "names", "names": ["a", "b"]}], [{}]),
    "check_font_size": ([{"default_font_size": size} for size in (16, 20, 0, 21, 19, 24)], [{"type": "value", "value": 20}, {"type": "range", "min": 16, "max": 24}], [{}]),
    "is_shortcut_on_desktop": ([{"a": "[Desktop Entry]\nName=Game\nExec=game\n"}, {"a": "Name=Games\n"}, {}, {"a": "Name=Other\n", "b": "Name=Game\n"}, {"a": "Name=Game"}, {"a": "name=game\n"}], [{"type": "name", "name": "Game"}, {"type": "exec", "exec": "game"}], [{}]),
    "check_left_panel": ([TREE.format('<document-frame name="Slides View"/>'), TREE.format('<document-frame name="Slide View"/>'), TREE.format(""), TREE.format('<panel name="Slides View"/>'), "<x/>", TREE.format('<list/><document-frame name="Slides View"/>')], [None], [{}]),
    "check_accessibility_tree": (_TREES, [[{"xpath": "//text[@name='N']", "text": "Ada", "exact": True}], [{"selectors": ["text[name=N]"], "text": "Ada", "exact": False}], [{"xpath": "//text[@st:focused='true']"}]], [{}]),
}  # fmt: skip
"""Metrics of values."""

SHAPES: list[Case] = [
    *(
        Case("check_history_deleted", f"{number}", [{"url": url} for url in urls], {"type": "keywords", "keywords": ["youtube"]}, original=[[url, "", 0] for url in urls])
        for number, urls in enumerate(([], ["https://youtube.com/"], ["https://asite.com"], ["https://asite.com", "https://m.youtube.com"], ["YouTube"], ["youtube"]))
    ),
    *(
        Case("is_cookie_deleted", f"{number}", [{"domain": one, "name": "x"} for one in domains], {"type": "domains", "domains": [".shop.com"]}, original=[[0, one, "x"] for one in domains])
        for number, domains in enumerate(([], [".shop.com"], ["shop.com"], ["a.com", ".shop.com"], [".shops.com"], ["www.shop.com"]))
    ),
    *(
        Case("check_moved_jpgs", f"{number}", names, {"expected": ["a.jpg", "b.jpg"]}, original={"children": [{"type": "file", "name": name} for name in names]})
        for number, names in enumerate((["a.jpg", "b.jpg"], ["b.jpg", "a.jpg"], ["a.jpg"], [], ["a.jpg", "c.jpg"], ["a.jpg", "b.jpg", "c.jpg"]))
    ),
]  # fmt: skip
"""Metrics whose getters give another shape than the originals'."""


BASIC = ("equal", "near", "almost", "order", "different", "empty", "damaged")
_MANY = 4
"""How many other files than the right one a metric of two files is given as expected."""


def all_cases(folder: Path) -> Iterator[Case]:
    """Write the files into a folder, and yield the cases."""
    found = {name: write(folder / name) for name, write in FAMILIES.items()}
    for metric, (family, options) in PAIRS.items():
        yield from _pairs(metric, found[family], options)
    for metric, (family, rules) in RULES.items():
        for label, path in found[family].items():
            yield from (Case(metric, f"{label} {number}", path, rule) for number, rule in enumerate(rules))
    for label, path in found["yaml"].items():
        yield Case("check_json", f"yaml {label}", path, {"expect": _EXPECT_JSON}, {"is_yaml": True})
    for number, rule in enumerate(TABLE_RULES):
        yield from _tables(number, rule, found["xlsx"])
    for metric, (values, expected, options) in VALUES.items():
        for place, (value, rule, option) in enumerate(product(values, expected, options)):
            yield Case(metric, str(place), value, rule, option)
    yield from SHAPES


def _pairs(metric: str, found: Variants, options: list[dict[str, Any]]) -> Iterator[Case]:
    right = found["equal"]
    for label, path in found.items():
        yield from (Case(metric, f"{label} {number}", path, right, option) for number, option in enumerate(options))
    others = [label for label in found if label not in ("equal", "empty", "damaged")]
    yield from (Case(metric, f"expected {label}", right, found[label], options[0]) for label in others[:_MANY])


def _tables(number: int, rule: dict[str, Any], found: Variants) -> Iterator[Case]:
    of_values = rule["type"].startswith("sheet_")
    for label, path in found.items():
        if label in BASIC or not of_values:
            yield Case("compare_table", f"{label} {rule['type']} {number}", path, found["equal"], {"rules": [rule]})
    for label in ("bar", "bold", "frozen", "filtered", "hidden") if not of_values else ():
        yield Case("compare_table", f"expected {label} {number}", found[label], found[label], {"rules": [rule]})
