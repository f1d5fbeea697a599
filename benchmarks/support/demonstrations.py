"""Twelve tasks in six applications that a scripted person shows once, each replayed with other values.

What became of a replay is read from the application's own state: its files, the requests that a page sent, or what a
calculator displays.
"""

from __future__ import annotations

import tempfile
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

from aci.desktop.virtual import VirtualDesktop
from agent_s.demonstration.demonstration import finish
from agent_s.loop.agent import AgentS
from agent_s.memory import open_memory
from agent_s.probes.documents import read_document
from agent_s.records import Task
from agent_s.runs.reading import read_trajectory
from agent_s.settings import load_settings
from agent_s.terminal.repeating import repeatable, with_values
from benchmarks.support.figures import tell
from benchmarks.support.showing import Person, show

Result = Literal["right", "stopped", "silently wrong"]

_PAGE = (
    """<!doctype html><meta charset="utf-8"><title>{title}</title><h1>{title}</h1><form action="/sent">{body}</form>"""
)
_PAGES = {
    "/order": (
        "Order a book",
        """<p><label>Title <input name="title"></label><p><label>Copies <input name="copies"></label>
        <p><label><input type="checkbox" name="gift" value="yes"> Wrap it as a gift</label>
        <p><label><input type="checkbox" name="news" value="yes"> Send me news</label><p><button>Order</button>""",
    ),
    "/book": (
        "Guest book",
        """<p><label>Name <input name="name"></label>
        <p><label>Message <textarea name="text" rows="4"></textarea></label>
        <p><button type="button">Help</button> <button>Sign</button>""",
    ),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A task that is shown."""

    name: str
    # returns the command that starts its application, given the home and the address of the pages
    opens: Callable[[Path, str], Sequence[str]]
    shown: Callable[[Person, Sequence[str]], None]  # does it, given the values
    wording: str  # the task in words, with the values as {0}, {1} ..
    old: tuple[str, ...]  # the values that are shown
    new: tuple[str, ...]  # the values of the replay
    # returns what came of it, given the desktop and the requests sent to the pages
    reads: Callable[[VirtualDesktop, list[str], Sequence[str]], str]
    wanted: str  # what that must be, with the values as {0}, {1} ..
    vary: tuple[str, ...] = ()  # what values are called that the wording does not name
    fixed: tuple[str, ...] = ()  # typed texts that are always the same
    prepared: tuple[tuple[str, str], ...] = ()  # files in the home, with their contents


def attempt(case: Case) -> Result:
    """Show a task on one desktop and replay it with other values on another one."""
    with tempfile.TemporaryDirectory(prefix="agent-s-shown-") as name, _server() as (address, sent):
        folder = Path(name)
        settings = load_settings(
            None, {"runs_dir": str(folder / "runs"), "memory.path": str(folder / "memory"), "replay": "only"}
        )
        with VirtualDesktop(ocr=None) as desktop:
            _open(case, desktop, address)
            shown, place = show(
                desktop, lambda person: case.shown(person, case.old), case.wording.format(*case.old), folder / "runs"
            )
        names: dict[str, str | None] = {**dict(zip(case.old, case.vary, strict=False)), **dict.fromkeys(case.fixed)}
        final = shown.named(shown.wording, names)
        tell("\n".join([f"{case.name}: {final.wording}", *(f"  {line}" for line in (*final.lines, *final.problems))]))
        with open_memory(settings) as memory:
            problem = finish(final, place, memory)
        if problem:
            tell(f"  not learned: {problem}")
            return "stopped"
        instruction = repeatable(str(place), read_trajectory(place).events).task.instruction
        task = with_values(instruction, dict(zip(case.old, case.new, strict=True)))
        sent.clear()
        with open_memory(settings) as memory, VirtualDesktop(ocr=None) as desktop:
            _open(case, desktop, address)
            outcome = AgentS.from_settings(settings, desktop, memory=memory).run(Task(instruction=task))
            found, wanted = case.reads(desktop, sent, case.new), case.wanted.format(*case.new)
        good = found == wanted
        tell(f"  {task}: {outcome.status} {outcome.reason}{'' if good else f'; {found!r}, not {wanted!r}'}")
        if outcome.status != "done":
            return "stopped"
        return "right" if good else "silently wrong"


def _open(case: Case, desktop: VirtualDesktop, address: str) -> None:
    for file, content in case.prepared:
        (desktop.home / file).write_text(content, encoding="utf-8")
    desktop.launch(case.opens(desktop.home, address), timeout_s=90)


@contextmanager
def _server() -> Iterator[tuple[str, list[str]]]:
    """Serve the pages; yield the address and the list of what was sent."""
    sent: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            if path == "/sent":
                sent.append("&".join("=".join(pair) for pair in urllib.parse.parse_qsl(query)))
            title, body = _PAGES.get(path, ("Thank you", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(_PAGE.format(title=title, body=body).encode())

        def log_message(self, format: str, *words: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, name="pages", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", sent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# Showing


def _save(person: Person, name: str, menu: bool = False) -> None:
    person.press("ctrl+s")
    person.wait(lambda seen: seen.active_window is not None and "Save" in seen.active_window.title, "the dialog")
    person.wait(lambda seen: seen.focus_id is not None, "the field for the name")
    person.type(name)
    person.press("Return")
    stem = name.partition(".")[0]
    person.wait(lambda seen: any(stem in window.title for window in seen.windows), "the saved file")
    person.wait(lambda seen: all("Save" not in window.title for window in seen.windows), "the end of the dialog")


def _note(person: Person, values: Sequence[str]) -> None:
    person.type(values[0])
    person.press("alt+f", "Escape")
    _save(person, values[1])


def _replace(person: Person, values: Sequence[str]) -> None:
    person.press("ctrl+r")
    person.wait(lambda seen: seen.active_window is not None and "Replace" in seen.active_window.title, "the dialog")
    person.type(values[0])
    person.click("text", which=1)
    person.type(values[1])
    person.click("push button", "Replace")
    person.click("push button", "Close")
    person.press("ctrl+s")


def _calculate(person: Person, values: Sequence[str]) -> None:
    person.type(values[0])
    person.press("Return")


def _calculate_by_mouse(person: Person, values: Sequence[str]) -> None:
    person.type(f"{values[0]}*{values[1]}")
    person.click("push button", "=")


def _cells(person: Person, values: Sequence[str]) -> None:
    for value in values[:2]:
        person.type(f"{value}\n")
    person.type("=A1*A2\n")
    _save(person, values[2])


def _row(person: Person, values: Sequence[str]) -> None:
    person.click("table cell", "B2")
    person.type(values[0])
    person.press("Tab")
    person.type(values[1])
    person.press("Return")
    person.press("ctrl+z", "ctrl+y")  # undone and redone
    _save(person, values[2])


def _letter(person: Person, values: Sequence[str]) -> None:
    person.type(f"Dear {values[0]},\nthank you.")
    _save(person, values[1])


def _bold(person: Person, values: Sequence[str]) -> None:
    person.press("ctrl+b")
    person.type(values[0])
    person.press("ctrl+b")
    _save(person, values[1])


def _order(person: Person, values: Sequence[str]) -> None:
    person.click("entry", "Title")
    person.type(values[0])
    person.click("entry", "Copies")
    person.type(values[1])
    person.click("check box", "Send me news")
    person.click("check box", "Send me news")  # the wrong one
    person.click("check box", "Wrap it as a gift")
    person.click("push button", "Order")
    person.wait(lambda seen: any("Thank you" in window.title for window in seen.windows), "the answer")


def _sign(person: Person, values: Sequence[str]) -> None:
    person.click("entry", "Name")
    person.type(f"{values[0]}x")
    person.press("BackSpace")
    person.press("Tab")
    person.type(values[1])
    person.click("push button", "Sign")
    person.wait(lambda seen: any("Thank you" in window.title for window in seen.windows), "the answer")


def _folder(person: Person, values: Sequence[str]) -> None:
    person.press("ctrl+shift+n")
    person.wait(lambda seen: seen.active_window is not None and seen.active_window.modal, "the dialog")
    person.press("ctrl+a")
    person.type(values[0])
    person.click("push button", "Create")
    person.wait(lambda seen: not any(window.modal for window in seen.windows), "the end of the dialog")


def _rename(person: Person, values: Sequence[str]) -> None:
    person.click("icon", values[0])
    person.press("F2")
    person.wait(lambda seen: seen.active_window is not None and seen.active_window.modal, "the dialog")
    person.press("ctrl+a")
    person.type(values[1])
    person.press("Return")
    person.wait(lambda seen: not any(window.modal for window in seen.windows), "the end of the dialog")


# Reading what came of it


def _file(number: int) -> Callable[[VirtualDesktop, list[str], Sequence[str]], str]:
    def read(desktop: VirtualDesktop, sent: list[str], values: Sequence[str]) -> str:
        path = desktop.home / (values[number] if number >= 0 else "list.txt")
        return path.read_text("utf-8").strip() if path.is_file() else "no file"

    return read


def _document(number: int) -> Callable[[VirtualDesktop, list[str], Sequence[str]], str]:
    def read(desktop: VirtualDesktop, sent: list[str], values: Sequence[str]) -> str:
        paths = list(desktop.home.rglob(values[number]))
        return " ".join(read_document(paths[0].read_bytes()).text.split()) if paths else "no file"

    return read


def _display(desktop: VirtualDesktop, sent: list[str], values: Sequence[str]) -> str:
    texts = [one.text for one in desktop.observe(False).elements if "editable" in one.states and one.text]
    return texts[0].strip() if texts else ""


def _sent(desktop: VirtualDesktop, sent: list[str], values: Sequence[str]) -> str:
    return "; ".join(sent)


def _names(desktop: VirtualDesktop, sent: list[str], values: Sequence[str]) -> str:
    shown = [path.name for path in desktop.home.iterdir() if not path.name.startswith(".")]
    standard = {"Desktop", "Documents", "Downloads", "Music", "Pictures", "Public", "Templates", "Videos"}
    return " ".join(sorted(set(shown) - standard))


CASES = (
    Case(
        "Mousepad: note",
        lambda home, address: ["mousepad"],
        _note,
        "Write a note",
        ("Milk and eggs", "notes.txt"),
        ("Call Bob at noon", "calls.txt"),
        _file(1),
        "{0}",
        vary=("text", "file"),
    ),
    Case(
        "Mousepad: replace",
        lambda home, address: ["mousepad", str(home / "list.txt")],
        _replace,
        "Replace '{0}' with '{1}' in the open list and save it",
        ("apples", "pears"),
        ("bread", "rolls"),
        _file(-1),
        "apples, milk, rolls",
        prepared=(("list.txt", "apples, milk, bread"),),
    ),
    Case(
        "Calculator: sum",
        lambda home, address: ["gnome-calculator"],
        _calculate,
        "Calculate '{0}'",
        ("17+25",),
        ("108-9",),
        _display,
        "99",
    ),
    Case(
        "Calculator: product",
        lambda home, address: ["gnome-calculator"],
        _calculate_by_mouse,
        "Multiply {0} by {1}",
        ("12", "34"),
        ("56", "78"),
        _display,
        "4368",
    ),
    Case(
        "Calc: product of cells",
        lambda home, address: ["localc", "--norestore", "--nologo"],
        _cells,
        "Write {0} and {1} into a sheet, multiply them, and save it as {2}",
        ("21", "37", "product.ods"),
        ("44", "15", "result.ods"),
        _document(2),
        "{0} {1} 660",
        fixed=("=A1*A2",),
    ),
    Case(
        "Calc: row",
        lambda home, address: ["localc", "--norestore", "--nologo"],
        _row,
        "Add a row to the price list",
        ("Pears", "2.35", "prices.ods"),
        ("Plums", "1.85", "summer.ods"),
        _document(2),
        "{0} {1}",
        vary=("fruit", "price", "file"),
    ),
    Case(
        "Writer: letter",
        lambda home, address: ["soffice", "--writer", "--norestore", "--nologo"],
        _letter,
        "Thank '{0}' in a letter and save it as '{1}'",
        ("Ada", "ada.odt"),
        ("Mr Brown", "brown.odt"),
        _document(1),
        "Dear {0}, thank you.",
        fixed=("Dear Ada,\nthank you.",),
    ),
    Case(
        "Writer: heading",
        lambda home, address: ["soffice", "--writer", "--norestore", "--nologo"],
        _bold,
        "Start a report",
        ("Sales in May", "may.odt"),
        ("Costs in June", "june.odt"),
        _document(1),
        "{0}",
        vary=("heading", "file"),
    ),
    Case(
        "Chromium: order",
        lambda home, address: ["chromium", f"{address}/order"],
        _order,
        "Order {1} copies of '{0}' as a gift",
        ("Emma", "3"),
        ("Persuasion", "12"),
        _sent,
        "title={0}&copies={1}&gift=yes",
    ),
    Case(
        "Chromium: guest book",
        lambda home, address: ["chromium", f"{address}/book"],
        _sign,
        "Sign the guest book",
        ("Ada Brown", "A lovely stay."),
        ("Carl Gray", "See you next year!"),
        _sent,
        "name={0}&text={1}",
        vary=("name", "message"),
    ),
    Case(
        "Thunar: folder",
        lambda home, address: ["thunar", str(home)],
        _folder,
        "Create the folder '{0}'",
        ("Invoices",),
        ("Photos 2026",),
        _names,
        "{0}",
    ),
    Case(
        "Thunar: rename",
        lambda home, address: ["thunar", str(home)],
        _rename,
        "Rename {0} to {1}",
        ("draft.txt", "final.txt"),
        ("todo.txt", "done.txt"),
        _names,
        "done.txt draft.txt",
        prepared=(("draft.txt", "a"), ("todo.txt", "b")),
    ),
)


def attempt_all(only: Sequence[str] = ()) -> dict[str, Result]:
    """Return what came of each case, or of those whose names hold one of some words."""
    chosen = [case for case in CASES if not only or any(word in case.name for word in only)]
    found: dict[str, Result] = {}
    for case in chosen:
        try:
            found[case.name] = attempt(case)
        except AssertionError as error:  # the person did not see what they looked for
            tell(f"{case.name}: {str(error)[:3000]}")
            found[case.name] = "stopped"
        tell(f"{case.name}: {found[case.name]}")
    return found
