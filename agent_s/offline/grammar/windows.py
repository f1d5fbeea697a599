"""Clauses about applications, windows, files and pages: open, close, save, go to, answer a dialog."""

from __future__ import annotations

import re

from agent_s.offline.grammar.base import CELL, THE, Build, Found, Q, Rule, always, rule
from agent_s.offline.grammar.files import SAVING, folder_path, is_file, is_url
from agent_s.offline.grammar.pointing import keys_of, path_items
from agent_s.offline.intents import (
    AnswerDialog,
    ClickOn,
    CloseThing,
    Command,
    FillIn,
    FollowPath,
    GoToAddress,
    GoToCell,
    Intent,
    InTurn,
    OpenFile,
    OpenThing,
    SearchFor,
    SelectOptions,
    TypeText,
    Unfold,
)
from agent_s.offline.quoting import Guarded
from agent_s.offline.targets import TargetQuery, named, parse_target

OPEN_VERB = r"(?:open(?: up)?|launch|start(?: up)?|run|bring up|fire up|load|begin|show|display|execute)"
_APP_NOUN = r"(?:application|app|program|programme|software|tool)"
_APP_WORDS = re.compile(
    r"(?:text editor|calculator|(?:web |internet )?browser|terminal(?: emulator)?|file manager|file browser|spreadsheet(?: application| program)?|word processor|presentation(?: program)?|image (?:editor|viewer)|media player|music player|mail client|e-?mail client|settings|"
    r"(?:libre ?office|open ?office)(?: \w+)?|mousepad|gedit|chromium|chrome|firefox|gimp|thunar|nautilus|xterm|writer|calc|impress|vlc|thunderbird|evince|gnome[ -]\w+(?:[ -]\w+)?|kate|kwrite|dolphin|document viewer|pdf viewer|notepad|console)",
    re.IGNORECASE,
)
_WITHOUT_SAVING = re.compile(
    r"\s*,?\s*\b(?:without saving(?: (?:it|them|anything|(?:the |any |my |your )?(?:changes|file|document)))?|(?:and )?(?:do not|don't) save(?: (?:it|them|(?:the |any |my |your )?(?:changes|file|document)))?|(?:and )?discard(?:ing)? (?:the |any |all |my |your |unsaved )*changes|without keeping (?:the )?changes)",
    re.IGNORECASE,
)
_SAVING = re.compile(
    r"\s*,?\s*\b(?:and |while )?(?:saving|save|keeping)(?: (?:the |any |my |your )?changes)?$", re.IGNORECASE
)


# Opening


def _open(found: Found) -> Intent | None:
    what = found.part("what")
    plain = what.plain
    if items := path_items(what):
        return FollowPath(items)
    if is_url(plain) and not (is_file(plain) and not re.match(r"\w+:|www\.", plain)):
        return GoToAddress(plain)
    query = parse_target(what)
    if (
        query.kinds
        and query.kinds[0]
        in ("menu", "tab", "link", "button", "dialog", "combo", "checkbox", "date", "section", "heading")
        and not is_app(plain)
    ):
        return _open_element(query, what)
    if _looks_like_file(what):
        return OpenFile(_path_of(what))
    if several := _several_apps(what):
        return several
    name = re.sub(rf"\s+{_APP_NOUN}$|^{THE}(?:{_APP_NOUN} )?(?:named |called )?", "", what.text, flags=re.IGNORECASE)
    only_app = is_app(plain) or bool(re.search(rf"\b{_APP_NOUN}\b", what.text, re.IGNORECASE))
    return OpenThing(what.part(_singular_app(name)).plain, query, only_app)


def _singular_app(name: str) -> str:
    return re.sub(
        r"\s+(?:window|from the (?:desktop|start menu|applications menu|menu))$|^(?:new|blank|empty)\s+",
        "",
        re.sub(rf"^{THE}", "", name.strip(), flags=re.IGNORECASE),
        flags=re.IGNORECASE,
    )


def is_app(text: str) -> bool:
    """Tell whether a text names an application, or a kind of application."""
    bare = re.sub(rf"^{THE}|\s+{_APP_NOUN}$", "", text.strip(), flags=re.IGNORECASE)
    return bool(_APP_WORDS.fullmatch(bare))


