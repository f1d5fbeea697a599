"""A whole instruction read: its clauses in order, each complete in itself and with what it asks for.

Here words get the meaning that they have only through their neighbours: "then the 'Cancel' button", "save it",
"type the code", "and overwrite it".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from agent_s.offline.clauses import Clause, split_instruction
from agent_s.offline.grammar import parse_clause
from agent_s.offline.intents import (
    ClickOn,
    CloseThing,
    Command,
    DragOnto,
    FocusOn,
    GoToAddress,
    InPlace,
    Intent,
    InTurn,
    KeepText,
    LookWhether,
    NotUnderstood,
    OnlyIf,
    OpenThing,
    SaveFile,
    ScrollView,
    SelectOptions,
    SetChecked,
    SetValue,
    TypeText,
    Unfold,
    WaitFor,
)
from agent_s.offline.lexicon import first_verb, strip_fillers
from agent_s.offline.quoting import OPEN, Guarded
from agent_s.offline.targets import TargetQuery


@dataclass(frozen=True, slots=True)
class Part:
    """One clause, complete in itself.

    Attributes:
        words: What to do, in words that `parse_clause` reads the same way without the rest of the instruction.
        intent: What it asks for.
        application: The application it is meant in, as the instruction called it; empty where it named none.
    """

    words: str
    intent: Intent
    application: str = ""


@dataclass(slots=True)
class _Context:
    """What has been said so far.

    Attributes:
        verb: The verb of the last clause with what belongs to it, for clauses that leave it out.
        thing: How the last element was described.
        kept: Names of the texts that were copied.
        application: The application named last.
    """

    verb: str = ""
    thing: str = ""
    kept: list[str] = field(default_factory=list)
    application: str = ""


_IT = re.compile(r"\b(?:it|them|this one|that one|that)\b", re.IGNORECASE)
_WITH_IT = {
    "click", "double-click", "right-click", "press", "select", "choose", "check", "tick", "uncheck", "untick", "expand", "collapse", "drag", "enable", "disable",
    "toggle", "clear", "focus", "tap", "set", "open", "turn", "highlight", "pick", "empty", "rename", "hit", "activate", "move",
}  # fmt: skip
_INTO_IT = re.compile(r"\b(?P<prep>in|into|inside|with)\s+it\b", re.IGNORECASE)
_OVERWRITES = re.compile(
    r"(?:overwrite|replace)(?:\s+(?:it|the\s+(?:existing|old|current)\s*\w*|any\s+existing\s+\w+|the\s+file))?(?:\s+(?:if|when)\b.*)?|confirm\s+(?:the\s+)?(?:overwrit|replac)\w*.*",
    re.IGNORECASE,
)
_NO_SAVING = re.compile(
    r"(?:do\s+not|don't)\s+save\b.*|discard(?:\s+(?:the|all|any|my|your|unsaved))*(?:\s+changes)?", re.IGNORECASE
)
_KEPT_WORDS = re.compile(
    r"^(?:the|that|this|your|its)\s+(?:(?:copied|saved|kept)\s+)?(?P<name>[\w -]{2,60})$|^(?P<it>it|that|them)$",
    re.IGNORECASE,
)
_TYPES = re.compile(
    r"^(?P<verb>type|write|enter|input|put|insert|paste|fill in)(?P<in>\s+in)?\s+(?P<what>.+?)(?P<rest>\s+(?:in\s+to|into|in|to|as)\s+.+)?$",
    re.IGNORECASE,
)
_VERB_AND_OBJECT = re.compile(
    r"(?!(?:the|a|an|both|all|each|and|in|on|to|from|into|of)\b)[a-z-]+\s+(?:the|an?|my|your|all|it|this|that|these|them)\b",
    re.IGNORECASE,
)
"""What looks like an instruction with a verb of its own, if an unknown one."""
_CLICKING = ("click", "press", "double-click", "right-click", "tap", "hit", "push")


def read_instruction(instruction: str) -> list[Part]:
    """Read an instruction; clauses without a reading are parts whose intent is `NotUnderstood`."""
    context = _Context()
    parts: list[Part] = []
    for clause in split_instruction(instruction):
        words = clause.words.part(strip_fillers(clause.text))
        if _is_nothing(words.text) or _merged(words, parts):
            continue
        words, intent = _complete(clause, words, context)
        parts.append(Part(words.quoted, intent, context.application))
        _remember(words, intent, context)
        if isinstance(intent, OpenThing) and intent.app_only:
            parts[-1] = replace(parts[-1], application="")
    return parts


def not_understood(intent: Intent) -> tuple[str, ...]:
    """Return the words of an intent that have no reading."""
    match intent:
        case NotUnderstood(words=words):
            return (words,)
        case InPlace(intent=inner) | OnlyIf(intent=inner):
            return not_understood(inner)
        case InTurn(intents=intents):
            return tuple(words for inner in intents for words in not_understood(inner))
        case _:
            return ()


def _is_nothing(text: str) -> bool:
    return not re.search(r"[^\s.,;:!?'\"()-]", text) or bool(
        re.fullmatch(
            r"(?:thanks?|thank you|that(?:'s| is) (?:it|all)|done|you(?:'re| are) done|good luck|the end|etc)[.! ]*",
            text,
            re.IGNORECASE,
        )
    )


def _merged(words: Guarded, parts: list[Part]) -> bool:
    """Join "and overwrite it" to the saving, and "don't save" to the closing, that stand before it."""
    if not parts:
        return False
    last = parts[-1]
    if isinstance(last.intent, SaveFile) and _OVERWRITES.fullmatch(words.text):
        text = f"{last.words}, overwriting the existing file"
    elif isinstance(last.intent, SaveFile) and re.fullmatch(
        r"(?:keep|use|choose|keep\s+using)\s+(?:the\s+|its\s+)?[^'\"\ue000]{2,40}\sformat", words.text, re.IGNORECASE
    ):
        text = f"{last.words}, keeping the {words.text.split(maxsplit=1)[1].removeprefix('the ')}"
    elif isinstance(last.intent, CloseThing) and _NO_SAVING.fullmatch(words.text):
        text = f"{last.words} without saving"
    else:
        return False
    parts[-1] = replace(last, words=text, intent=parse_clause(text))
    return True


def _complete(clause: Clause, words: Guarded, context: _Context) -> tuple[Guarded, Intent]:
    """Find a reading for a clause, with what its neighbours say where it needs that."""
    words = _with_kept(words, context)
    words = _with_thing(words, context)
    elliptic = clause.connector != "." and bool(context.verb)
    if elliptic and _is_title(words, context):
        return _elided(words, context)
    intent = parse_clause(words)
    if elliptic and isinstance(intent, NotUnderstood | Command) and not _VERB_AND_OBJECT.match(words.text):
        longer, reading = _elided(words, context)
        if not not_understood(reading) and not isinstance(reading, Command):
            return longer, reading
    return words, intent


def _elided(words: Guarded, context: _Context) -> tuple[Guarded, Intent]:
    longer = words.part(f"{context.verb} {words.text}")
    return longer, parse_clause(longer)


def _is_title(words: Guarded, context: _Context) -> bool:
    """Tell "then Save As" after "click File" from a new instruction: a title in capitals without an object."""
    text = words.text
    if context.verb.casefold() not in (*_CLICKING, "select", "choose", "open", "go to") or not text[:1].isupper():
        return False
    tokens = text.split()
    return len(tokens) <= 4 and all(token[:1].isupper() or token in ("and", "&", "to", "of", "for") for token in tokens)


def _with_kept(words: Guarded, context: _Context) -> Guarded:
    """Name the copied text in "type the code into X" and "paste it"."""
    match = _TYPES.match(words.text)
    if match is None or not context.kept or OPEN in match["what"]:
        return words
    said = _KEPT_WORDS.match(match["what"].strip())
    if said is None or match["verb"].casefold() == "paste":
        return words
    name = context.kept[-1] if said["it"] else _kept_name(said["name"] or "", context.kept)
    if name is None:
        return words
    number = len(words.literals)
    text = f"{match['verb']} the copied {OPEN}{number}\ue001{match['rest'] or ''}"
    return Guarded(text, (*words.literals, name))


def _kept_name(said: str, kept: list[str]) -> str | None:
    """Find the copied text that is meant: by its name, or by the last word of it."""
    lowered = said.casefold()
    for name in reversed(kept):
        if name.casefold() == lowered or name.casefold().split()[-1:] == lowered.split()[-1:]:
            return name
    return kept[-1] if lowered in ("text", "value", "result", "copied text") else None


def _with_thing(words: Guarded, context: _Context) -> Guarded:
    """Put the last element in the place of "it"."""
    verb = first_verb(words.text)
    if not context.thing or not _IT.search(words.text):
        return words
    number = len(words.literals)
    mark = f"{OPEN}{number}\ue001" if OPEN not in context.thing else context.thing
    if verb in ("type", "write", "enter", "input", "put", "fill") and (match := _INTO_IT.search(words.text)):
        text = f"{words.text[: match.start()]}{match['prep']} {mark}{words.text[match.end() :]}"
    elif verb in _WITH_IT and re.fullmatch(
        r"[\w-]+(?:\s+(?:on|off|in|into))?\s+(?:it|them)(?:\s.*)?", words.text, re.IGNORECASE
    ):
        text = _IT.sub(lambda _: mark, words.text, count=1)
    else:
        return words
    return Guarded(text, (*words.literals, context.thing))


def _remember(words: Guarded, intent: Intent, context: _Context) -> None:
    context.verb = _verb_phrase(words.text) or context.verb
    if thing := _thing_of(intent):
        context.thing = thing
    for inner in intent.intents if isinstance(intent, InTurn) else (intent,):
        if isinstance(inner, KeepText):
            context.kept.append(inner.what)
        if isinstance(inner, OpenThing) and (inner.app_only or inner is not intent or not inner.target.kinds):
            context.application = inner.name
        if isinstance(inner, GoToAddress) and not context.application:
            context.application = "browser"


def _verb_phrase(text: str) -> str:
    match = re.match(
        r"(?:go to|right[ -]click|double[ -]click|switch to|set|[A-Za-z-]+)(?:\s+on)?(?=\s|$)", text, re.IGNORECASE
    )
    return match[0] if match and first_verb(text) else ""


def _thing_of(intent: Intent) -> str:
    """Return how an intent describes the element that it is about."""
    query: TargetQuery | None = None
    match intent:
        case ClickOn(targets=targets) | SetChecked(targets=targets) if targets:
            query = targets[-1]
        case TypeText(target=TargetQuery() as target) | SetValue(target=target):
            query = target
        case SelectOptions(values=(value,)):
            query = value
        case ScrollView(until=TargetQuery() as target) | Unfold(target=target) | FocusOn(target=target):
            query = target
        case WaitFor(condition=condition) | LookWhether(condition=condition):
            query = condition.target
        case DragOnto(source=source):
            query = source
        case OpenThing(app_only=False, target=target):
            query = target
        case InPlace(intent=inner) | OnlyIf(intent=inner):
            return _thing_of(inner)
    return query.phrase if query is not None else ""
