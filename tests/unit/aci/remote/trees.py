"""Accessibility trees as OSWorld's server writes them."""

from __future__ import annotations

NOTES = """<desktop-frame xmlns:st="https://accessibility.ubuntu.example.org/ns/state"
  xmlns:cp="https://accessibility.ubuntu.example.org/ns/component"
  xmlns:attr="https://accessibility.ubuntu.example.org/ns/attributes"
  xmlns:val="https://accessibility.ubuntu.example.org/ns/value">
<application name="notes" attr:toolkit="gtk">
 <frame name="Notes" st:active="true" st:enabled="true" st:sensitive="true" st:visible="true" st:showing="true"
   cp:screencoord="(10, 20)" cp:size="(300, 200)">
  <push-button name="Save" st:enabled="true" st:sensitive="true" st:visible="true" st:showing="true"
   st:focusable="true" cp:screencoord="(20, 30)" cp:size="(60, 24)" />
  <check-box name="Wrap" st:enabled="true" st:sensitive="true" st:visible="true" st:showing="true" st:checked="true"
   cp:screencoord="(100, 30)" cp:size="(60, 24)" />
  <slider name="Zoom" st:enabled="true" st:sensitive="true" st:visible="true" st:showing="true" val:value="0.5"
   cp:screencoord="(180, 30)" cp:size="(100, 24)" />
  <text name="" st:editable="true" st:multi_line="true" st:enabled="true" st:sensitive="true" st:focused="true"
   st:visible="true" st:showing="true" cp:screencoord="(10, 60)" cp:size="(300, 160)">TEXT</text>
  <push-button name="Hidden" st:enabled="true" st:sensitive="true" />
 </frame>
</application></desktop-frame>"""


def notes(text: str = "milk") -> str:
    """Return the tree of a window with some controls, and a field with a text."""
    return NOTES.replace("TEXT", text)


MENU = """<menu name="File" st:enabled="true" st:sensitive="true" st:visible="true" st:showing="true" st:selected="true"
   cp:screencoord="(12, 32)" cp:size="(40, 20)">
   <menu-item name="Print" st:enabled="true" st:sensitive="true" st:visible="true" st:showing="true"
    cp:screencoord="(12, 190)" cp:size="(120, 24)" />
   <menu-item name="Quit" st:enabled="true" st:sensitive="true" st:visible="true" st:showing="true"
    cp:screencoord="(12, 214)" cp:size="(120, 24)" />
  </menu>"""


def with_open_menu() -> str:
    """Return the tree with an open menu that reaches beyond its window."""
    return notes().replace("<push-button", f"{MENU}<push-button", 1)
