"""Words that instructions are made of: verbs that begin one, fillers that say nothing, numbers."""

from __future__ import annotations

import re

VERBS = frozenset(
    [
        "accept",
        "activate",
        "add",
        "adjust",
        "agree",
        "answer",
        "append",
        "apply",
        "approve",
        "apply",
        "arrange",
        "attach",
        "begin",
        "bold",
        "bookmark",
        "bring",
        "browse",
        "calculate",
        "cancel",
        "change",
        "check",
        "choose",
        "clear",
        "click",
        "close",
        "collapse",
        "complete",
        "compute",
        "confirm",
        "continue",
        "copy",
        "create",
        "cut",
        "deactivate",
        "decline",
        "decrease",
        "delete",
        "deselect",
        "disable",
        "discard",
        "dismiss",
        "doubleclick",
        "double-click",
        "drag",
        "drop",
        "edit",
        "empty",
        "enable",
        "enlarge",
        "ensure",
        "enter",
        "erase",
        "execute",
        "exit",
        "expand",
        "export",
        "fill",
        "find",
        "finish",
        "focus",
        "follow",
        "fold",
        "format",
        "get",
        "give",
        "go",
        "grab",
        "head",
        "highlight",
        "hit",
        "hold",
        "hover",
        "import",
        "increase",
        "input",
        "insert",
        "invoke",
        "italicize",
        "jump",
        "keep",
        "key",
        "launch",
        "leave",
        "left-click",
        "let",
        "load",
        "locate",
        "log",
        "login",
        "look",
        "lower",
        "make",
        "mark",
        "maximise",
        "maximize",
        "middle-click",
        "minimise",
        "minimize",
        "modify",
        "move",
        "name",
        "navigate",
        "note",
        "open",
        "opt",
        "overwrite",
        "paste",
        "pick",
        "place",
        "play",
        "point",
        "press",
        "print",
        "proceed",
        "pull",
        "push",
        "put",
        "quit",
        "raise",
        "read",
        "record",
        "redo",
        "refresh",
        "reject",
        "reload",
        "remember",
        "remove",
        "rename",
        "repeat",
        "replace",
        "reset",
        "restart",
        "restore",
        "retrieve",
        "return",
        "reveal",
        "right-click",
        "rightclick",
        "run",
        "save",
        "scroll",
        "search",
        "see",
        "select",
        "send",
        "set",
        "share",
        "show",
        "shut",
        "sign",
        "slide",
        "sort",
        "start",
        "stop",
        "store",
        "submit",
        "switch",
        "swipe",
        "tap",
        "tell",
        "terminate",
        "tick",
        "toggle",
        "triple-click",
        "turn",
        "type",
        "unbold",
        "uncheck",
        "underline",
        "undo",
        "unfold",
        "unmark",
        "unselect",
        "untick",
        "update",
        "upload",
        "use",
        "verify",
        "view",
        "visit",
        "wait",
        "work",
        "write",
        "zoom",
    ]
)
"""Words that can begin an instruction."""

NOUN_VERBS = frozenset(
    [
        "answer",
        "bold",
        "format",
        "hold",
        "key",
        "name",
        "note",
        "view",
        "work",
        "share",
        "play",
        "point",
        "record",
        "complete",
        "place",
    ]
)
"""Verbs so often used as nouns that "and" before one does not begin a new instruction by itself."""

_GERUND_STEMS = {
    "typing": "type", "writing": "write", "choosing": "choose", "closing": "close", "using": "use", "saving": "save",
    "pasting": "paste", "dragging": "drag", "dropping": "drop", "putting": "put", "setting": "set", "hitting": "hit",
    "running": "run", "scrolling": "scroll", "navigating": "navigate", "replacing": "replace", "deleting": "delete",
    "removing": "remove", "enabling": "enable", "disabling": "disable", "toggling": "toggle", "cutting": "cut",
    "double-clicking": "double-click", "right-clicking": "right-click", "tapping": "tap", "invoking": "invoke",
    "executing": "execute", "changing": "change", "updating": "update", "browsing": "browse", "locating": "locate",
    "creating": "create", "renaming": "rename", "activating": "activate", "getting": "get",
}  # fmt: skip

_POLITE = r"""
    please | kindly | now | next | first(?:ly)?(?:\ of\ all)? | second(?:ly)? | third(?:ly)? | last(?:ly)? | finally | also | again | just | simply
  | then | so | ok(?:ay)? | and | but | hi | hello\ there | hey | afterwards? | thereafter | subsequently | immediately | quickly | carefully
  | after\ (?:that|this) | once\ (?:that\ is\ )?done | when\ (?:that\ is\ )?(?:done|finished) | at\ the\ end | in\ the\ end | to\ (?:begin|start)\ with | as\ a\ (?:first|last|next|final)\ step
  | (?:could|can|would|will)\ you(?:\ please)? | would\ you\ mind | you\ (?:should|must|need\ to|have\ to|can|may|will\ need\ to) | i\ (?:want|need|would\ like|'d\ like)\ (?:you\ )?to | i'd\ like\ (?:you\ )?to
  | i\ want\ you\ to | let's | let\ us | go\ ahead\ and | make\ sure\ (?:to|you) | be\ sure\ to | remember\ to | don't\ forget\ to | do\ not\ forget\ to | try\ to | your\ (?:task|job|goal)\ is\ to
  | (?:the\ )?(?:task|goal|instructions?)\s*: | you\ are\ (?:asked|to)\ to | proceed\ to | continue\ by | start\ by | begin\ by | end\ by | finish\ by | we\ (?:need|want|have)\ to | it\ is\ time\ to
  | use\ the\ (?:mouse|keyboard)\ (?:to|and) | with\ the\ (?:mouse|keyboard),? | using\ the\ (?:mouse|keyboard),? | from\ there | here | there | in\ addition | additionally | meanwhile | besides | by
  | (?:step|part)\ (?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)\s*[:.)-]? | in\ order\ to
"""
_LEADING = re.compile(rf"(?:(?:{_POLITE})(?![\w'-])\s*[,:]?\s*)", re.IGNORECASE | re.VERBOSE)
_TRAILING = re.compile(
    r"(?:[\s,]+(?:please|for me|thanks|thank you|thx|if you (?:can|could|would|please)|right now|now|too|as well|instead|"
    r"when (?:you are )?(?:done|finished)|afterwards?|once more|and that's it|and you(?:'re| are) done))+$",
    re.IGNORECASE,
)

NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "once": 1, "twice": 2, "thrice": 3, "both": 2,
}  # fmt: skip
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "last": -1, "final": -1, "bottommost": -1,
}  # fmt: skip
_COUNT = re.compile(
    r"\s*,?\s*\b(?:(once|twice|thrice)|(\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s*(?:times|x))\b(?:\s+in a row)?",
    re.IGNORECASE,
)


def read_number(word: str) -> int | None:
    """Read a whole number in digits or words."""
    lowered = word.strip().casefold()
    if lowered.isascii() and lowered.isdigit() and len(lowered) < 8:
        return int(lowered)
    return NUMBERS.get(lowered)


def read_ordinal(word: str) -> int | None:
    """Read "second", "2nd" or "#2"; -1 is the last."""
    lowered = word.casefold()
    if match := re.fullmatch(r"(\d{1,4})(?:st|nd|rd|th)|#(\d{1,4})", lowered):
        return int(match[1] or match[2])
    return ORDINALS.get(lowered)


def take_count(text: str) -> tuple[str, int]:
    """Take "twice" or "3 times" out of a text; return the rest and the number, 1 where there is none."""
    found = list(_COUNT.finditer(text))
    if not found:
        return text, 1
    match = found[-1]
    if match.start() and match.end() < len(text.rstrip()) and not text[match.end() :].lstrip().startswith((",", "to ")):
        return text, 1
    number = read_number(match[1] or match[2]) or 1
    return (text[: match.start()] + text[match.end() :]).strip(" ,"), number


def strip_fillers(text: str) -> str:
    """Take away politeness and words of order at both ends, and turn a leading "clicking" into "click"."""
    text = text.strip(" \t\n,;")
    while match := _LEADING.match(text):
        rest = text[match.end() :]
        if not rest.strip(" .!?") or _is_needed(match[0], rest):
            break
        text = rest
    text = _TRAILING.sub("", text).strip()
    first, _, rest = text.partition(" ")
    base = base_form(first)
    return f"{base} {rest}".strip() if base != first.casefold() else text


def is_filler(text: str) -> bool:
    """Tell whether a text is nothing but politeness or words of order."""
    return bool(re.fullmatch(rf"(?:{_LEADING.pattern})+", f"{text.strip(' ,')} ", re.IGNORECASE | re.VERBOSE))


def _is_needed(filler: str, rest: str) -> bool:
    """Tell a filler from the head of an object: "last tab", "second button", or "next to ..."."""
    word = filler.strip(" ,:").casefold()
    if word.split()[0] in ("first", "second", "third", "last", "next", "here", "there", "by", "hello", "ok", "okay"):
        return not (filler.rstrip().endswith((",", ":")) or first_verb(rest) or _LEADING.match(rest))
    return False


def base_form(word: str) -> str:
    """Return the base form of a verb's "-ing" form; any other word in lower case."""
    lowered = word.casefold()
    if lowered in _GERUND_STEMS:
        return _GERUND_STEMS[lowered]
    if lowered.endswith("ing") and lowered[:-3] in VERBS:
        return lowered[:-3]
    return lowered


def first_verb(text: str) -> str:
    """Return the verb that begins a text, in its base form; empty where none does."""
    match = re.match(r"[A-Za-z][A-Za-z-]*", text)
    if match is None or re.match(r"[\w']", text[match.end() : match.end() + 1]):
        return ""
    word = base_form(match[0])
    return word if word in VERBS else ""


_PLACE_WORD = re.compile(
    r"(?:in|on|at|from|under|inside|within|into|for|with|using|as|to|starting|through|via|once|when|if|after|until|while)\s",
    re.IGNORECASE,
)


def after_place(text: str) -> str:
    """Return what follows "in the File menu," or "in B2" where it begins with a verb; empty where it does not."""
    if not _PLACE_WORD.match(text):
        return ""
    tokens = list(re.finditer(r"\S+", text[:300]))
    for token, before in zip(tokens[2:], tokens[1:], strict=False):
        ends_with_comma = before[0].endswith((",", ":"))
        rest = text[token.start() :]
        if ends_with_comma:
            rest = strip_fillers(rest)
        if first_verb(rest) and (ends_with_comma or token[0].islower()):
            return rest
    return ""