def _open_element(query: TargetQuery, what: Guarded) -> Intent:
    if query.kinds[0] == "section":
        return Unfold(query)
    if query.kinds[0] == "dialog":
        return OpenThing(query.name or what.plain, TargetQuery(phrase=query.name, name=query.name), False)
    return ClickOn((query,), said=what.plain)


def _looks_like_file(what: Guarded) -> bool:
    text = re.sub(rf"^{THE}", "", what.text, flags=re.IGNORECASE)
    if re.match(r"(?:file|document)\s+\S", text, re.IGNORECASE):
        return True
    return is_file(what.part(text).plain) or bool(
        re.search(r"\.\w{1,5}(?:\s+(?:file|document))?$", what.part(text).plain)
    )


def _path_of(what: Guarded) -> str:
    text = re.sub(rf"^{THE}(?:(?:file|document)\s+)?(?:named\s+|called\s+)?", "", what.text, flags=re.IGNORECASE)
    text = re.sub(r"\s+(?:file|document)$", "", text, flags=re.IGNORECASE)
    if match := re.fullmatch(
        r"(?P<name>.+?)\s+(?:from|in|inside|under|on|located in|at)\s+(?P<folder>.+)", text, re.IGNORECASE
    ):
        return f"{folder_path(what.part(match['folder']))}/{what.part(match['name']).plain}"
    return what.part(text).plain


def _several_apps(what: Guarded) -> Intent | None:
    parts = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", what.text)
    if len(parts) < 2 or not all(is_app(part) or re.match(r"the\s", part, re.IGNORECASE) for part in parts):
        return None
    return InTurn(
        tuple(
            OpenThing(what.part(_singular_app(part)).plain, parse_target(what.part(part)), is_app(part))
            for part in parts
        )
    )


def _open_file_in(found: Found) -> Intent | None:
    what, app = found.part("what"), found.part("app")
    if is_url(what.plain) and not what.plain.startswith("/"):
        opened: Intent = GoToAddress(what.plain)
    elif _looks_like_file(what):
        opened = OpenFile(_path_of(what))
    else:
        return None
    return InTurn((OpenThing(_singular_app(app.plain), parse_target(app), True), opened))


def _switch(found: Found) -> Intent | None:
    what = found.part("what")
    if re.fullmatch(rf"{THE}(?:next|other|following) (?:window|app|application|program)", what.text, re.IGNORECASE):
        return keys_of(("alt", "Tab"))
    if match := re.fullmatch(rf"{THE}(next|previous|other) tab", what.text, re.IGNORECASE):
        return keys_of(("ctrl", "Page_Up") if match[1].casefold() == "previous" else ("ctrl", "Page_Down"))
    query = parse_target(what)
    if query.kinds and query.kinds[0] in ("tab", "link", "menu", "button"):
        return ClickOn((query,), said=what.plain)
    name = re.sub(
        rf"\s+(?:window|{_APP_NOUN})$", "", re.sub(rf"^{THE}", "", what.text, flags=re.IGNORECASE), flags=re.IGNORECASE
    )
    return OpenThing(what.part(name).plain, query, app_only=is_app(what.plain) or found["verb"].casefold() != "go to")


def _go_to(found: Found) -> Intent | None:
    what = found.part("what")
    if items := path_items(what):
        return FollowPath(items)
    if is_url(what.plain):
        return GoToAddress(what.plain)
    if re.fullmatch(rf"(?:cell )?{CELL}", what.plain, re.IGNORECASE) and re.search(r"\d", what.plain):
        return GoToCell(what.plain.split()[-1].upper())
    query = parse_target(what)
    if query.kinds and query.kinds[0] in (
        "tab",
        "link",
        "menu",
        "button",
        "section",
        "page",
        "heading",
        "menuitem",
        "category",
    ):
        return ClickOn((query,), said=what.plain)
    if query.kinds and query.kinds[0] in ("field", "area"):
        return ClickOn((query,), said=what.plain)
    return OpenThing(_singular_app(what.plain), query, is_app(what.plain))


# Closing and answering


