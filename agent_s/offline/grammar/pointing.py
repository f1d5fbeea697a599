"""Clauses about the pointer, keys and the view: click, press, drag, expand, scroll."""

from __future__ import annotations

import re
from typing import Literal

from agent_s.offline.grammar.base import THE, Build, Found, Rule, rule
from agent_s.offline.intents import (
    Button,
    ClickOn,
    Direction,
    DragOnto,
    FocusOn,
    FollowPath,
    Intent,
    PressKeys,
    ScrollView,
    SetValue,
    Unfold,
)
from agent_s.offline.keys import MODIFIERS, Chord, parse_keys
from agent_s.offline.lexicon import read_number, take_count
from agent_s.offline.quoting import OPEN, PLACEHOLDER, Guarded
from agent_s.offline.targets import TargetQuery, parse_target, split_list

_CLICKS = {"double": 2, "triple": 3}
_BUTTONS: dict[str, Button] = {
    "right": "right",
    "middle": "middle",
    "left": "left",
    "secondary": "right",
    "primary": "left",
}
_WITH_BUTTON = re.compile(
    r"\s*\b(?:with|using) the (right|middle|left|secondary|primary)(?: mouse)? button\b", re.IGNORECASE
)
_HOLDING = re.compile(
    r"\s*,?\s*\b(?:while |and )?(?:holding|pressing|keeping)(?: down)? (?:the )?([\w+ ]{3,30}?)(?: keys?)?(?: (?:down|pressed|held))?$"
    r"|\s*,?\s*\bwith (?:the )?([\w+ ]{3,30}?)(?: keys?)? (?:held|pressed|down)(?: down)?$",
    re.IGNORECASE,
)
_PATH = re.compile(r"\s*(?:->|=>|→|›|»|▸|>|\|)\s*")
_NOT_KEYS = re.compile(r"\S\s+(?:button|link|tab|icon|checkbox|menu item|option)s?$", re.IGNORECASE)


def path_items(words: Guarded) -> tuple[str, ...] | None:
    """Read "File > Save As" as the items of a path; None where it is none."""
    text = re.sub(rf"^{THE}", "", words.text.strip(), flags=re.IGNORECASE)
    if (literal := words.part(text).only_literal) is not None and ">" in literal:
        first, *further = (item.strip() for item in literal.split(">"))
        items = (re.sub(r"\s+menu$", "", first), *further)
    else:
        # What was quoted is a name as it stands: "menu" is taken off only where it is the instruction's own word.
        *before, last = _PATH.split(text)
        last = re.sub(r"\s+(?:menu|menu item|entry|option|command)\s*$", "", last)
        items = tuple(words.part(re.sub(r"\s+menu\s*$", "", item)).plain.strip() for item in (*before, last))
    items = tuple(re.sub(r"(?:\.\.\.|…)$", "", item) for item in items)
    return items if len(items) > 1 and all(items) and max(map(len, items)) < 80 else None


def split_targets(words: Guarded) -> tuple[TargetQuery, ...]:
    """Read "'A', 'B' and 'C'" or "the OK button and the Cancel button" as several elements, anything else as one."""
    parts = split_list(words)
    if len(parts) > 1 and all(_is_element(part, first=number == 0) for number, part in enumerate(parts)):
        return tuple(parse_target(_with_noun(part, parts)) for part in parts)
    return (parse_target(words),)


def _is_element(part: Guarded, first: bool) -> bool:
    text = part.text
    return (
        text.startswith(OPEN)
        or (bool(re.search(PLACEHOLDER, text)) and first)
        or bool(re.match(r"the\s+\S", text, re.IGNORECASE))
    )


def _with_noun(part: Guarded, parts: tuple[Guarded, ...]) -> Guarded:
    """Give each of "the 'A', 'B' and 'C' buttons" the noun that stands at the end."""
    noun = re.search(
        rf"{PLACEHOLDER}\s+((?:check\s?box|button|link|tab|field|option|item|radio button)(?:e?s)?)$",
        parts[-1].text,
        re.IGNORECASE,
    )
    if noun and part.only_literal is not None:
        return part.part(f"{part.text} {noun[1]}")
    return part


def _click(found: Found) -> Intent | None:
    words, times = take_count(found["what"])
    kind = found["kind"].casefold().rstrip("- ")
    button: Button = _BUTTONS.get(kind, "left")
    if match := _WITH_BUTTON.search(words):
        words, button = words[: match.start()] + words[match.end() :], _BUTTONS[match[1].casefold()]
    hold: tuple[str, ...] = ()
    if match := _HOLDING.search(words):
        keys = parse_keys(match[1] or match[2])
        if keys and len(keys) == 1:
            words, hold = words[: match.start()], keys[0]
    if kind in MODIFIERS:
        hold = (MODIFIERS[kind],)
    part = found.words.part(words)
    if items := path_items(part):
        return FollowPath(items)
    return _clicked(part, _CLICKS.get(kind, 1), times, button, hold)


