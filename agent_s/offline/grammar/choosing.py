"""Clauses about choices: select values, tick boxes, follow menu paths."""

from __future__ import annotations

import re
from dataclasses import replace

from agent_s.offline.grammar.base import CELL, THE, Found, Rule, always, rule
from agent_s.offline.grammar.pointing import path_items
from agent_s.offline.intents import (
    ClickOn,
    FocusOn,
    FollowPath,
    GoToCell,
    Intent,
    InTurn,
    NothingToDo,
    PressKeys,
    SelectOptions,
    SetChecked,
    SetValue,
)
from agent_s.offline.quoting import Guarded
from agent_s.offline.targets import TargetQuery, parse_target, split_list

SELECT = r"(?:select|choose|pick(?: out)?|opt for|go with|highlight|mark)"
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|(?:\d{1,2}(?:st|nd|rd|th)?\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,4}(?:st|nd|rd|th)?(?:,?\s+\d{4})?",
    re.IGNORECASE,
)
_DROP_DOWN = re.compile(r"\b(?:drop[- ]?down|pull[- ]?down|combo|select)$", re.IGNORECASE)
_ON_VERBS = ("check", "tick", "enable", "turn on", "switch on", "activate", "mark")
_BOX = frozenset({"checkbox", "switch", "toggle"})


def _path(found: Found) -> Intent | None:
    items = path_items(found.part("what"))
    return FollowPath(items) if items else None


def _from_menu(found: Found) -> Intent | None:
    """Read "choose Save As from the File menu" as a path; a drop-down menu is a list."""
    if _DROP_DOWN.search(found["menu"]):
        return None
    menu = re.sub(rf"^{THE}|\s+menu$", "", found["menu"], flags=re.IGNORECASE)
    inner = path_items(found.part("what")) or (_menu_item(found.part("what")),)
    return FollowPath((found.words.part(menu).plain, *inner))


def _menu_item(words: Guarded) -> str:
    query = parse_target(words)
    return query.name or words.plain


def _cells(found: Found) -> Intent | None:
    first, last = found["a"].upper().replace("$", ""), found["b"].upper().replace("$", "")
    return GoToCell(f"{first}:{last}" if last else first)


def values_of(words: Guarded) -> tuple[TargetQuery, ...]:
    """Read "A, B and C" as values."""
    return tuple(parse_target(part) for part in split_list(words))


def _select_from(found: Found) -> Intent | None:
    source, value = found.target("where"), found.part("what")
    if "menu" in source.kinds and "combo" not in source.kinds and source.name:
        return _from_menu_query(value, source)
    if set(source.kinds) & {"dialog", "window", "page", "form", "toolbar", "section"}:
        return None
    if _is_date(value):
        return SetValue(source, value.plain)
    prep = found["prep"].casefold()
    if prep in ("in", "on", "at", "of") and not (value.quotes or source.kinds or source.quoted):
        return None
    return SelectOptions(values_of(value), source, found.words.plain.partition(" ")[2])


def _from_menu_query(value: Guarded, source: TargetQuery) -> Intent:
    return FollowPath((source.name, *(path_items(value) or (_menu_item(value),))))


def _is_date(value: Guarded) -> bool:
    return bool(_DATE.fullmatch(value.plain.strip()))


def _select_with(found: Found) -> Intent | None:
    """Read "select 5 with the slider" as giving the slider that value."""
    control = found.target("where")
    if not set(control.kinds[:1]) & {"slider", "spin", "date"}:
        return None
    return SetValue(control, found.plain("what"))


def _set_each(found: Found) -> Intent | None:
    """Read "set the sliders to [5, 11, 10]": one value for each, in reading order."""
    control = found.target("where")
    if not set(control.kinds[:1]) & {"slider", "spin", "field"} or control.name:
        return None
    values = re.findall(r"-?\d+(?:\.\d+)?", found["values"])
    one = replace(control, every=False, phrase="")
    return InTurn(tuple(SetValue(replace(one, ordinal=n), value) for n, value in enumerate(values, start=1)))


def _select_as(found: Found) -> Intent | None:
    value = found.part("what")
    if _is_date(value):
        return SetValue(found.target("where"), value.plain)
    return SelectOptions(values_of(value), found.target("where"), found.words.plain.partition(" ")[2])


def _select(found: Found) -> Intent | None:
    value = found.part("what")
    query = parse_target(value)
    if _is_date(value):
        return SetValue(TargetQuery(phrase="date", name="date"), value.plain)
    if query.kinds and set(query.kinds[:1]) & {"field", "area"} and not query.state:
        return FocusOn(query)
    if query.kinds and query.kinds[0] in ("tab", "link", "button", "menu", "cell", "column", "toggle"):
        return ClickOn((query,), said=value.plain)
    if query.kinds and query.kinds[0] == "checkbox" and not query.every:
        return SetChecked(_boxes(value), True, value.plain)
    return SelectOptions(_shared_noun(value), None, value.plain)


def _shared_noun(value: Guarded) -> tuple[TargetQuery, ...]:
    """Read "the options A, B and C": each value is of the kind that is said once."""
    whole = parse_target(value)
    values = values_of(value)
    if len(values) > 1 and whole.kinds and not whole.within:
        return tuple(replace(part, kinds=part.kinds or whole.kinds) for part in values)
    return values


def _boxes(words: Guarded) -> tuple[TargetQuery, ...]:
    """Read the boxes of "the A and B boxes"."""
    parts = split_list(words)
    if len(parts) == 1:
        return (parse_target(words),)
    queries = [parse_target(part) for part in parts]
    kinds = next((query.kinds for query in reversed(queries) if set(query.kinds) & _BOX), ("checkbox", "switch"))
    return tuple(replace(query, kinds=query.kinds or kinds) for query in queries)


