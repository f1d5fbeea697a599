"""Clauses about text: type, fill in, put into cells, replace, clear, set to a value."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from agent_s.offline.grammar.base import CELL, THE, Found, Q, Rule, rule
from agent_s.offline.grammar.pairs import cells_of_table, parse_cell_list, parse_pairs, spread_over_cells
from agent_s.offline.grammar.windows import is_app
from agent_s.offline.intents import (
    ClearField,
    EnterCells,
    FillIn,
    Intent,
    InTurn,
    PressKeys,
    ReplaceText,
    SetChecked,
    SetValue,
    TypeText,
)
from agent_s.offline.lexicon import read_number
from agent_s.offline.quoting import CLOSE, OPEN, Guarded
from agent_s.offline.roles import NOUNS
from agent_s.offline.targets import TargetQuery, parse_target, split_list

TYPE = r"(?:type(?: in| out)?|write(?: down| out)?|enter(?: in)?|input|key in|insert|put(?: in)?|jot down|compose|provide|supply|specify|fill in)"
ADD = r"(?:append|add)"
TEXT_NOUN = (
    r"(?:following |exact )*(?:text|words?|phrase|sentence|sentences|string|characters?|letters?|numbers?|digits?|values?|message|formula|lines?|"
    r"content|contents|expression|equation|command|paragraph|line of text|text string|title|heading|note|text as follows)"
)
_STRONG = r"(?:into|inside(?: of)?|in to|onto)"
_CASES = re.compile(
    r"\s*,?\s*\b(?:in|using|with)\s+(?:all\s+)?(upper|lower|capital|title)[ -]?(?:case)?(?:\s*(?:letters?|characters?|caps))?\b|\s*,?\s*\bin\s+(?:all\s+)?caps\b",
    re.IGNORECASE,
)
_ENTER_AFTER = re.compile(
    r"\s*,?\s+(?:followed by|and (?:press|hit|then press)|then press|with)\s+(?:the\s+|an?\s+)?(?:enter|return)(?:\s+key)?$",
    re.IGNORECASE,
)
_NEW_LINE = re.compile(
    r"\s*,?\s*\b(?:on|in|as|into)\s+(?:a|the)\s+(?:new|next|second|separate|following)\s+line$", re.IGNORECASE
)
_REPLACING = re.compile(
    r"\s*,?\s*\b(?:replacing|overwriting|in\s+place\s+of|instead\s+of)\s+(?:the|what|whatever|any|it|all|everything)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_WHERE_END = re.compile(
    r"\s*,?\s*\b(?:at|to)\s+the\s+(?:very\s+)?(end|bottom|beginning|start|top)(?:\s+of\s+(?:the\s+|this\s+)?(?:document|file|text|page|note|line|editor|body))?$",
    re.IGNORECASE,
)
_PLAIN_PLACE = re.compile(
    r"(?:the\s+|a\s+)?(?:document|file|page|text editor|editor|window|new document|blank document|empty document|text area|body|current document|editing area|open document|cursor|current position)",
    re.IGNORECASE,
)


def typed(payload: Guarded, target: Guarded | None = None, verb: str = "type") -> Intent | None:
    """Return the intent to type a payload, which may carry case, line and place words behind it."""
    text, enter, case, ahead = payload.text.strip(), False, "", ""
    mode: Literal["usual", "replace", "append"] = "append" if verb.startswith(("append", "add")) else "usual"
    if match := _ENTER_AFTER.search(text):
        text, enter = text[: match.start()], True
    if match := _REPLACING.search(text):
        text, mode = text[: match.start()], "replace"
    if match := _WHERE_END.search(text):
        text, ahead = text[: match.start()], match[1].casefold()
    if match := _NEW_LINE.search(text):
        text, ahead = text[: match.start()], "line"
    if match := _CASES.search(text):
        text, case = text[: match.start()] + text[match.end() :], (match[1] or "upper").casefold()
    content = _content(payload.part(text))
    if content is None:
        return None
    content = _cased(content, case)
    query = _place(target)
    intent = TypeText(content, query, enter=enter, mode="append" if ahead else mode)
    return _moved_ahead(intent, ahead)


def _moved_ahead(intent: TypeText, ahead: str) -> Intent:
    if ahead == "line":
        return replace(intent, text="\n" + intent.text)
    if ahead in ("beginning", "start", "top"):
        return InTurn((PressKeys((("ctrl", "Home"),)), replace(intent, mode="append")))
    if ahead:
        return InTurn((PressKeys((("ctrl", "End"),)), intent))
    return intent


def _place(target: Guarded | None) -> TargetQuery | None:
    if target is None or _PLAIN_PLACE.fullmatch(target.text.strip()):
        return None
    return parse_target(target)


def _content(payload: Guarded) -> str | None:
    """Return what is to be typed: what is quoted, or the words themselves."""
    text = re.sub(
        rf"^{THE}(?:(?:short|long|new|single|simple|brief|another)\s+)?{TEXT_NOUN}(?:\s*:\s*|\s+(?={OPEN})|\s+(?:that\s+says|saying|reading|containing)\s*:?\s+)",
        "",
        payload.text.strip(),
        flags=re.IGNORECASE,
    )
    text = re.sub(r"^(?:in\s+)?(?:the\s+following\s*)?:\s*", "", text, flags=re.IGNORECASE).strip()
    text = re.sub(
        r"^the\s+(?:text|words?|number|phrase|letters?|sentence|string|digits?)\s+(?=\S)", "", text, flags=re.IGNORECASE
    )
    text = re.sub(rf"(?<={CLOSE})\s*[.,;!?]+$", "", text)
    part = payload.part(text)
    if part.only_literal is not None:
        return part.only_literal
    if text.startswith(OPEN) and len(part.quotes) > 1:
        joined = split_list(part)
        if (composed := _composed(joined)) is not None:
            return composed
        if all(piece.only_literal is not None for piece in joined):
            return None
    if part.quotes and (composed := _composed(split_list(part))) is not None:
        return composed
    return part.plain or None


_SPECIAL = {
    "new line": "\n",
    "newline": "\n",
    "line break": "\n",
    "blank line": "\n",
    "tab": "\t",
    "space": " ",
    "return": "\n",
    "enter": "\n",
}


def _composed(parts: tuple[Guarded, ...]) -> str | None:
    """Join "'a', a new line and 'b'"; None where no part is such a sign, or one is neither that nor quoted."""
    signs = [
        _SPECIAL.get(
            re.sub(
                r"^(?:then|followed by|an?|the|one)\s+|\s+(?:character|key)$",
                "",
                part.text.strip(),
                flags=re.IGNORECASE,
            ).casefold()
        )
        for part in parts
    ]
    if not any(signs) or not all(
        sign or part.only_literal is not None for sign, part in zip(signs, parts, strict=True)
    ):
        return None
    return "".join(sign or part.only_literal or "" for sign, part in zip(signs, parts, strict=True))


def _cased(text: str, case: str) -> str:
    if case in ("upper", "capital"):
        return text.upper()
    return {"lower": text.lower(), "title": text.title()}.get(case, text)


_VAGUE = re.compile(r"(?:your|my|some|an?|his|her|their)\s+\w+(?:\s+\w+)?", re.IGNORECASE)
"""A text that is described but not given: "your name", "a short poem"."""


def _type(found: Found) -> Intent | None:
    if _VAGUE.fullmatch(found["what"]):
        return None
    return typed(found.part("what"), verb=found["verb"].casefold())


def _type_into(found: Found) -> Intent | None:
    """Read a text and where it goes; after unquoted words only what is surely a place counts as one."""
    payload, target = found.part("what"), found.part("where")
    if payload.text.strip() == "" or _is_place_in_line(target):
        return None
    if spread := spread_over_cells(payload, target):
        return EnterCells(spread)
    quoted = payload.text.rstrip().endswith(CLOSE)
    strong = bool(re.fullmatch(_STRONG, found["prep"], re.IGNORECASE))
    if not (quoted or strong or _is_surely_place(target)):
        return _maybe_into(found, payload, target)
    if labelled := _labelled(payload):
        label, value = labelled
        query = parse_target(target)
        if not (query.name or query.every or query.ordinal or query.places):
            return TypeText(value, label, optional=True)
        return TypeText(value, query)
    return typed(payload, target, found["verb"].casefold())


def _is_place_in_line(target: Guarded) -> bool:
    text = target.text.casefold()
    return bool(
        re.match(
            r"(?:a|the)\s+(?:new|next|separate)\s+line|(?:all\s+)?(?:upper|lower|capital|caps)|the\s+(?:very\s+)?(?:end|bottom|beginning|start|top)\b",
            text,
        )
    )


def _is_surely_place(target: Guarded) -> bool:
    query = parse_target(target)
    return bool(query.kinds or query.quoted or query.every) or _PLAIN_PLACE.fullmatch(target.text.strip()) is not None


def _maybe_into(found: Found, payload: Guarded, target: Guarded) -> Intent | None:
    """Read "type milk in Notes" both ways; the screen decides."""
    if found["prep"].casefold() not in ("in", "as", "for", "on"):
        return None
    content = _content(payload)
    if content and is_app(target.plain):
        return typed(payload, target, found["verb"].casefold())
    whole = _content(found.words.part(f"{found['what']} {found['prep']} {found['where']}"))
    return TypeText(content, parse_target(target), otherwise=whole) if content and whole else None


_LABEL = re.compile(
    rf"^{THE}(?P<label>[A-Za-z][\w /'-]{{0,60}}?)\s*(?:of\s+|as\s+|to\s+be\s+|is\s+|=\s*|:\s*)?(?P<value>{Q})$",
    re.IGNORECASE,
)
_TEXT_ONLY = re.compile(
    rf"(?:(?:short|long|new|single|simple|brief|little|another|second|first|next|last)\s+)*{TEXT_NOUN}(?:\s+(?:reading|saying|that\s+says|that\s+reads|containing|with\s+the\s+(?:text|words?)))?",
    re.IGNORECASE,
)


_LEADS_TO_PLACE = re.compile(
    r"(?<![\w-])(?:into|onto|inside|in|within|under|below|beside|next to|at|right of|left of)(?![\w-])", re.IGNORECASE
)
"""In "type red into 'Search for'" what is quoted is the place, and what stands before it the text."""


def _labelled(payload: Guarded) -> tuple[TargetQuery, str] | None:
    """Read 'the username "ada"' as a field and its value; 'the text "ada"' names no field."""
    match = _LABEL.match(payload.text.strip())
    if match is None or _TEXT_ONLY.fullmatch(match["label"]) or _LEADS_TO_PLACE.search(match["label"]):
        return None
    label = match["label"].strip()
    query = parse_target(payload.part(label))
    kinds = query.kinds or NOUNS["field"]
    return replace(query, kinds=kinds), payload.part(match["value"]).plain


def _labelled_list(found: Found) -> Intent | None:
    """Read 'the username "a" and the password "b" into the fields'."""
    fields = [_labelled(part) for part in split_list(found.part("what"))]
    known = [field for field in fields if field is not None]
    if not known or len(known) != len(fields):
        return None
    if len(known) == 1:
        return TypeText(known[0][1], known[0][0], optional=True)
    return FillIn(tuple(known))


_PIECE = re.compile(r"(?P<value>.+?)\s+(?P<prep>into|in|as|for)\s+(?P<where>.+)", re.IGNORECASE | re.DOTALL)


def _each_into(found: Found) -> Intent | None:
    """Read "Grace as the first name and Hopper as the family name", "a into Find and b into Replace"."""
    fields = [_piece_into(piece) for piece in split_list(found.part("what"))]
    known = tuple(field for field in fields if field is not None)
    return FillIn(known) if len(known) == len(fields) > 1 else None


def _piece_into(piece: Guarded) -> tuple[TargetQuery, str] | None:
    match = _PIECE.fullmatch(piece.text.strip())
    if match is None:
        return None
    value, where = piece.part(match["value"]), piece.part(match["where"])
    sure = match["prep"].casefold() in ("into", "as") or _is_surely_place(where)
    content = _content(value)
    if not sure or content is None or re.fullmatch(rf"{THE}(?:cell\s+)?{CELL}", where.text, re.IGNORECASE):
        return None
    return parse_target(where), content


def _type_as(found: Found) -> Intent | None:
    """Read "enter Ada as the name" and "enter 5 for the quantity"."""
    payload, target = found.part("what"), found.part("where")
    content = _content(payload)
    if content is None or _TEXT_ONLY.fullmatch(re.sub(rf"^{THE}", "", target.text.strip())):
        return None
    query = parse_target(target)
    if found["prep"].casefold() == "for" and not (
        payload.quotes or query.kinds or query.quoted or re.match(r"the\b", target.text, re.IGNORECASE)
    ):
        return None
    return SetValue(query, content)


def _fill(found: Found) -> Intent | None:
    fields = found.part("where")
    query = parse_target(fields)
    if pairs := parse_pairs(found.part("what")):
        return FillIn(pairs)
    if "form" in query.kinds and not query.name:
        return None
    content = _content(found.part("what"))
    return SetValue(query, content) if content is not None else None


def _pairs(found: Found) -> Intent | None:
    body = found.part("what")
    if cells := parse_cell_list(body):
        return EnterCells(cells)
    pairs = parse_pairs(body)
    return FillIn(pairs) if pairs else None


def _table(found: Found) -> Intent | None:
    start = found["start"] or found["start2"] or "A1"
    cells = cells_of_table(found.part("what"), start)
    return EnterCells(cells) if cells else None


def _cells(found: Found) -> Intent | None:
    cells = parse_cell_list(found.part("what"))
    return EnterCells(cells) if cells else None


_ON, _OFF = (
    {"on", "checked", "enabled", "ticked", "true", "selected", "active"},
    {"off", "unchecked", "disabled", "unticked", "false", "deselected", "inactive"},
)


def _set(found: Found) -> Intent | None:
    value = found.part("what")
    content = _content(value)
    if content is None:
        return None
    query = found.target("where")
    if re.fullmatch(rf"(?:cell\s+)?{CELL}", found.plain("where"), re.IGNORECASE):
        return EnterCells(((found.plain("where").split()[-1].upper(), content),))
    if not value.quotes and content.casefold() in _ON | _OFF:
        return SetChecked((query,), content.casefold() in _ON, query.phrase)
    return SetValue(query, re.sub(rf"^{THE}(?:value|option)\s+", "", content) if not value.quotes else content)


def _change_by(found: Found) -> Intent | None:
    number = read_number(found["number"])
    if number is None:
        return None
    down = found["verb"].casefold() in ("decrease", "lower", "reduce", "decrement")
    return SetValue(found.target("where"), "", steps=-number if down else number)


def _replace(found: Found) -> Intent | None:
    old, new = found.part("old"), found.part("what")
    content = _content(new)
    if content is None:
        return None
    target = found.target("where") if found["where"] else None
    if re.match(
        rf"{THE}(?:existing |current |old |whole |entire |all |of )*(?:text|contents?|value|words?)\b(?! {Q})",
        old.text,
        re.IGNORECASE,
    ) or (old.text.strip() in ("it", "everything", "all")):
        holder = re.search(r"\b(?:of|in)\s+(.+)$", old.text, re.IGNORECASE)
        field = parse_target(old.part(holder[1])) if holder and not _PLAIN_PLACE.fullmatch(holder[1]) else target
        return TypeText(content, field, mode="replace")
    if not old.quotes and parse_target(old).kinds:
        return TypeText(content, parse_target(old), mode="replace")
    return ReplaceText(_content(old) or old.plain, content, target)


_WITH = r"(?:with|by|to|as|=|:)"
_PREP = r"(?P<prep>into|inside(?: of)?|in to|onto|in|on|to|at|under|within|next to|below|beside)"

RULES: tuple[Rule, ...] = (
    rule(
        rf"(?:{TYPE}|{ADD}|create|make|build|fill(?: in| out)?|set up) {THE}(?:following |small |simple |new )*(?:table|data|values?|rows?|spreadsheet|sheet|numbers|figures|grid)(?: of [^:]{{0,40}}?)?(?: (?:(?:starting|beginning) )?(?:in|at|from|with|into)(?: the)?(?: cells?)? (?P<start>{CELL}))?(?: (?:in|into) (?:the )?(?:sheet|spreadsheet|table|cells?|document))?(?:,? (?:starting|beginning) (?:in|at|from|with)(?: the)?(?: cell)? (?P<start2>{CELL}))?\s*[:]\s*(?P<what>.+)",
        _table,
    ),
    rule(
        rf"(?:{TYPE}|{ADD}|fill(?: in| out)?|complete|set) {THE}(?:following |form |fields? |values? |details? |data |cells? |information |registration |contact |text |input |as follows|with )*(?:with )?(?:the )?(?:following )?(?:values? |data |details? |information )?\s*:\s*(?P<what>.+)",
        _pairs,
    ),
    rule(
        rf"(?:fill(?: in| out)?|complete|set|populate) {THE}(?:[\w-]+ )?(?:form|fields?|cells?)(?: (?:with|using|as follows|by entering))?(?: the)?(?: following)?(?: values?)?:? (?P<what>.+)",
        _pairs,
    ),
    rule(rf"(?:{TYPE}|{ADD}|set) (?P<what>.+ (?:in|into|to|at)(?: the)?(?: cell)? {CELL})", _cells),
    rule(rf"(?:{TYPE}|{ADD}|set|fill)(?: in)? (?P<what>(?:cells? )?{CELL}\s*(?:=|:|with|to|as) ?.+)", _cells),
    rule(r"fill(?: in| out| up)? (?P<where>.+?) with (?P<what>.+)", _fill),
    rule(r"fill(?: in| out)? (?P<where>[^:]{1,60}):\s*(?P<what>.+)", _fill),
    rule(
        rf"{TYPE} (?P<what>{THE}[A-Za-z][^:]{{0,80}}?{Q}.*?)(?: (?:in|into|in to) {THE}(?:corresponding |respective |text |input |login |matching |appropriate |right )*(?:fields?|boxes|inputs?|textboxes|form|login form|page))?",
        _labelled_list,
    ),
    rule(
        rf"(?P<verb>{TYPE}|{ADD}|fill) (?P<what>{Q}(?: (?:in|using) (?:all )?(?:upper|lower|capital|caps)[ \w]*?)?)(?: again)? {_PREP} (?P<where>.+)",
        _type_into,
    ),
    rule(rf"(?:{TYPE}|set|use) (?P<what>.+ (?:into|in|as|for) .+ (?:into|in|as|for) .+)", _each_into),
    rule(rf"(?:{TYPE}|set|use|choose|give) (?P<what>.+?) (?P<prep>as|for) (?P<where>.+)", _type_as),
    rule(rf"(?P<verb>{TYPE}|{ADD}) (?P<what>.+) {_PREP} (?P<where>.+)", _type_into),
    rule(
        rf"(?P<verb>{TYPE}|{ADD}) (?P<where>[A-Za-z][\w ]{{1,40}}?):\s+(?P<what>\S.*)", lambda f: _typed_after_colon(f)
    ),
    rule(
        r"(?P<verb>type(?: in| out)?|write(?: down| out)?|enter|input|key in|jot down|compose|fill in) (?P<what>.+)",
        _type,
    ),
    rule(rf"(?P<verb>insert|put|add|append)(?: in)? (?P<what>{Q}.*|{THE}{TEXT_NOUN}(?: ?:| {Q}).*)", _type),
    rule(r"(?:type|write|enter|input|insert|add|put)\s*:\s*(?P<what>.+)(?P<verb>)", _type),
    rule(
        r"(?:replace|substitute|overwrite) (?P<old>.+?) (?:with|by) (?P<what>.+?)(?: (?:in|inside|within|throughout) (?P<where>.+))?",
        _replace,
    ),
    rule(
        r"(?:change|switch|set|update|modify|edit|adjust|alter|turn|make|move|slide|put|increase|decrease|raise|lower|reduce|drag) (?P<where>.+?) from .+? to (?P<what>.+)",
        _set,
    ),
    rule(
        r"(?P<verb>increase|raise|increment|decrease|lower|reduce|decrement) (?P<where>.+?) by (?P<number>\d+|one|two|three|four|five|six|seven|eight|nine|ten)(?: \w+)?",
        _change_by,
    ),
    rule(
        r"(?:change|set|switch(?! to| over| back)|update|modify|edit|adjust|alter|turn|increase|decrease|raise|lower|reduce|slide|reset)(?: up| down)? (?P<where>.+) (?:to be|to|equal to|at|=) (?P<what>.+)",
        _set,
    ),
    rule(r"set (?P<where>.+?)\s*(?:=|:)\s*(?P<what>.+)", _set),
    rule(r"(?:clear|empty|erase|wipe|blank)(?: out)? (?P<where>.+)", lambda f: _clear(f)),
    rule(
        rf"(?:delete|remove|erase|clear)(?: all(?: of)?)? {THE}(?:existing |current |whole |entire )*(?:text|contents?|value|words?)(?: (?:in|from|of|inside) (?P<where>.+))?",
        lambda f: _clear(f),
    ),
)


def _typed_after_colon(found: Found) -> Intent | None:
    """Read "enter Name: Ada" as a field, "type the following: Ada" and "type Note: Ada" as text."""
    label = re.sub(rf"^{THE}", "", found["where"], flags=re.IGNORECASE)
    if _TEXT_ONLY.fullmatch(label) or re.search(r"\b(?:following|this|these)\b", label, re.IGNORECASE):
        return typed(found.part("what"), verb=found["verb"])
    whole = _content(found.words.part(f"{found['where']}: {found['what']}"))
    content = _content(found.part("what"))
    if content is None:
        return None
    return TypeText(content, replace(parse_target(found.words.part(label)), kinds=NOUNS["field"]), otherwise=whole)


def _clear(found: Found) -> Intent | None:
    where = found.part("where")
    if (
        not where.text
        or _PLAIN_PLACE.fullmatch(where.text)
        or re.fullmatch(rf"{THE}(?:all|everything|text|whole text|all text|all the text)", where.text, re.IGNORECASE)
    ):
        return PressKeys((("ctrl", "a"), ("Delete",)))
    query = parse_target(where)
    if set(query.kinds) & {"checkbox", "radio", "switch"} and "field" not in query.kinds:
        return SetChecked((query,), False, query.phrase)
    return ClearField(query)
