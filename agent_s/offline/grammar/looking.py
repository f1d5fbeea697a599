"""Clauses about what is on the screen: wait for it, check it, keep a text of it, paste it."""

from __future__ import annotations

import re

from agent_s.offline.grammar.base import THE, Found, Q, Rule, always, rule
from agent_s.offline.intents import (
    Condition,
    Intent,
    InTurn,
    KeepText,
    LookWhether,
    NothingToDo,
    OpenThing,
    PasteText,
    Pause,
    PressKeys,
    TypeText,
    WaitFor,
)
from agent_s.offline.lexicon import read_number, read_ordinal
from agent_s.offline.quoting import Guarded
from agent_s.offline.targets import parse_target

_SHOWN = r"(?:appears?|shows?(?: up)?|opens?(?: up)?|loads?|pops? up|comes? up|becomes? visible|(?:is|are|gets?|has|have|has been|have been|to be|being) (?:fully |finally )?(?:visible|shown|displayed|open(?:ed)?|there|present|on (?:the )?screen|loaded|available|in (?:view|sight)|ready|finished(?: loading)?|appeared)|exists?|finish(?:es)?(?: loading)?|to (?:appear|show(?: up)?|open|load|come up|pop up|finish(?: loading)?|be (?:visible|shown|displayed|open|loaded|ready|available))|starts?|is running|can be seen)"
_GONE = r"(?:disappears?|vanish(?:es)?|closes?|goes? away|(?:is|are|has|have|has been|have been) (?:gone|closed|hidden|disappeared|removed|no longer (?:visible|shown|there))|to (?:disappear|close|vanish|go away)|no longer (?:appears?|exists?|shows?)|(?:is|are) (?:not|no longer) (?:visible|shown|displayed|there|present|on (?:the )?screen|open)|(?:does|do) not (?:appear|exist|show(?: up)?)|isn't (?:visible|shown|there|open))"
_STATE = r"(?:(?P<not>not |un(?=checked|ticked|selected))?(?P<state>checked|ticked|selected|enabled|disabled|focused|expanded|collapsed|empty|on|off|active|turned on|turned off|greyed out|grayed out|editable|pressed))"

_WHAT = r"(?P<what>(?:(?:the|an?|this|that) \S+|(?!(?:the|an?|this|that) )\S+).*?)"
_CONDITIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern.replace(" ?", r"\s*").replace(" ", r"\s+"), re.IGNORECASE | re.DOTALL), kind)
    for pattern, kind in (
        (rf"(?P<what>.+?)(?: now| already)? {_GONE}", "gone"),
        (r"(?:there is|there are|there's) no(?: longer)?(?: an?)? (?P<what>.+)", "gone"),
        (rf"(?P<what>.+?) (?:is|are)(?: now)? {_STATE}", "state"),
        (r"(?P<what>.+?) isn't (?P<state>checked|ticked|selected|enabled|disabled|empty)(?P<not>)", "notstate"),
        (
            _WHAT
            + r" (?P<not>does not|doesn't|do not|don't) (?:contain|include|show|say|read|display|have|mention)s? (?P<text>.+)",
            "notcontains",
        ),
        (
            _WHAT
            + r" (?:now )?(?:contains?|includes?|says?|reads?|displays?|shows?|mentions?|lists?|has|ends? with|starts? with|begins? with) (?:the (?:text|words?|value|number|title|message|string) )?(?P<text>.+)",
            "contains",
        ),
        (
            _WHAT
            + r" (?:is|equals|is equal to|is set to|has the value|are|is now|becomes|changed to|changes to) (?:the (?:text|word|value|number) )?(?P<text>.+)",
            "value",
        ),
        (rf"(?P<what>.+?)(?: now| already| finally)? {_SHOWN}", "shown"),
        (r"(?:you (?:can )?see|there is|there are|there's|we see) (?:an? |the )?(?P<what>.+)", "shown"),
    )
)
_ORDER = ("gone", "state", "notstate", "shown", "notcontains", "contains", "value")


def parse_condition(words: Guarded) -> Condition | None:
    """Read "the dialog appears", "'Name' contains 'Ada'", "the box is checked"; None where the words say none of it."""
    text = re.sub(r"^(?:that|whether|if|until|till)\s+", "", words.text.strip(" ,."), flags=re.IGNORECASE)
    found = {kind: match for pattern, kind in _CONDITIONS if (match := pattern.fullmatch(text))}
    for kind in _ORDER:
        if kind in found:
            return _condition(kind, found[kind], words.part(text))
    return None


def _condition(kind: str, match: re.Match[str], words: Guarded) -> Condition:
    target = parse_target(words.part(match["what"]))
    groups = match.groupdict()
    if kind in ("state", "notstate"):
        negated = kind == "notstate" or bool(groups.get("not"))
        return Condition("state", target, match["state"].casefold(), negated, words.plain)
    if kind in ("contains", "notcontains", "value"):
        content = re.sub(
            rf"^{THE}(?:text|words?|value|number|message|string)\s+", "", match["text"], flags=re.IGNORECASE
        )
        return Condition(
            "value" if kind == "value" else "contains",
            target,
            words.part(content).plain,
            kind == "notcontains",
            words.plain,
        )
    return Condition("gone" if kind == "gone" else "shown", target, words=words.plain)