def _close(found: Found) -> Intent | None:
    text, changes = found["what"], "ask"
    if match := _WITHOUT_SAVING.search(text):
        text, changes = (text[: match.start()] + text[match.end() :]).strip(), "discard"
    elif match := _SAVING.search(text):
        text, changes = text[: match.start()].strip(), "save"
    plain = found.words.part(
        re.sub(rf"^(?:out of )?{THE}(?:(?:current|active|open|whole) )?", "", text, flags=re.IGNORECASE)
    ).plain.strip()
    kind = _closed_kind(plain)
    name = re.sub(
        r"\s*\b(?:window|dialog(?:ue)?(?: box)?|box|tab|app|application|program|popup|pop-up|alert|prompt|menu|message|notification|document|file)$",
        "",
        plain,
        flags=re.IGNORECASE,
    ).strip()
    if name.casefold() in ("it", "this", "that", "all", "editor"):
        name = ""
    return CloseThing(kind, name, changes)  # type: ignore[arg-type]  # one of the words above


def _closed_kind(text: str) -> str:
    kinds = (
        (r"tab", "tab"), (r"(?:dialog(?:ue)?(?: box| window)?|popup|pop-up|alert|prompt|message|notification|box)", "dialog"),
        (r"(?:window|document|file)", "window"), (r"(?:app|application|program|browser|editor|everything)", "app"), (r"menu", "menu"),
    )  # fmt: skip
    for pattern, kind in kinds:
        if re.search(rf"\b{pattern}$", text, re.IGNORECASE):
            return kind
    return "any"


def _answer(found: Found) -> Intent | None:
    verb = found["verb"].casefold()
    answers = {
        "accept": "accept", "confirm": "accept", "approve": "accept", "agree to": "accept", "ok": "accept", "acknowledge": "accept", "apply": "accept",
        "dismiss": "close", "cancel": "cancel", "decline": "cancel", "reject": "cancel", "deny": "no", "ignore": "close",
    }  # fmt: skip
    return AnswerDialog(answers[verb])  # type: ignore[arg-type]  # one of the words above


def _answer_word(found: Found) -> Intent | None:
    return AnswerDialog("yes" if found["word"].casefold() == "yes" else "no")


def _login(found: Found) -> Intent | None:
    fields = []
    for group, name in (("user", "username"), ("password", "password")):
        value = found.plain(group)
        if not value:
            return None
        fields.append(
            (
                TargetQuery(phrase=name, name=name, kinds=("field",) if name == "username" else ("password", "field")),
                value,
            )
        )
    return FillIn(tuple(fields), ("log in", "login", "sign in", "submit", "continue", "ok"))


def _search(found: Found) -> Intent | None:
    text = found.part("what")
    query = found.target("where") if found["where"] else None
    literal = text.only_literal
    return SearchFor(
        literal if literal is not None else re.sub(rf"^{THE}(?:text|word|phrase|term|string)\s+", "", text.plain), query
    )


def _find(found: Found) -> Intent | None:
    return _search(found) if found.part("what").quotes else None


def _new_folder(found: Found) -> Intent | None:
    name = found.plain("name")
    return InTurn((keys_of(("ctrl", "shift", "n")), TypeText(name, mode="replace", enter=True)))


def _rename(found: Found) -> Intent | None:
    source = found.target("what")
    return InTurn(
        (
            SelectOptions((source,), None, source.phrase),
            keys_of(("F2",)),
            TypeText(found.plain("name"), mode="replace", enter=True),
        )
    )


def _delete(found: Found) -> Intent | None:
    """Delete what is named, and nothing else: it is selected by its name first."""
    query = found.target("what")
    if not (query.quoted or is_file(query.name) or set(query.kinds) & {"item", "row", "image"}):
        return None
    return InTurn((SelectOptions((query,), None, query.phrase), keys_of(("Delete",))))


def _calculate(found: Found) -> Intent | None:
    expression = found.part("what").plain
    for word, sign in (
        (r"\s*(?:multiplied by|times|×|\bx\b)\s*", "*"),
        (r"\s*(?:divided by|÷|over)\s*", "/"),
        (r"\s*plus\s*", "+"),
        (r"\s*minus\s*|−", "-"),
    ):
        expression = re.sub(word, sign, expression, flags=re.IGNORECASE)
    expression = expression.strip().rstrip("=?").strip()
    if not re.fullmatch(r"[\d\s.,+*/()%^√!-]+|[a-z]{2,5}\(?[\d\s.,+*/()%^-]+\)?", expression, re.IGNORECASE):
        return None
    typed: Intent = TypeText(expression.replace(" ", ""), enter=True)
    if found["app"]:
        typed = InTurn((OpenThing(_singular_app(found.plain("app")), found.target("app"), True), typed))
    return typed


