"""From a clause to what it asks for.

`parse_clause` first takes off what is around the core of a clause (a condition, "in the File menu,", "by clicking ...",
a purpose), then tries the rules in order. What no rule reads is `NotUnderstood` with the words.
"""

from __future__ import annotations

import re
from dataclasses import replace

from agent_s.offline.grammar import choosing, looking, pointing, typing, windows
from agent_s.offline.grammar.base import CELL, THE, Rule, first_reading
from agent_s.offline.grammar.looking import parse_condition, shown
from agent_s.offline.grammar.pointing import path_items
from agent_s.offline.intents import (
    ClickOn,
    Command,
    Condition,
    EnterCells,
    FillIn,
    FollowPath,
    InPlace,
    Intent,
    InTurn,
    NothingToDo,
    NotUnderstood,
    OnlyIf,
    PressKeys,
    RepeatUntil,
    SaveFile,
    SelectOptions,
    SetChecked,
    SetValue,
    TypeText,
    WaitFor,
)
from agent_s.offline.keys import parse_keys
from agent_s.offline.lexicon import after_place, base_form, first_verb, strip_fillers
from agent_s.offline.quoting import OPEN, Guarded, guard
from agent_s.offline.targets import TargetQuery, parse_target

LONGEST = 2500
"""Characters of a clause, quoted text not counted; longer ones are texts to be typed, or not understood."""

RULES: tuple[Rule, ...] = (
    choosing.ENSURE,
    choosing.SET_EACH,
    *looking.RULES,
    *windows.EDIT_RULES,
    *choosing.RULES[:4],
    *pointing.RULES,
    *choosing.RULES[4:],
    *typing.RULES,
    *windows.RULES,
)