def shown(words: Guarded) -> Condition:
    """Return the condition that something is on the screen."""
    return Condition("shown", parse_target(words), words=words.plain)


def _wait(found: Found) -> Intent | None:
    words = found.part("what")
    words = words.part(re.sub(r",?\s*(?:for )?(?:at most|up to|max(?:imum)?(?: of)?)\s+\d+\s*\w+$", "", words.text))
    condition = parse_condition(words)
    if condition is None:
        condition = shown(words)
    return WaitFor(condition)


_UNITS = {
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "ms": 0.001,
    "millisecond": 0.001,
    "milliseconds": 0.001,
    "min": 60.0,
    "minute": 60.0,
    "minutes": 60.0,
}


def _pause(found: Found) -> Intent | None:
    amount = found["number"].casefold()
    number = 0.5 if amount.startswith("half") else read_number(amount)
    if number is None:
        number = (
            float(amount)
            if re.fullmatch(r"\d{1,4}\.\d{1,3}", amount)
            else {"a few": 3, "a couple of": 2, "": 1}.get(re.sub(r"\s+", " ", amount), 1)
        )
    unit = found["unit"].casefold()
    return Pause(min(60.0, float(number) * _UNITS.get(unit, 1.0)))


def _look(found: Found) -> Intent | None:
    words = found.part("what")
    condition = parse_condition(words)
    return LookWhether(condition) if condition else None


def _look_for(found: Found) -> Intent | None:
    return LookWhether(shown(found.part("what")))


# Keeping and pasting

_BUFFER = r"(?:the )?(?:text )?(?:buffer|memory|internal (?:buffer|memory))"
_CLIP = r"(?:the )?clipboard"


def _keep(found: Found) -> Intent | None:
    return _kept(found.part("what"), found.part("source") if found["source"] else None)


def _kept(what: Guarded, source: Guarded | None = None) -> KeepText:
    literal = re.sub(rf"^{THE}(?:text|word|string|phrase|sentence|number)\s+", "", what.text, flags=re.IGNORECASE)
    if (text := what.part(literal).only_literal) is not None:
        return KeepText(text, parse_target(what.part(literal)), text)
    name = re.sub(
        rf"^{THE}|\s+(?:shown|displayed|that (?:is|was) shown|on the (?:page|screen)|you see)$",
        "",
        what.text,
        flags=re.IGNORECASE,
    )
    if source is not None and re.fullmatch(rf"{THE}{_ANY_TEXT}", what.text, re.IGNORECASE):
        place = parse_target(source.part(re.sub(r"\s+(?:below|above|here)$", "", source.text)))
        if set(place.kinds) & {"field", "area", "text", "paragraph"}:
            return KeepText("text", place)
    whole = what.part(f"{what.text} in {source.text}") if source is not None and not _is_screen(source) else what
    return KeepText(what.part(name).plain, parse_target(whole))


_ANY_TEXT = r"(?:all )?(?:of )?(?:the )?(?:text|contents?|words?)"


def _keep_word(found: Found) -> Intent | None:
    """Read "find the 4th word in the paragraph"."""
    word = read_ordinal(found["nth"])
    return None if word is None else KeepText("word", found.target("source"), word=word)


def _carry_value(found: Found) -> Intent | None:
    """Read "enter the value of Gender into the field": what stands beside that word goes there."""
    keep = KeepText(found.plain("what"), found.target("what"))
    return InTurn((keep, TypeText("", found.target("where"), kept=keep.what)))


def _is_screen(source: Guarded) -> bool:
    return bool(
        re.fullmatch(
            rf"{THE}(?:same |current |open )?(?:web ?)?(?:page|screen|site|website|browser|window|tab|form|document|chromium|firefox|chrome)(?: (?:window|page|tab))?",
            source.text,
            re.IGNORECASE,
        )
    )


def _carry(found: Found) -> Intent | None:
    """Read "copy the code from the page into Mousepad": keep it, go there, paste it."""
    what = found.part("what")
    place = found.part("where")
    source = found.part("source") if found["source"] else None
    target = parse_target(place)
    keep: Intent = _kept(what, source)
    if re.fullmatch(_CLIP, place.text, re.IGNORECASE):
        return None
    if target.kinds or target.quoted:
        return InTurn((keep, PasteText(target)))
    name = re.sub(rf"^{THE}|\s+(?:window|app|application)$", "", place.text, flags=re.IGNORECASE)
    return InTurn((keep, OpenThing(place.part(name).plain, target), PasteText()))


def _type_kept(found: Found) -> Intent | None:
    target = found.target("where") if found["where"] else None
    return TypeText("", target, kept=found.plain("name") or "", enter=bool(found["enter"]))


def _paste(found: Found) -> Intent | None:
    return PasteText(found.target("where") if found["where"] else None)