_EDITS: tuple[tuple[str, Intent], ...] = (
    (r"undo(?: (?:it|that|the (?:last|latest|previous) (?:action|change|step|edit)|the change))?", keys_of(("ctrl", "z"))),
    (r"redo(?: (?:it|that|the (?:last|latest|previous) (?:action|change|step|edit)|the change))?", keys_of(("ctrl", "shift", "z"))),
    (r"cut(?: (?:it|that|the (?:selected |highlighted )?(?:text|selection)))?", keys_of(("ctrl", "x"))),
    (r"(?:open|create|add|start|make) (?:a |another )?new (?:browser )?tab", keys_of(("ctrl", "t"))),
    (r"(?:open|create|start|make|begin)(?: up)? (?:a |another )?(?:new|blank|empty)(?: blank| empty)?(?: text)? (?:document|file|spreadsheet|note|presentation|workbook|window)", keys_of(("ctrl", "n"))),
    (r"(?:create|make|begin) (?:a |another )?(?:document|text file|spreadsheet|file)", keys_of(("ctrl", "n"))),
    (r"(?:reload|refresh)(?: (?:it|the (?:current )?(?:web ?)?(?:page|tab|site|website|view)))?", keys_of(("F5",))),
    (r"(?:go|navigate) back(?: (?:to the previous page|one page|in the browser|a page))?", keys_of(("alt", "Left"))),
    (r"(?:go|navigate) forward(?: (?:one page|in the browser|a page))?", keys_of(("alt", "Right"))),
    (r"print(?: (?:it|this|(?:the )?(?:current )?(?:page|document|file|sheet)))?", keys_of(("ctrl", "p"))),
    (r"zoom in", keys_of(("ctrl", "plus"))),
    (r"zoom out", keys_of(("ctrl", "minus"))),
    (r"reset (?:the )?zoom(?: level)?", keys_of(("ctrl", "0"))),
    (r"(?:delete|remove|erase)(?: the)? (?:selected|highlighted) (?:text|item|items|file|files|line|row|words?|cells?)|delete the selection", keys_of(("Delete",))),
    (r"(?:delete|remove|erase) (?:everything|all (?:of )?(?:the )?text|all (?:the )?contents?|the (?:whole|entire) (?:text|document))", keys_of(("ctrl", "a"), ("Delete",))),
    (r"(?:insert|add|start|begin|make|create) (?:a |one )?(?:new line|line ?break|blank line|new paragraph|empty line)", keys_of(("Return",))),
    (r"(?:toggle|enter|go|switch)(?: to| into)? full ?screen(?: mode)?", keys_of(("F11",))),
    (r"(?:make|set|format|turn) (?:it|that|the (?:selected |highlighted )?(?:text|selection|words?|cells?)) bold|bold(?: (?:it|that|the (?:selected )?(?:text|selection)))?|apply bold(?: formatting)?.{0,40}", keys_of(("ctrl", "b"))),
    (r"(?:make|set|format|turn) (?:it|that|the (?:selected |highlighted )?(?:text|selection|words?|cells?)) italics?|italicize(?: (?:it|that|the (?:selected )?(?:text|selection)))?|apply italics?(?: formatting)?.{0,40}", keys_of(("ctrl", "i"))),
    (r"(?:make|set|format|turn) (?:it|that|the (?:selected |highlighted )?(?:text|selection|words?|cells?)) underlined?|underline(?: (?:it|that|the (?:selected )?(?:text|selection)))?|apply underline(?: formatting)?.{0,40}", keys_of(("ctrl", "u"))),
    (r"submit(?: (?:it|the (?:[\w-]+ )?form|the data|your answer|the answer|the query))?|send the form", ClickOn((TargetQuery(phrase="Submit", name="Submit", kinds=("button",)),), said="submit")),
    (r"(?:log|sign)[ -]?(?P<way>in|out|up|on|off)|log ?in|log ?out", Command("")),
)  # fmt: skip


