from __future__ import annotations

import pytest

from intents.matching import Rarity, are_same, likeness, unify
from intents.reader import read


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("indent", "indentation", True),
        ("programmer", "programming", True),
        ("auto", "automatic", True),
        ("colour", "color", True),
        ("4", "8", True),
        ("tool", "toolbar", False),
        ("form", "format", False),
        ("close", "right", False),
    ],
)
def test_words_are_alike_by_form_or_meaning(one: str, other: str, alike: bool) -> None:
    assert (likeness(one, other) > 0) is alike


@pytest.mark.parametrize(
    ("asked", "known", "matches"),
    [
        ("show the grid", "turn on grid", True),
        ("hide the grid", "turn on grid", False),
        ("use the dark theme", "set theme to dark", True),
        ("use the blue theme", "set theme to dark", False),
        ("set the font to dark", "set theme to dark", False),
        ("bring up the options", "open preferences", True),
        ("edit the header and footer", "open header and footer", True),
        ("customize the toolbars", "open toolbars", True),
        ("change the keyboard shortcuts", "configure keyboard shortcuts", True),
        ("open another file", "open file", True),
        ("delete the header and footer", "open header and footer", False),
        ("check the spelling", "open spelling", True),
        ("do not snap to the grid", "turn off grid snapping", True),
        ("change the size of the photo", "resize", True),
        ("change the width of the column", "open page width", False),
        ("display two pages side by side", "turn on dual page", True),
        ("save the document", "open a saved document", False),
        ("find and replace words", "search and replace", True),
        ("change the size of the photo", "original size", False),
        ("open another picture", "open file", True),
        ("insert a picture", "insert text from file", False),
        ("show the document as a presentation", "open document", False),
        ("insert a new page", "insert table", False),
        ("set up the slide show", "open slide show settings", True),
        ("set up the margins", "margin setup", True),
        ("give me details about this application", "about", True),
        ("give me details about this application", "open versions", False),
        ("back up the pictures", "open backup", True),
        ("back up the pictures", "back", False),
        ("save the picture under another name", "save", False),
        ("save the picture under a new name", "save picture", False),
        ("save a copy of the picture", "save picture", False),
        ("save as", "save", False),
        ("save the picture as PDF", "save picture", False),
        ("save the picture", "save picture", True),
        ("save a copy of the picture", "save copy", True),
        ("reset up to here", "open setup", False),
        ("show something about this picture", "about", False),
        ("show information about this program", "show information about the server", False),
        ("set up the slide show", "open slide properties", False),
        ("type 'Ada' into the name field", "type 'Bob' into the name field", True),
        ("type Ada into the name field", "type Bob into the name field", False),
        ("enter seven", "enter pi", False),
        ("delete all rows", "delete row", False),
        ("show all keyboard shortcuts", "open keyboard shortcuts", True),
        ("create a new folder", "new folder", True),
        ("open another folder", "new folder", True),
        ("save the picture under another name", "use pictures", False),
        ("rename the folder", "new folder", False),
        ("open the folder", "new folder", False),
        ("create a new song", "new", True),
        ("delete the new song", "new", False),
        ("create a new mind map", "new", True),
        ("create a new mind map", "new file", True),
        ("create a new mind map", "new tab", False),
        ("create a new playlist", "new empty playlist", True),
        ("empty the playlist", "new empty playlist", False),
        ("make a new user account of the group", "new", False),
        ("show the new mind map", "new", False),
        ("open a file", "make files", False),
        ("find a character by name", "open find dialog", True),
        ("search the diary", "open search dialog", True),
        ("extract the files", "open extract dialog", True),
        ("about the files", "open extract dialog", False),
        ("find the next match", "open find dialog", False),
        ("find 'alpha'", "open find dialog", False),
        ("draw an ellipse", "open drawing", False),
        ("show the grid", "grid color", False),
        ("change the color of the grid", "grid color", True),
        ("add a torrent", "turn on automatically add torrents", False),
        ("add torrents automatically", "turn on automatically add torrent", True),
        ("show the projects panel", "previous project", False),
        ("manage the bookmarks", "organize bookmarks", True),
        ("rename the bookmarks", "organize bookmarks", False),
        ("change the preferences", "preferred format", False),
        ("unselect everything", "deselect", True),
        ("clear the selection", "select none", True),
        ("select everything", "deselect all", False),
        ("expand the whole branch", "expand full branch", True),
        ("zoom to the original size", "normal size", True),
        ("is the grid visible?", "turn on grid", False),
        ("turn on the grid and delete the file", "turn on grid", False),
    ],
)
def test_known_intent_matches_what_asks_for_the_same(asked: str, known: str, matches: bool) -> None:
    match = unify(read(asked), read(known))
    assert (match is not None and match.score >= 0.55) is matches


def test_rare_words_count_more_than_common_ones() -> None:
    rarity = Rarity([[read("turn on number grid")], [read("turn on number lines")], [read("turn on number bars")]])
    assert rarity("grid") > rarity("number") > 0
    assert "grid" in rarity and "wheel" not in rarity


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("open about", "show about dialog", True),
        ("open print dialog", "open page dialog", False),
        ("new", "new window", False),
        ("turn on dialog", "turn off dialog", False),
        ("create a new key", "new key", True),
        ("open the key", "new key", False),
    ],
)
def test_dialog_is_what_its_name_opens(one: str, other: str, same: bool) -> None:
    assert are_same([read(one)], [read(other)]) is same
