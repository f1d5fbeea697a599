"""Roles by what they mean to a person."""

from __future__ import annotations

BUTTONS = frozenset({"push button", "toggle button", "push button menu", "switch", "arrow"})
CHECKABLE = frozenset({"check box", "radio button", "check menu item", "radio menu item", "toggle button", "switch"})
MENU_ENTRIES = frozenset({"menu", "menu item", "check menu item", "radio menu item", "tearoff menu item"})
FIELDS = frozenset(
    {
        "entry", "text", "password text", "terminal", "editbar", "autocomplete", "combo box", "spin button",
        "slider", "dial", "date editor", "color chooser", "font chooser", "calendar", "rating",
    }
)  # fmt: skip
"""What takes input and is often named by a label beside it."""
ITEMS = frozenset(
    {
        "list item", "tree item", "table cell", "page tab", "icon", "desktop icon", "column header", "row header",
        "table column header", "table row header",
    }
)  # fmt: skip
INTERACTIVE = (
    BUTTONS | CHECKABLE | MENU_ENTRIES | FIELDS | ITEMS | frozenset({"link", "image map", "video", "audio", "embedded"})
)
"""Shown whenever they can be seen, whatever they are called."""

VALUED = frozenset({"slider", "spin button", "progress bar", "level bar", "dial", "rating", "date editor"})

READ_AS_TEXT = frozenset(
    {
        "label", "static", "heading", "paragraph", "caption", "description term", "description value",
        "description list", "block quote", "list item", "table cell", "text", "tool tip", "status bar", "comment",
        "footnote", "title bar", "header", "footer", "notification", "alert", "info bar", "marquee", "timer", "log",
        "definition", "math", "subscript", "superscript", "mark", "content insertion", "content deletion",
        "accelerator label", "link", "column header", "row header", "document text", "icon",
    }
)  # fmt: skip
"""What shows a text that can be asked for."""

TEXTS = READ_AS_TEXT - INTERACTIVE - frozenset({"document text", "status bar", "log"})
"""Shown when they bear text."""

INLINE = frozenset({"static", "link", "label", "subscript", "superscript", "mark", "content insertion",
                    "content deletion"})  # fmt: skip
"""What runs along in a line of text."""

NAMED_BY_CONTENT = (BUTTONS | ITEMS | MENU_ENTRIES | frozenset({"link"})) - frozenset({"menu", "icon"})
"""Without a name of their own they are called by the texts in them."""

WORDLESS = frozenset({"image", "progress bar", "level bar", "tool tip"})
"""Shown when they have a name or a value."""

NOTICES = frozenset({"status bar", "log"})
"""Shown when they have a name and nothing else is in them."""

HOLDERS = frozenset({"table cell", "list item", "heading", "paragraph", "section", "column header", "row header"})
"""What in a page is often no more than the place of the controls in it."""

SURFACES = frozenset({"canvas", "drawing area", "document text", "chart", "animation"})
"""Large areas to draw or write in, shown when nothing in them is."""

SKIPPED = frozenset({"scroll bar", "separator", "ruler", "redundant object", "input method window"})
"""Left out with all that is in them."""

OPENS_OUTSIDE = frozenset({"menu", "combo box", "popup menu", "push button menu"})
"""What is in them appears in a window of its own, so their own place does not limit it."""

PLAIN = frozenset(
    {
        "panel", "filler", "section", "scroll pane", "viewport", "split pane", "layered pane", "glass pane",
        "root pane", "unknown", "redundant object", "option pane", "extended", "internal frame", "html container",
    }
)  # fmt: skip
"""Containers that say nothing unless they have a name."""