def _edit(intent: Intent) -> Build:
    def build(found: Found) -> Intent | None:
        if isinstance(intent, Command):
            return Command(found.words.plain)
        return intent

    return build


EDIT_RULES = tuple(rule(pattern, _edit(intent)) for pattern, intent in _EDITS)

RULES: tuple[Rule, ...] = (
    *SAVING,
    rule(
        r"(?:overwrite|replace)(?: (?:it|(?:the |any )?(?:existing|old|current|original)(?: (?:file|one|version))?|the file))?(?: if .*)?",
        always(ClickOn((TargetQuery(phrase="Replace", name="Replace", kinds=("button",)),), said="Replace")),
    ),
    rule(rf"{OPEN_VERB} (?P<what>.+?) (?:in|with|using) (?P<app>.+)", _open_file_in),
    rule(rf"(?:{OPEN_VERB}|start using|use) (?P<what>.+)", _open),
    rule(
        r"(?P<verb>switch(?: over| back)?(?: to)?|change to|return to|go back to|alt-tab to|bring|activate|raise) (?P<what>.+?)(?: (?:to the (?:front|foreground)|up front|into focus))?",
        _switch,
    ),
    rule(
        r"(?P<verb>go to|goto|visit|navigate to|browse to|jump to|head to|move to|go into|access|surf to) (?P<what>.+)",
        _go_to,
    ),
    rule(r"(?:close|quit|exit|shut(?: down)?|terminate|leave)(?P<what>(?:$| ).*)", _close),
    rule(
        r"(?P<verb>accept|confirm|dismiss|cancel|approve|acknowledge|decline|reject|deny|ignore)(?: (?:it|(?:the |this |that |any |all )?(?:[\w-]+ )?(?:dialog(?:ue)?(?: box)?|popup|pop-up|alert|prompts?|message(?: box)?|warnings?|confirmation|question|changes?|notification|operation|action|window|request|cookies|settings|input)))?",
        _answer,
    ),
    rule(r"(?:answer|say|reply|respond)(?: with)? (?:to it )?['\"\ue000]?(?P<word>yes|no)\b.*", _answer_word),
    rule(
        r"(?:discard|(?:do not|don't) save)(?: .*)?", always(ClickOn((named("Don't Save", "button"),), said="discard"))
    ),
    rule(
        rf"(?:log|sign)[ -]?(?:in|on)(?: to .+?)?(?: (?:with|using|as|by entering))?(?: (?:the|your|my))?(?: (?:username|user name|user|login|account|email|e-mail|credentials|name|id))*(?: (?:address|name|id))?:? (?P<user>{Q}|\S+?)(?:\s*,\s*|\s+)(?:and )?(?:with |using )?(?:the |your |my )?(?:password|passcode|pass):? (?P<password>{Q}|\S+)",
        _login,
    ),
    rule(
        rf"(?:search|look|google|query)(?: the (?:web|internet|page|document|list|site|text|file))?(?: up)?(?: for)? (?P<what>{Q}|.+?)(?: (?:in|on|using|with|within|via|through) (?:the (?:web|internet|document|page|text|file)|(?P<where>.+)))?",
        _search,
    ),
    rule(r"search (?P<where>.+?) for (?P<what>.+)", _search),
    rule(r"find (?P<what>.+?)(?: (?:in|on|within) (?:the (?:document|page|text|file|editor)|(?P<where>.+)))?", _find),
    rule(
        r"(?:create|make|add)(?: a| the)?(?: new)? (?:folder|directory)(?: (?:named|called|with the name|titled))? (?P<name>.+?)(?: (?:here|in (?:this|the current) (?:folder|directory)))?",
        _new_folder,
    ),
    rule(r"rename (?P<what>.+?) (?:to|as|into) (?P<name>.+)", _rename),
    rule(r"(?:delete|remove|trash) (?P<what>.+)", _delete),
    rule(
        r"(?:calculate|compute|work out|evaluate|determine|find|figure out)(?: the (?:value|result|sum|product) of)? (?P<what>.+?)(?: (?:in|using|with|on) (?P<app>.+))?",
        _calculate,
    ),
)
