"""Which application a text is about."""

from __future__ import annotations

import pytest

from intents.applications import (
    application,
    applications_of,
    is_about_another,
    mentioned,
    named_applications,
    without_applications,
)


@pytest.mark.parametrize(
    ("query", "key", "app", "another"),
    [
        ("Sort the rows in LibreOffice Calc", "Sort rows in Calc", "calc", False),
        ("Sort the rows in Excel", "Sort rows in Calc", "calc", True),
        # No application that is known, but named like one.
        ("Sort the rows in Gnumeric", "Sort rows in Calc", "calc", True),
        ("Import the photos with digiKam", "Import photos into Shotwell", "shotwell", True),
        ("Mute the group in Telegram", "Mute a group in Telegram Desktop", "Telegram Desktop", False),
        # Folders, months and names that several applications have are no applications.
        ("Save the letter in Documents", "Save a letter in Writer", "writer", False),
        ("Show the sales of March in March", "Show the sales in Calc", "calc", False),
        ("Rename the file in Files", "Rename a file in Nautilus", "nautilus", False),
        ("Save it as PDF in PDF", "Save as PDF in Writer", "writer", False),
        ("Mute everybody in Google Meet", "Mute everybody in a Zoom meeting", "Zoom", True),
        ("Find the way in Google Maps", "Find the way in GNOME Maps", "GNOME Maps", True),
        ("Excel: sort the rows", "Sort rows in Calc", "calc", True),
        ("gimp sort the layers", "Sort layers in Krita", "krita", True),
        # Names that are words of their own count only where they are written like names.
        ("Zoom in on the page", "Zoom in on the page", "evince", False),
        ("Zoom in on the page", "Zoom in on the page in Zoom", "Zoom", False),
        ("Find the word in the text", "Find a word in Writer", "writer", False),
        ("Replace a name from Anna", "Replace a name in Writer", "writer", False),
        # What says nothing about an application fits all.
        ("Accept the licence in Krita", "Accept the licence", "", False),
    ],
)
def test_experience_about_another_application_is_recognized(query: str, key: str, app: str, another: bool) -> None:
    assert is_about_another(applications_of(query, [app]), key, app) is another


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Sort the rows in LibreOffice Calc", "Sort the rows"),
        ("Excel: sort the rows", "sort the rows"),
        ("dolphin split view", "dolphin split view"),
        ("Hide Thunderbird's side pane", "Hide side pane"),
        ("Zoom in on the page", "Zoom in on the page"),
        ("Firefox", "Firefox"),
    ],
)
def test_names_of_applications_are_removed(text: str, plain: str) -> None:
    assert without_applications(text) == plain


@pytest.mark.parametrize(
    ("text", "app", "display", "plain"),
    [
        ("Turn on word wrap in l3afpad", "L3afpad", "L3afpad", "Turn on word wrap"),
        ("L3afpad: turn on word wrap", "L3afpad", "", "turn on word wrap"),
        ("In Disk Usage Analyzer, scan the home folder", "baobab", "Disk Usage Analyzer", "scan the home folder"),
        ("Show the arrows in Characters", "org.gnome.Characters", "Characters", "Show the arrows"),
        ("Count the characters of the text", "org.gnome.Characters", "Characters", None),
        ("Show the number of characters", "org.gnome.Characters", "Characters", None),
        ("Give the length in characters", "org.gnome.Characters", "Characters", None),
        ("Characters of the text", "org.gnome.Characters", "Characters", None),
        ("Type the code 42", "Code", "Visual Studio Code", None),
        ("Show the settings of Characters", "org.gnome.Characters", "Characters", "Show the settings"),
        ("Show information about GlyphPad", "org.example.Pad", "GlyphPad", "Show information about"),
        ("Switch GlyphPad to full screen", "org.example.Pad", "GlyphPad", "Switch to full screen"),
        ("Show information about GNOME Smith", "org.example.Smith", "Smith", "Show information about"),
        ("Zoom in in KDE Smith", "org.example.Smith", "Smith", "Zoom in"),
        ("Show information about glyphpad", "glyphpad", "glyphpad", "Show information about"),
        ("Show the shape of a glyphpad", "glyphpad", "glyphpad", None),
        ("Open the preferences of Pad-X", "pad-x", "Pad", "Open the preferences"),
        ("Open the preferences of PCManFM-Qt", "pcmanfm-qt", "PCManFM-Qt File Manager", "Open the preferences"),
        ("Hide the sidebar in Paint++", "Paintpp", "Paint++", "Hide the sidebar"),
        ("Turn on line numbers in the text editor", "org.example.Editor", "Text Editor", None),
        ("Turn on wrapping in FocusWriter", "Writer", "LibreOffice Writer", None),
    ],
)
def test_name_of_any_application_is_found_where_it_is_meant(
    text: str, app: str, display: str, plain: str | None
) -> None:
    named = named_applications(text, [app], {app.casefold(): display} if display else {})
    assert list(named) == ([] if plain is None else [application(app)])
    if plain is not None:
        assert without_applications(text, tuple(named.values())) == plain


def test_owner_names_an_application_as_its_maker_does() -> None:
    assert mentioned("set the scaling in KDE's system settings") == {"kde system settings"}
    assert applications_of("show the charge in GNOME's panel", []) == frozenset()
    assert applications_of("bold headings in Quillomat's editor", []) == {"quillomat"}


@pytest.mark.parametrize(
    ("written", "other", "same"),
    [
        ("org.xfce.mousepad", "Mousepad", True),
        ("org.gnome.DejaDup", "org.gnome.dejadup", True),
        ("LibreOffice 7.4 Calc", "libreoffice-calc", True),
        ("gnome-terminal-server", "Terminal", True),
        ("FocusWriter", "LibreOffice Writer", False),
        ("Mate-calc", "LibreOffice Calc", False),
    ],
)
def test_ways_to_write_an_application_are_one(written: str, other: str, same: bool) -> None:
    assert (application(written) == application(other)) is same


def test_windows_are_called_without_hyphens_and_domains() -> None:
    for said, app, written in (
        ("Show information about File Roller", "file-roller", "file roller"),
        ("Show information about GMult", "net.launchpad.gmult", "gmult"),
    ):
        assert named_applications(said, [app], {}) == {application(app): written}