def _check(found: Found) -> Intent | None:
    verb = re.sub(r"\s+", " ", found["verb"].casefold())
    what = found.part("what")
    return SetChecked(_boxes(what), verb in _ON_VERBS, what.plain)


def _uncheck(found: Found) -> Intent | None:
    query = found.target("what")
    if found["verb"].casefold() == "clear" and (not set(query.kinds) & _BOX or "field" in query.kinds):
        return None
    return SetChecked(_boxes(found.part("what")), False, found.plain("what"))


def _turn(found: Found) -> Intent | None:
    return SetChecked(
        _boxes(found.part("what")),
        found["way"].casefold() in ("on", "checked", "enabled", "ticked", "selected"),
        found.plain("what"),
    )


def _toggle(found: Found) -> Intent | None:
    return SetChecked(_boxes(found.part("what")), None, found.plain("what"))


_FROM = r"(?P<prep>from(?: among)?(?: within)?|out of|in|inside|within|on|of|under|for|at)"

ENSURE = rule(
    r"(?:make sure|ensure|see to it|verify and ensure)(?: that)? (?P<what>.+?) (?:is|are)(?: all| both)? (?:set to |turned |switched )?(?P<way>on|off|checked|unchecked|ticked|unticked|enabled|disabled|not checked|not ticked|not selected|selected|deselected)",
    _turn,
)
""""Make sure that the box is checked" asks to check it, where "verify that ..." only asks to look."""

SET_EACH = rule(
    r"(?:set|move|drag|adjust|change) (?P<where>(?:the |all |all the |each of the )?\w+s) to (?:the )?(?:combination|values?|positions?|numbers?)? ?[\[(]? ?(?P<values>-?\d+(?:\.\d+)?(?: ?,(?: and)? ?-?\d+(?:\.\d+)?)+) ?[\])]?",
    _set_each,
)

RULES: tuple[Rule, ...] = (
    rule(
        rf"(?:{SELECT}|open|use|run|click(?: on)?|go to|navigate to|follow|press|hit|visit|access) (?:the )?(?:menu |menu item |menu path |menu entry |path |command )?(?P<what>.+?\s*(?:->|=>|→|›|»|▸|>|\|)\s*.+)",
        _path,
    ),
    rule(r"(?P<what>[^\s>][^>]{0,60}(?:\s(?:->|=>|→|›|»|▸|>)\s[^>]+)+)", _path),
    rule(
        rf"(?:{SELECT}|click(?: on)?|use|press|hit|open|activate|find) (?P<what>.+?) (?:from|in|under|on|of|inside) (?:the )?(?P<menu>[^,]{{1,40}}) menu",
        _from_menu,
    ),
    rule(
        rf"(?:open|click(?: on)?|go to|go into|pull down|use) (?:the )?(?P<menu>[^,]{{1,40}}?) menu,? (?:and|then|and then) (?:{SELECT}|click(?: on)?|go to|press|hit) (?P<what>.+)",
        _from_menu,
    ),
    rule(
        rf"{SELECT} (?:(?:the )?(?:all|everything|whole|entire|full)(?: of)?(?: the| its)?(?: (?:text|content|contents|document|file|page|body))?(?: (?:in|of) the (?:document|file|editor|page|window|text editor))?)",
        always(PressKeys((("ctrl", "a"),))),
    ),
    rule(
        rf"{SELECT} (?:all )?(?:of )?the (?:whole |entire |full )?text (?:in|of|inside) (?P<what>(?!the document).+?)(?: (?:below|above))?",
        lambda f: ClickOn((f.target("what"),), clicks=3, said=f.plain("what")),
    ),
    rule(rf"{SELECT} (?:nothing|none|no options?|no items?|none of (?:the|them).*)", always(NothingToDo())),
    rule(
        rf"(?:{SELECT}|go to|click(?: on)?|move to|jump to) (?:the )?(?:cells?|range|cell range|block)? ?(?P<a>{CELL})(?:\s*(?::|to|through|-|–)\s*(?P<b>{CELL}))?",
        _cells,
    ),
    rule(rf"{SELECT} (?P<what>.+) (?:as|for) (?:the |your |my )(?P<where>.+)", _select_as),
    rule(rf"{SELECT} (?P<what>.+) as (?P<where>.+)", _select_as),
    rule(rf"{SELECT} (?P<what>.+?) (?:with|using|by means of) (?P<where>.+)", _select_with),
    rule(rf"{SELECT} (?P<what>.+) {_FROM} (?P<where>.+)", _select_from),
    rule(rf"{SELECT} (?P<what>.+)", _select),
    rule(
        r"(?P<verb>check|tick|enable|turn on|switch on|activate|mark)(?: off)? (?!that\b|whether\b|if\b|for\b)(?P<what>.+)",
        _check,
    ),
    rule(
        r"(?P<verb>uncheck|untick|unmark|disable|turn off|switch off|deactivate|deselect|unselect|clear)(?: the (?:selection|tick|mark|check) (?:of|from|in))? (?P<what>.+)",
        _uncheck,
    ),
    rule(
        r"remove the (?:check|tick)(?: ?mark)? (?P<verb>from|of|in|next to|beside) (?P<what>.+)",
        lambda f: SetChecked(_boxes(f.part("what")), False, f.plain("what")),
    ),
    rule(
        r"(?:turn|switch|set|flip|make|leave|keep)(?: the)? (?P<what>.+?)(?: to(?: be)?)? (?P<way>on|off|checked|unchecked|ticked|unticked|enabled|disabled|selected|deselected)",
        _turn,
    ),
    rule(r"(?:toggle|flip)(?: the state of)? (?P<what>.+)", _toggle),
)