def _clicked(part: Guarded, clicks: int, times: int, button: Button, hold: tuple[str, ...]) -> Intent | None:
    if not part.text.strip():
        return None
    if times == 2 and clicks == 1 and not re.search(r"\btimes\b", part.text) and button == "left":
        clicks, times = 1, 2
    return ClickOn(split_targets(part), clicks, button, hold, times, said=part.plain)


def _press(found: Found) -> Intent | None:
    words, times = take_count(found["what"])
    part = found.words.part(words)
    text = part.only_literal if part.only_literal is not None else part.plain
    said = re.sub(r"^the\s+", "", text.strip(), flags=re.IGNORECASE)
    if _NOT_KEYS.search(said) or (">" in said and len(said) > 1 and path_items(part)):
        return None
    chords = parse_keys(
        re.sub(r"^(?:the\s+)?(?:keys?|hotkey|shortcut|key combination)\s+", "", said, flags=re.IGNORECASE)
    )
    if chords is None:
        return None
    is_key = bool(re.search(r"\b(?:keys?|shortcut|hotkey)\b", text, re.IGNORECASE))
    return PressKeys(chords, times, "" if is_key or len(chords) > 1 else said)


def _press_modified(found: Found) -> Intent | None:
    """Read "type ctrl+s" or "use Alt+F4" as keys, but only with a modifier or a function key."""
    chords = parse_keys(found.plain("what"))
    if chords and all(len(chord) > 1 or re.fullmatch(r"F\d+", chord[0]) for chord in chords):
        return PressKeys(chords)
    return None


def _hold_and_press(found: Found) -> Intent | None:
    held, pressed = parse_keys(found.plain("held")), parse_keys(found.plain("what"))
    if held is None or pressed is None or len(held) != 1:
        return None
    return PressKeys(tuple((*held[0], *chord) for chord in pressed))


def _explore(where: Literal["tabs", "sections"]) -> Build:
    def build(found: Found) -> Intent | None:
        return ClickOn((found.target("what"),), explore=where, said=found.plain("what"))

    return build


def _drag(found: Found) -> Intent | None:
    source, destination = found.target("what"), found.plain("where")
    if "slider" in source.kinds or (
        read_number(destination.rstrip("%")) is not None and not found.part("where").quotes
    ):
        return SetValue(source, destination)
    return DragOnto(source, found.target("where"))


_SCROLL_CLICKS = {
    "click": 1,
    "notch": 1,
    "step": 1,
    "tick": 1,
    "time": 3,
    "line": 1,
    "page": 10,
    "screen": 10,
    "pixel": 0,
    "px": 0,
}