_APPLICATION = re.compile(r"\s*\(application: (?P<app>[^()]{1,120})\)\s*$")
_IF = re.compile(r"(?:if|in case)\s+(?P<condition>[^,]{2,200}),\s*(?:then\s+)?(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_IF_BEHIND = re.compile(r"(?P<rest>.+?)\s*,?\s+(?:if|in case)\s+(?P<condition>.{2,200})", re.IGNORECASE | re.DOTALL)
_WHEN = re.compile(
    r"(?:when|once|as soon as|after|whenever)\s+(?P<condition>[^,]{2,200}),\s*(?P<rest>.+)", re.IGNORECASE | re.DOTALL
)
_UNTIL = re.compile(
    r"(?:keep\s+)?(?P<rest>(?:click|press|tap|hit|press(?:ing)?|clicking|scroll(?:ing)?|repeat(?:edly)?|hitting|tapping)\b.+?)\s+(?:repeatedly\s+)?until\s+(?P<condition>.+)",
    re.IGNORECASE | re.DOTALL,
)
_BY = re.compile(
    r"(?P<goal>.+?)\s*,?\s+(?:by|via)\s+(?P<way>(?:clicking|pressing|choosing|selecting|using|typing|going|hitting|double-clicking|opening|checking|ticking|unchecking|entering|dragging|tapping|navigating|right-clicking)\b.+)",
    re.IGNORECASE | re.DOTALL,
)
_USING = re.compile(
    r"(?P<goal>.+?)\s*,?\s+(?:using|with|through|via|from|by means of)\s+(?:the\s+)?(?P<way>keyboard|mouse|keyboard shortcut|[^,]{1,40}\s+menu|menu|menus|menu bar)",
    re.IGNORECASE | re.DOTALL,
)
_PURPOSE = re.compile(
    r"\s*,?\s+(?:in\s+order\s+to|so\s+that|so\s+as\s+to|to)\s+(?:confirm|save|close|apply|accept|dismiss|submit|open|finish|complete|continue|proceed|go|start|see|view|show|reveal|log\s+in|sign\s+in|enter|cancel|exit|send|search|move|bring|get|select|create|expand|collapse|make|return|undo|calculate|compute|add|delete|remove|reload|refresh|commit|execute|run|play|display|end|quit|switch|activate|enable|disable|change|insert|copy|paste|leave|focus|load|launch|verify|check|it|you)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_TO_FIRST = re.compile(r"(?:in\s+order\s+to|to)\s+[^,]{3,120},\s*(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_NOT_TO = re.compile(r"(?:do\s+not|don't|never|without|avoid)\b.*", re.IGNORECASE | re.DOTALL)
_PLACE_COMMA = re.compile(
    r"(?P<prep>in|on|at|inside|within|from|under|into|for|using|with|as|to)\s+(?P<place>[^,]{1,160}?),\s*(?P<rest>.+)",
    re.IGNORECASE | re.DOTALL,
)
_USE_TO = re.compile(
    r"(?:use|go\s+to|go\s+into|utili[sz]e)\s+(?P<place>.{1,80}?)\s+(?:to|and)\s+(?P<rest>(?:enter|type|write|search|select|choose|pick|set|find|input|submit)\b.+)",
    re.IGNORECASE | re.DOTALL,
)
_BEFORE = re.compile(r"before\s+(?P<later>[a-z]+ing\b[^,]{0,200}),\s*(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_TAKES_IF = ("check", "verify", "see", "save", "look", "type", "write", "overwrite", "replace")
"""Verbs behind which "if" belongs to what they are about."""
_PURPOSEFUL = (
    "click",
    "press",
    "hit",
    "tap",
    "select",
    "choose",
    "use",
    "double-click",
    "push",
    "pick",
    "right-click",
    "check",
    "tick",
)


def parse_clause(words: Guarded | str) -> Intent:
    """Return what a clause asks for; `NotUnderstood` where it has no reading."""
    guarded = guard(words) if isinstance(words, str) else words
    guarded = guarded.part(_APPLICATION.sub("", guarded.text))
    text = strip_fillers(guarded.text)
    if len(text) > LONGEST:
        return _long(guarded.part(text))
    return _parse(guarded.part(text), depth=0)


def application_of(info: str) -> str:
    """Return the application that a subtask's information names, "" where it names none."""
    match = _APPLICATION.search(info)
    return match["app"] if match else ""


def _long(words: Guarded) -> Intent:
    verb, _, rest = words.text.partition(" ")
    if base_form(verb) in ("type", "write", "enter", "input"):
        return typing.typed(words.part(rest)) or NotUnderstood(words.plain[:200])
    return NotUnderstood(words.plain[:200])


def _parse(words: Guarded, depth: int) -> Intent:
    text = strip_fillers(words.text)
    words = words.part(text if "\n" in text else re.sub(r"(?<=[\w\ue001)\"'])[.!?]+$", "", text))
    if depth > 4 or not words.text:
        return NotUnderstood(words.plain)
    for wrapper in (_literal_clause, _forbidden, _conditional, _placed, _by_way_of, _with_purpose):
        intent = wrapper(words, depth)
        if intent is not None:
            return intent
    return _core(words)


def _core(words: Guarded) -> Intent:
    intent = first_reading(RULES, words)
    if intent is not None:
        return intent
    if first_verb(words.text):
        return Command(words.plain)
    return NotUnderstood(words.plain)


def _literal_clause(words: Guarded, depth: int) -> Intent | None:
    """Read an instruction that is quoted as a whole."""
    literal = words.only_literal
    if literal is None or not first_verb(literal):
        return None
    return _parse(guard(literal), depth + 1)


def _forbidden(words: Guarded, depth: int) -> Intent | None:
    """Something that is not to be done needs nothing done, but "don't save" answers a question."""
    if re.fullmatch(r"(?:do\s+)?nothing(?:\s+(?:else|more|at\s+all))?", words.text, re.IGNORECASE):
        return NothingToDo()
    if not _NOT_TO.fullmatch(words.text) or re.match(r"(?:do\s+not|don't)\s+save\b", words.text, re.IGNORECASE):
        return None
    return NothingToDo()


def _conditional(words: Guarded, depth: int) -> Intent | None:
    """Read what is to be done only if, when, before, after or until something."""
    if match := _IF.fullmatch(words.text):
        return _if(words, match, depth)
    if (match := _WHEN.fullmatch(words.text)) and (waiting := _when(words.part(match["condition"]), depth)):
        return InTurn((waiting, _parse(words.part(match["rest"]), depth + 1)))
    if match := _BEFORE.fullmatch(words.text):
        return InTurn((_parse(words.part(match["rest"]), depth + 1), _parse(words.part(match["later"]), depth + 1)))
    return _conditional_behind(words, depth)


def _conditional_behind(words: Guarded, depth: int) -> Intent | None:
    """Read "click Next until 'Finish' appears" and "click OK if a dialog appears"."""
    match = _UNTIL.fullmatch(words.text)
    condition = parse_condition(words.part(match["condition"])) if match else None
    if match and condition and first_verb(strip_fillers(match["rest"])) != "scroll":
        return RepeatUntil(_parse(words.part(match["rest"]), depth + 1), condition)
    match = _IF_BEHIND.fullmatch(words.text)
    if match and first_verb(match["rest"]) not in _TAKES_IF:
        return _if(words, match, depth)
    return None


def _if(words: Guarded, match: re.Match[str], depth: int) -> Intent | None:
    said = words.part(match["condition"])
    condition = parse_condition(said)
    inner = _parse(words.part(match["rest"]), depth + 1)
    if (
        condition is not None
        and re.match(r"(?:it|they|one|there|that|this)\b", said.text, re.IGNORECASE)
        and (subject := _subject(inner))
    ):
        condition = replace(condition, target=subject)
    if re.fullmatch(
        r"(?:you are |you're |it is |it's )?(?:asked|prompted|necessary|needed|required|applicable)(?:\s.*)?|it asks.*",
        said.text,
        re.IGNORECASE,
    ):
        condition = Condition("shown", TargetQuery(phrase="dialog", kinds=("dialog",)), words=said.plain)
    if condition is None:
        return NotUnderstood(said.plain)
    return OnlyIf(condition, inner)


def _subject(intent: Intent) -> TargetQuery | None:
    """Return the element that an intent is about, for "... if it exists"."""
    match intent:
        case ClickOn(targets=(query, *_)) | SelectOptions(values=(query, *_)) | SetChecked(targets=(query, *_)):
            return query
        case SetValue(target=query) | TypeText(target=TargetQuery() as query):
            return query
        case _:
            return None


def _when(said: Guarded, depth: int) -> Intent | None:
    """Read "when the dialog opens" as a wait, and "after clicking OK" as something to do first."""
    if re.match(r"[a-z]+ing\b", said.text, re.IGNORECASE) and first_verb(strip_fillers(said.text)):
        deed = _parse(said, depth + 1)
        return NothingToDo() if isinstance(deed, TypeText | FillIn) and not said.quotes else deed
    condition = parse_condition(said)
    if condition is not None:
        return WaitFor(condition)
    if re.fullmatch(
        r"(?:you(?:'re| are)\s+)?(?:done|finished|ready|there)|(?:that|this)\s+is\s+done|asked|prompted|it\s+.*",
        said.text,
        re.IGNORECASE,
    ):
        return NothingToDo()
    return None


def _placed(words: Guarded, depth: int) -> Intent | None:
    """Read "in the File menu, choose Save As", "in B2 enter 5", "use the textbox to enter 'x'"."""
    if match := _TO_FIRST.fullmatch(words.text):
        rest = strip_fillers(match["rest"])
        if first_verb(rest):
            return _parse(words.part(rest), depth + 1)
    if (match := _USE_TO.fullmatch(words.text)) and parse_keys(match["place"]) is None:
        return _in_place("in", words.part(match["place"]), _parse(words.part(match["rest"]), depth + 1))
    match = _PLACE_COMMA.fullmatch(words.text)
    if match and first_verb(strip_fillers(match["rest"])):
        return _in_place(match["prep"], words.part(match["place"]), _parse(words.part(match["rest"]), depth + 1))
    return _placed_before_verb(words, depth)


def _placed_before_verb(words: Guarded, depth: int) -> Intent | None:
    rest = after_place(words.text)
    if not rest or rest not in words.text:
        return None
    prep, _, place = words.text[: words.text.rindex(rest)].partition(" ")
    if not re.fullmatch(r"in|on|at|inside|within|from|under|into|for|using|with|as", prep, re.IGNORECASE):
        return None
    inner = _parse(words.part(rest), depth + 1)
    if isinstance(inner, NotUnderstood | Command):
        return None
    return _in_place(prep, words.part(place.strip(" ,")), inner)


def _in_place(prep: str, place: Guarded, intent: Intent) -> Intent:
    """Put a place that was said first where it belongs in the intent."""
    query = parse_target(place)
    if isinstance(intent, NotUnderstood):
        return intent
    if re.fullmatch(rf"{THE}(?:cell\s+)?{CELL}", place.text, re.IGNORECASE) and isinstance(intent, TypeText):
        return EnterCells(((place.plain.split()[-1].upper(), intent.text),))
    if "menu" in query.kinds and query.name and "combo" not in query.kinds and (items := _items(intent)):
        return FollowPath((query.name, *items))
    if re.fullmatch(
        rf"{THE}(?:mouse|keyboard|menu|menus|menu bar|page|screen|same window|desktop|computer|it|there)",
        place.text,
        re.IGNORECASE,
    ):
        return intent
    if prep.casefold() in ("as", "for", "to") and isinstance(intent, SelectOptions | TypeText):
        value = intent.said if isinstance(intent, SelectOptions) else intent.text
        return replace(intent, source=query) if isinstance(intent, SelectOptions) else SetValue(query, value)
    if isinstance(intent, SelectOptions) and intent.source is None and set(query.kinds) & {"combo", "list"}:
        return replace(intent, source=query)
    if isinstance(intent, TypeText) and intent.target is None and set(query.kinds) & {"field", "combo", "spin"}:
        return replace(intent, target=query)
    return InPlace(query, intent)


def _items(intent: Intent) -> tuple[str, ...]:
    """Return what a click or choice in a menu names."""
    match intent:
        case ClickOn(targets=(query,)) | SelectOptions(values=(query,), source=None):
            return (query.name or query.phrase,)
        case SelectOptions(said=said, source=None) if said:
            return (said,)
        case FollowPath(items=items):
            return items
        case SaveFile(name="", folder=""):
            return ("Save",)
        case _:
            return ()


def _by_way_of(words: Guarded, depth: int) -> Intent | None:
    """Read "close the dialog by clicking 'x'": the way that is said is the one to go, unless it lacks what the goal says."""
    if match := _BY.fullmatch(words.text):
        goal, way = _parse(words.part(match["goal"]), depth + 1), _parse(words.part(match["way"]), depth + 1)
        if isinstance(goal, SaveFile | TypeText | SetValue) and (not isinstance(goal, SaveFile) or goal.name):
            return goal
        return way if not isinstance(way, NotUnderstood | Command) else goal
    if intent := _by_keys_or_path(words, depth):
        return intent
    if (match := _USING.fullmatch(words.text)) and first_verb(match["goal"]) not in (
        "type",
        "write",
        "choose",
        "select",
        "click",
        "use",
        "open",
        "fill",
    ):
        goal = _parse(words.part(match["goal"]), depth + 1)
        menu = re.fullmatch(r"(.+)\s+menu", match["way"], re.IGNORECASE)
        items = _items(goal)
        if menu and items:
            return FollowPath((words.part(menu[1]).plain, *items))
        return goal if not isinstance(goal, NotUnderstood | Command) else None
    return None


_BY_KEYS = re.compile(
    r"(?P<goal>.+?)\s*,?\s+(?:with|using|via|by|through|by\s+means\s+of|from)\s+(?:the\s+)?(?:keyboard\s+)?(?:shortcut\s+|keys?\s+|menu\s+)?(?P<way>\S.{0,120})",
    re.IGNORECASE | re.DOTALL,
)


def _by_keys_or_path(words: Guarded, depth: int) -> Intent | None:
    """Read "show hidden files with ctrl+h" and "switch the view via View > List View"."""
    match = _BY_KEYS.fullmatch(words.text)
    if match is None or first_verb(match["goal"]) in (
        "type",
        "write",
        "enter",
        "fill",
        "replace",
        "click",
        "choose",
        "select",
        "save",
        "search",
        "find",
        "set",
    ):
        return None
    way = words.part(match["way"])
    if ">" in way.text and (items := path_items(way)):
        return FollowPath(items)
    chords = parse_keys(way.plain)
    if chords and all(len(chord) > 1 or re.fullmatch(r"F\d+", chord[0]) for chord in chords):
        return PressKeys(chords)
    return None


def _with_purpose(words: Guarded, depth: int) -> Intent | None:
    """Take the purpose off "press enter to confirm"."""
    if first_verb(words.text) not in _PURPOSEFUL:
        return None
    match = _PURPOSE.search(words.text)
    if match is None or not words.text[: match.start()].strip() or " " not in words.text[: match.start()].strip():
        return None
    intent = _core(words.part(words.text[: match.start()]))
    return None if isinstance(intent, NotUnderstood | Command) else intent


__all__ = ["OPEN", "application_of", "parse_clause", "path_items", "shown"]
