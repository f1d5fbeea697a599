"""Probes that the evaluator may request, and their results.

A probe is a yes-or-no question about a file or a setting. It is data: its fields are compared with what code has read,
and never become a command, a pattern or part of a program.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field

from agent_s.records import Record

MAX_VALUE = 500  # characters of a text or value to compare with

MAX_SHEET = 100  # characters of the name of a sheet
MAX_PATH = 400
SETTING_KEY = re.compile(r"[A-Za-z0-9_./:-]{1,200}")
FilePath = Annotated[str, Field(min_length=1, max_length=MAX_PATH)]
Value = Annotated[str, Field(max_length=MAX_VALUE)]


class FileProbe(Record):
    """Whether a file exists."""

    probe: Literal["file"] = "file"
    path: FilePath  # from "~" or "/", or a bare name, which is looked for in the home and its folders


class ChangedProbe(Record):
    """Whether a file was written or renamed since the task began."""

    probe: Literal["changed"] = "changed"
    path: FilePath


class TextProbe(Record):
    """Whether the text or a feature of a file or document contains a text; an empty one asks whether it has no text."""

    probe: Literal["text"] = "text"
    path: FilePath
    text: Annotated[str, Field(max_length=MAX_VALUE)]
    exact: bool = False  # whether it must be the whole text


class CellProbe(Record):
    """Whether a cell of a saved spreadsheet has a value; an empty value asks whether it is empty."""

    probe: Literal["cell"] = "cell"
    path: FilePath
    cell: Annotated[str, Field(pattern=r"^[A-Z]{1,3}[1-9][0-9]{0,6}$")]
    value: Value  # the value, the text as it is shown, or the formula
    sheet: Annotated[str, Field(max_length=MAX_SHEET)] = ""  # name of the sheet; empty for the first


class SettingProbe(Record):
    """Whether a setting of a desktop application (GSettings) has a value."""

    probe: Literal["setting"] = "setting"
    key: Annotated[str, Field(pattern=rf"^{SETTING_KEY.pattern}$")]  # "group/key", or the key alone
    value: Value  # such as true, 14 or 'Monospace 12'


class PreferenceProbe(Record):
    """Whether a preference of Chromium has a value."""

    probe: Literal["preference"] = "preference"
    key: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,200}$")]  # path such as bookmark_bar.show_on_all_tabs
    value: Value  # as JSON: true, 2, "https://..."


class BookmarkProbe(Record):
    """Whether Chromium has a bookmark of that name or address."""

    probe: Literal["bookmark"] = "bookmark"
    name: Value = ""  # its name; empty for any
    url: Value = ""  # its address; empty for any


Probe = FileProbe | ChangedProbe | TextProbe | CellProbe | SettingProbe | PreferenceProbe | BookmarkProbe
AnyProbe = Annotated[Probe, Field(discriminator="probe")]


class ProbeResult(Record):
    """The answer to a probe."""

    number: int  # its number in the run, from 1, by which it is cited
    probe: AnyProbe
    holds: bool | None  # the answer; None if it could not be read
    found: str  # what was found, or why it could not be read
    place: str = ""  # path of the file that was read, from "~" or "/"; empty if there is none
    changed: bool = False  # whether that file was written or renamed since the task began
    # what the document has besides its text, such as "Heading 1: Introduction"; first the lines with the text asked for
    features: tuple[str, ...] = ()
    quoted: str = ""  # whole words of the file's text that `found` shows; empty if it shows none