def _scroll(found: Found) -> Intent | None:
    direction: Direction = found["direction"].casefold() or "down"  # type: ignore[assignment]  # the pattern knows no other
    within = found.target("within") if found["within"] else None
    clicks = None
    if number := read_number(found["number"] or found["number2"]):
        unit = (
            (found["unit"] or found["unit2"] or "click")
            .casefold()
            .rstrip("s")
            .replace("notche", "notch")
            .replace("clic", "click")
            .replace("clickk", "click")
        )
        clicks = number * _SCROLL_CLICKS.get(unit, 1) or max(1, number // 50)
    return ScrollView(direction, clicks, within=within)


def _scroll_to_end(found: Found) -> Intent | None:
    end = found["end"].casefold()
    direction: Direction = "up" if end in ("top", "start", "beginning") else "down"
    within = found.target("within") if found["within"] else None
    return ScrollView(direction, to_end=True, within=within)


def _scroll_until(found: Found) -> Intent | None:
    direction: Direction = found["direction"].casefold() or "down"  # type: ignore[assignment]  # the pattern knows no other
    return ScrollView(direction, until=found.target("what"))


def _unfold(found: Found) -> Intent | None:
    return Unfold(found.target("what"), expanded=found["verb"].casefold() in ("expand", "unfold", "open up", "reveal"))


def keys_of(*chords: Chord) -> Intent:
    """Return the intent to press chords."""
    return PressKeys(chords)


_CLICK_VERB = (
    r"(?:(?P<kind>double|triple|right|middle|left|ctrl|control|shift|alt)(?: |-|)\+?)?(?:click|tap)(?:s|ed)?(?: once)?"
)

RULES: tuple[Rule, ...] = (
    rule(
        r"(?:find|locate|look for|search for) and (?:click|select|press|open|choose|tap)(?: on)? (?P<what>.+)",
        _explore("sections"),
    ),
    rule(
        r"(?:switch|go|navigate|look|move|browse) (?:between|through|in|among|across) (?:the )?(?:different )?tabs,? (?:to|and) (?:find(?: and)?|look for(?: and)?) ?(?:click|select)?(?: on)? (?P<what>.+)",
        _explore("tabs"),
    ),
    rule(
        r"(?:expand|open) (?:the|each|all)?(?: of the)? ?(?:sections?|panels?|groups?|accordions?)(?: below)?,? ?(?:to|and) (?:find(?: and)?|look for(?: and)?) ?(?:click|select)?(?: on)? (?P<what>.+)",
        _explore("sections"),
    ),
    rule(
        r"(?:hold|keep)(?: down)?(?: pressed)? (?:the )?(?P<held>[\w+ -]{2,30}?)(?: keys?)?(?: down| pressed)? (?:and|while|then)(?: pressing| press| hitting| hit)? (?P<what>.+)",
        _hold_and_press,
    ),
    rule(r"(?:press|hit|strike|push|tap|send|use|key)(?: on| down on)? (?P<what>.+)", _press),
    rule(
        r"(?:use|send|type|enter|do|apply) (?:the )?(?:keyboard )?(?:shortcut |hotkey |keys? |key combination )?(?P<what>\S+(?: ?\+ ?\S+)*)",
        _press_modified,
    ),
    rule(rf"{_CLICK_VERB}(?: (?:on|onto|at))? (?P<what>.+)", _click),
    rule(
        r"(?P<kind>)(?:press|hit|push|strike|activate|invoke|trigger|follow|open with a click)(?: on)? (?P<what>.+)",
        _click,
    ),
    rule(
        r"(?:drag(?: and drop)?|move|pull|slide) (?P<what>.+?),? (?:and drop (?:it|them) )?(?:to the position of|on top of|onto|into|over|on|to|inside) (?P<where>.+)",
        _drag,
    ),
    rule(r"(?P<verb>expand|unfold|open up|collapse|fold|close up)(?: out)? (?P<what>.+)", _unfold),
    rule(
        r"(?:focus|put the (?:cursor|focus|caret)|place the (?:cursor|focus|caret)|set the (?:cursor|focus)|move the (?:cursor|focus|caret)|set focus|click)(?: (?:on|in|into|to|inside))+ (?P<what>.+)",
        lambda f: FocusOn(f.target("what")),
    ),
    rule(r"focus (?P<what>.+)", lambda f: FocusOn(f.target("what"))),
    rule(
        r"(?:scroll|go|jump|move)(?: all the way)?(?: (?:up|down))? to the (?:very )?(?P<end>top|bottom|end|start|beginning)(?: (?:of|in) (?:(?:the )?(?:page|document|window|file|text|article|sheet)|(?P<within>.+)))?",
        _scroll_to_end,
    ),
    rule(r"scroll(?: all the way)? (?P<end>top|bottom)(?P<within>)", _scroll_to_end),
    rule(
        rf"scroll {THE}(?P<within>(?!(?:up|down|all|to)\b)\S.*?)(?: all the way)?(?: (?:up|down))? to (?:the |its )(?:very )?(?P<end>top|bottom|end|start|beginning)(?: of the (?:text|list|page))?",
        _scroll_to_end,
    ),
    rule(
        r"scroll all the way (?P<direction>up|down)(?: in (?P<within>.+))?",
        lambda f: ScrollView(
            "up" if f["direction"].casefold() == "up" else "down",
            to_end=True,
            within=f.target("within") if f["within"] else None,
        ),
    ),
    rule(
        r"scroll(?: the (?:page|list|view|window|document))?(?: (?P<direction>up|down|left|right))?(?:,)? (?:to|till|until|so that|to find|to see|and find)(?: you (?:can )?(?:see|find|reach)| the| reaching)? (?P<what>.+?)(?: (?:is|are|becomes?|comes?|appears?|gets?)(?: (?:visible|shown|in(?:to)? (?:view|sight)|displayed|on (?:the )?screen))?)?",
        _scroll_until,
    ),
    rule(
        r"(?:scroll|page)(?: (?:the|this) (?:page|list|view|window|document))?(?: (?P<direction>up|down|left|right)(?:wards?)?)?"
        r"(?: (?:by )?(?P<number>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten) (?P<unit>clicks?|notch(?:es)?|steps?|ticks?|times?|lines?|pages?|screens?|pixels?|px))?"
        r"(?: (?P<number2>once|twice|thrice)(?P<unit2>))?(?: a (?:bit|little(?: bit)?))?"
        r"(?: (?:in|inside|on|within|over) (?:(?:the )?(?:page|window|document|screen)|(?P<within>.+)))?",
        _scroll,
    ),
    rule(r"page (?P<way>up|down)", lambda f: PressKeys(((f"Page_{f['way'].capitalize()}",),))),
)
