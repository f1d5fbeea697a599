"""Roles by what they mean to a person."""

from __future__ import annotations

BUTTONS = frozenset({"push button", "toggle button", "push button menu", "switch", "arrow"})
CHECKABLE = frozenset({"check box", "radio button", "check menu item", "radio menu item", "toggle button", "switch"})
MENU_ENTRIES = frozenset({"menu", "menu item", "check menu item", "radio menu item", "tearoff menu item"})
# take input and are often named by a label next to them
FIELDS = frozenset(
    {
        "entry", "text", "password text", "terminal", "editbar", "autocomplete", "combo box", "spin button",
        "slider", "dial", "date editor", "color chooser", "font chooser", "calendar", "rating",
    }
)  # fmt: skip
ITEMS = frozenset(
    {
        "list item", "tree item", "table cell", "page tab", "icon", "desktop icon", "column header", "row header",
        "table column header", "table row header",
    }
)  # fmt: skip
TABLES = frozenset({"table", "tree table"})
ROWS = frozenset({"list item", "tree item"})
VIEWED = ROWS | {"table cell"}  # entries of lists, trees and tables

# stand for one entry each of what a list, table or feed shows
RECORDS = frozenset({"list item", "tree item", "table row", "icon", "article", "comment"})
SHAPE = "shape"  # what is drawn in a document of LibreOffice, with the text in it (`tree/libreoffice.py`)
_OBJECTS = frozenset({"link", "image map", "video", "audio", "embedded", SHAPE})
# shown whenever they are visible, whatever their name
INTERACTIVE = BUTTONS | CHECKABLE | MENU_ENTRIES | FIELDS | ITEMS | _OBJECTS

VALUED = frozenset({"slider", "spin button", "progress bar", "level bar", "dial", "rating", "date editor"})

# show a text that can be read
READ_AS_TEXT = frozenset(
    {
        "label", "static", "heading", "paragraph", "caption", "description term", "description value",
        "description list", "block quote", "list item", "table cell", "text", "tool tip", "status bar", "comment",
        "footnote", "title bar", "header", "footer", "notification", "alert", "info bar", "marquee", "timer", "log",
        "definition", "math", "subscript", "superscript", "mark", "content insertion", "content deletion",
        "accelerator label", "link", "column header", "row header", "document text", "icon",
    }
)  # fmt: skip

TEXTS = READ_AS_TEXT - INTERACTIVE - frozenset({"document text", "status bar", "log"})  # shown when they have text

# parts of a line of text
INLINE = frozenset({"static", "link", "label", "subscript", "superscript", "mark", "content insertion",
                    "content deletion"})  # fmt: skip

# parts of a page that are shown where they hold running text
BLOCKS = frozenset({"section", "form", "landmark", "article"})

# named by the texts in them if they have no name of their own
NAMED_BY_CONTENT = (BUTTONS | ITEMS | MENU_ENTRIES | frozenset({"link"})) - frozenset({"menu", "icon"})

WORDLESS = frozenset({"image", "progress bar", "level bar", "tool tip"})  # shown when they have a name or a value

NOTICES = frozenset({"status bar", "log"})  # shown when they have a name and no shown content

# in a page often only containers of controls
HOLDERS = frozenset({"table cell", "list item", "heading", "paragraph", "section", "column header", "row header"})

# large areas to draw or write in, shown when nothing in them is
SURFACES = frozenset({"canvas", "drawing area", "document text", "chart", "animation"})

# omitted with everything in them
SKIPPED = frozenset({"scroll bar", "separator", "ruler", "redundant object", "input method window"})

# their content opens in a separate window, so their own extents do not clip it
OPENS_OUTSIDE = frozenset({"menu", "combo box", "popup menu", "push button menu"})

# containers that are ignored unless they have a name
PLAIN = frozenset(
    {
        "panel", "filler", "section", "scroll pane", "viewport", "split pane", "layered pane", "glass pane",
        "root pane", "unknown", "redundant object", "option pane", "extended", "internal frame", "html container",
    }
)  # fmt: skip