_COPY_KEYS = always(PressKeys((("ctrl", "c"),)))
_PASTED = r"(?:it|that|them|this|(?:the )?(?:copied|saved|kept|remembered|buffered|stored)? ?(?:text|contents?|selection|clipboard|clipboard contents?|buffer|code|value|number|result|word|sentence|link|address|url|data)(?: (?:you|that was|that you) (?:copied|saved|kept|noted|remembered))?|what (?:you|was|you have|you've) (?:copied|saved|kept|noted|remembered)|(?:the )?contents? of the (?:clipboard|buffer)|from (?:the )?clipboard)"

RULES: tuple[Rule, ...] = (
    rule(
        r"(?:wait|pause|sleep|hold on|delay)(?: for)?(?: about| around| at least| another)? (?P<number>\d+(?:\.\d+)?|half a|an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|a couple of)[ -]?(?P<unit>s|secs?|seconds?|ms|milliseconds?|min|minutes?|moments?|bit|while|little)(?: bit)?",
        _pause,
    ),
    rule(r"(?:wait|pause|hold on|sleep)(?: (?:briefly|shortly))?(?P<number>)(?P<unit>)", _pause),
    rule(
        r"wait (?:for|until|till|while|that|so that)(?: (?:up to|at most) \d+ \w+ (?:for|until))? (?P<what>.+)", _wait
    ),
    rule(
        r"(?:check|verify|confirm|make sure|ensure|see|assert|validate|test|look|be sure|double-check|make certain)(?: (?:that|whether|if|to see (?:that|whether|if)))? (?P<what>.+)",
        _look,
    ),
    rule(r"(?:check|look)(?: (?:for|to find)) (?P<what>.+)", _look_for),
    rule(
        rf"(?:navigate|browse|look|go|search) (?:through|around|about) {THE}(?:\w+ ){{0,3}}(?:tree|list|folders?|files?|sections?|menus?|pages?|items?)",
        always(NothingToDo()),
    ),
    rule(
        rf"(?:find|locate|read|get|take|copy|look up) the (?P<nth>\S+) word (?:in|of|from) {THE}(?P<source>.+?)(?: (?:below|above))?",
        _keep_word,
    ),
    rule(
        r"(?:type|write|enter|insert|put|input)(?: in)? the (?:values?|entry|contents?) (?:of|for|beside|next to|that (?:belongs|corresponds) (?:to|with)) (?P<what>.+?) (?:in ?to|in) (?P<where>.+)",
        _carry_value,
    ),
    rule(
        rf"copy(?: (?:it|that|this|them|(?:the )?(?:selected|highlighted|marked) ?(?:text|cells?|words?|items?|files?|content|part|paragraph)?|(?:the )?(?:current )?selection))?(?: (?:to|into|onto) {_CLIP})?",
        _COPY_KEYS,
    ),
    rule(
        rf"copy (?:everything|all(?: of)?(?: the)?(?: (?:text|contents?))?|the (?:whole|entire|full) (?:text|document|contents?))(?: (?:to|into) {_CLIP})?",
        always(PressKeys((("ctrl", "a"), ("ctrl", "c")))),
    ),
    rule(
        rf"(?:copy|save|store|keep|put|write|read|note|remember|record)(?: down)? (?P<what>.+?)(?: (?:shown |displayed )?(?:from|on|in|of) (?P<source>.+?))? (?:to|in|into|with|using|via|through) {_BUFFER}",
        _keep,
    ),
    rule(
        r"(?:copy|transfer|carry over) (?P<what>.+?)(?: (?:shown |displayed )?(?:from|on) (?P<source>.+?))? (?:in ?to|to|over to) (?P<where>.+)",
        _carry,
    ),
    rule(r"copy (?P<what>.+?)(?: (?:shown |displayed )?(?:from|on|in) (?P<source>.+))?", _keep),
    rule(
        r"(?:remember|memori[sz]e|note(?: down)?|take note of|record|read(?: off| out)?|grab|get|extract|look up|retrieve|capture) (?P<what>.+?)(?: (?:shown |displayed )?(?:from|on) (?P<source>.+))?",
        _keep,
    ),
    rule(rf"paste(?: {_PASTED})?(?: (?:in ?to|in|inside|to|at|on|here)(?: (?P<where>.+))?)?", _paste),
    rule(
        rf"(?:type|write|enter|insert|put|input|fill in)(?: in)? (?:the )?(?:copied|saved|kept|remembered|noted|buffered|stored) (?P<name>{Q}|[\w -]+?)(?: (?:in ?to|in|as|to) (?P<where>.+?))?(?P<enter> and press enter)?",
        _type_kept,
    ),
    rule(
        r"(?:type|write|enter|insert|put|input)(?: in)? (?:what|the \w+|everything|the \w+ that) (?:you(?:'ve| have)?|was|were) (?:just )?(?:copied|saved|kept|noted|remembered)(?P<name>)(?: (?:in ?to|in|as|to) (?P<where>.+?))?(?P<enter> and press enter)?",
        _type_kept,
    ),
)
