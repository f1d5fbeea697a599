"""Names of keys as people and models write them, and their X keysyms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

_NAMES = {
    "Control_L": "ctrl control ctl", "Alt_L": "alt option", "ISO_Level3_Shift": "altgr", "Shift_L": "shift",
    "Super_L": "super win windows cmd command meta", "Return": "enter", "Escape": "esc", "Delete": "del",
    "Insert": "ins", "BackSpace": "bksp", "space": "spacebar", "Page_Up": "pageup pgup",
    "Page_Down": "pagedown pgdn pgdown", "Up": "arrowup", "Down": "arrowdown", "Left": "arrowleft",
    "Right": "arrowright", "Caps_Lock": "capslock", "Num_Lock": "numlock", "Scroll_Lock": "scrolllock",
    "Print": "printscreen prtsc prtscr", "Menu": "contextmenu apps", "grave": "backtick",
    "XF86_AudioRaiseVolume": "volumeup", "XF86_AudioLowerVolume": "volumedown", "XF86_AudioMute": "volumemute",
}  # fmt: skip
_ALIASES = {alias: name for name, aliases in _NAMES.items() for alias in aliases.split()} | {
    "\n": "Return", "\r": "Return", "\t": "Tab", "\x08": "BackSpace", "\x1b": "Escape", "\x7f": "Delete",
}  # fmt: skip
MODIFIERS = frozenset({"Control_L", "Alt_L", "Shift_L", "Super_L", "ISO_Level3_Shift"})
_UNICODE_KEYSYMS = 0x01000000
# right to left Shift, Control, Alt and Super
_LEFT_OF = {0xFFE2: 0xFFE1, 0xFFE4: 0xFFE3, 0xFFEA: 0xFFE9, 0xFFEC: 0xFFEB}


class UnknownKey(ValueError):
    """There is no key of this name."""


def keysym(name: str) -> int:
    """Return the X keysym of a key: a character, a usual name such as `ctrl`, or a keysym name such as `KP_Enter`.

    Raises:
        UnknownKey: There is no such key.
    """
    found = _by_name(name) or _by_name(_ALIASES.get(_plain(name), ""))
    if found is None and len(name) == 1 and name.isprintable():
        found = character_keysym(name)
    found = found or _by_spelling().get(_plain(name))
    if found is None:
        raise UnknownKey(f"There is no key {name!r}.{_suggestion(name)}")
    return found


def character_keysym(character: str) -> int:
    """Return the keysym that types a character (X11 protocol, appendix A)."""
    code = ord(character)
    named = _ALIASES.get(character)
    if named is not None:
        return _by_name(named) or 0
    if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF:
        return code
    return _UNICODE_KEYSYMS | code


def chord(names: Sequence[str]) -> list[int]:
    """Return the keysyms of keys that are pressed together.

    `ctrl+s` in one name is split, and a capital letter with a modifier means the key without Shift: `Ctrl S` saves.

    Raises:
        UnknownKey: There is no key of a name.
    """
    parts = [part for name in names for part in _split(name)]
    if any(_ALIASES.get(_plain(part)) in MODIFIERS or part in MODIFIERS for part in parts):
        parts = [part.lower() if len(part) == 1 else part for part in parts]
    return [keysym(part) for part in parts]


def left_key(symbol: int) -> int:
    """Return the left one of a pair of modifier keys; any other keysym unchanged."""
    return _LEFT_OF.get(symbol, symbol)


def characters(text: str) -> Iterable[int]:
    """Yield the keysyms that type a text; a line end of any kind is one Return."""
    for character in text.replace("\r\n", "\n"):
        yield character_keysym(character)


def _split(name: str) -> list[str]:
    if len(name) < 3 or "+" not in name:
        return [name]
    head, plus, _ = name.partition("++")
    parts = [part.strip() for part in (head if plus else name).split("+")]
    return [*(part for part in parts if part), *(["+"] if plus else [])]


def _plain(name: str) -> str:
    return name if len(name) == 1 else name.casefold().replace("_", "").replace("-", "").replace(" ", "")


@cache
def _by_name(name: str) -> int | None:
    from Xlib import XK

    for prefix, group in (("XF86", "xf86"), ("ISO_", "xkb"), ("dead_", "xkb")):
        if name.startswith(prefix):
            XK.load_keysym_group(group)
    return (XK.string_to_keysym(name) or None) if len(name) > 1 else None


@cache
def _by_spelling() -> dict[str, int]:
    from Xlib import XK

    XK.load_keysym_group("xf86")
    names = [name.removeprefix("XK_") for name in vars(XK) if name.startswith("XK_")]
    return {_plain(name): value for name in names if len(name) > 1 and (value := _by_name(name))}


def _suggestion(name: str) -> str:
    from rapidfuzz import process

    near = process.extractOne(_plain(name), [*_by_spelling(), *_ALIASES], score_cutoff=70)
    return f" Did you mean {near[0]!r}?" if near else ""
