"""How often a step that worked is taken for a failure, and how often one that went wrong is not noticed.

```
python -m benchmarks.support.truth.reflecting mousepad calculator
```

Single actions are carried out on real applications, each in a state in which it is known what it does: moving the
caret within a text is right, and at the end of the text it has no effect. From the screens before and after each, the
same code as in a run decides whether something went wrong; then the Worker reads why, or, if that is not known or
happens again, the reflector is asked.

`reflector_false`: share of right actions that are taken for a failure. `reflector_missed`: share of actions that went
wrong and are not noticed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from aci.acting.actions import (
    Action,
    Click,
    HoldAndPress,
    Hotkey,
    Scroll,
    Type,
)
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element
from agent_s.llm.protocol import ActResponse
from agent_s.loop.stall_detection import find_failure
from agent_s.records import Step
from benchmarks.fixtures.documents import write_letter, write_sheet
from benchmarks.support.figures import Figures, NotMeasured, tell
from benchmarks.support.reports import PageServer
from benchmarks.support.screens import desktop_with_ocr

NAMES = ("reflector_false", "reflector_missed")
SIZE = (1280, 800)
READY_TRIES = 40

PAGE = """<!doctype html><title>Things</title><style>body{font:16px sans-serif} canvas{border:1px solid}</style>
<h1>Things</h1>
<p><label><input type=checkbox id=a> Newsletter</label>
<label><input type=checkbox id=b onclick="return false"> Terms</label>
<label><input type=radio name=r checked> Small</label> <label><input type=radio name=r> Large</label></p>
<p><button onclick="document.getElementById('out').textContent='Sent ' + (++n)">Send</button>
<button>Refresh</button> <button disabled>Publish</button>
<button onclick="document.getElementById('out').textContent='Could not save the order'">Order</button>
<button onclick="c.getContext('2d').fillRect(10*(++n),10,8,60)">Draw</button>
<button onclick="setTimeout(()=>document.getElementById('out').textContent='Late '+(++n),700)">Later</button></p>
<p id=out>Nothing yet</p><canvas id=c width=400 height=80></canvas>
<p><label>Name <input id=name value="Ada Lovelace"></label>
<label>Code <input maxlength=4></label>
<label>Amount <input type=number></label>
<label>Price <input onchange="this.value=Number(this.value).toFixed(2)"
 oninput="this.value=this.value.replace(/[^0-9]/g,'').replace(/\\B(?=(\\d{3})+$)/g,',')"></label>
<label>Locked <input readonly value="fixed"></label>
<label>Off <input disabled value="off"></label></p>
<p><label>Digits <input oninput="this.value=this.value.replace(/\\D/g,'')"></label>
<label>Limit <input oninput="if(Number(this.value)>100)this.value='100'"></label>
<label>Motto <input oninput="this.value=this.value.replace('teh','the')"></label></p>
<p><textarea rows=4 cols=40 aria-label="Story">One line.
Another line.
A third line.</textarea></p>
<p><a href="#none" onclick="return false">Details</a> <a href="/more">More</a></p>
<p><select aria-label="Colour"><option>Red<option>Green<option>Blue</select>
<details><summary>Advanced</summary><p>Hidden words</p></details></p>
<script>let n=0;const c=document.getElementById('c')</script>
<div style="height:1500px"></div><p>The end</p>"""

TICKING = """<!doctype html><title>Clock</title><h1>Clock</h1><p id=t>0</p>
<p><button>Stop the clock</button> <button onclick="document.getElementById('o').textContent='Started '+Date.now()">
Start</button></p><p id=o>-</p><p><label><input type=checkbox> Alarm</label>
<label><input type=checkbox onclick="return false"> Snooze</label></p>
<script>let s=0;setInterval(()=>document.getElementById('t').textContent=++s,400)</script>"""

MORE = "<!doctype html><title>More</title><h1>More</h1><p>Other things</p>"


@dataclass
class Tally:
    """The labelled actions so far."""

    fine: int = 0  # number of right actions
    wrong: int = 0  # number of actions that went wrong
    # a line for each right action after which the reflector would be asked
    false: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)  # a line for each other one after which it would not


class Scene:
    """One application, in which labelled actions are carried out; before each, a model thinks for a while, s."""

    def __init__(self, desktop: VirtualDesktop, name: str, tally: Tally, thinks_s: float = 0.0) -> None:
        self.desktop = desktop
        self.seen = desktop.observe()
        self._name = name
        self._tally = tally
        self._thinks_s = thinks_s

    def do(self, *actions: Action) -> None:
        """Carry out actions that bring about a state, and are not counted."""
        for action in actions:
            self.desktop.perform(action)
        self.seen = self.desktop.observe()

    def press(self, *chords: str) -> None:
        """Press keys that bring about a state, and are not counted."""
        self.do(*(keys(chord) for chord in chords))

    def fine(self, *actions: Action) -> None:
        """Carry out actions that do what they are for."""
        for action in actions:
            self._score(action, wrong=False)

    def wrong(self, *actions: Action) -> None:
        """Carry out actions that have no effect, or another one than they are for."""
        for action in actions:
            self._score(action, wrong=True)

    def find(self, name: str, role: str = "") -> int:
        """Return the id of an element by its name; wait for it for a while.

        Raises:
            NotMeasured: It does not come.
        """
        for _ in range(READY_TRIES):
            if found := [one for one in self.seen.elements if _is_called(one, name, role)]:
                return found[0].id
            self.seen = self.desktop.observe()
        raise NotMeasured(f"{self._name}: there is no {role} {name!r}")

    def _score(self, action: Action, wrong: bool) -> None:
        time.sleep(self._thinks_s)
        before = self.seen
        result = self.desktop.perform(action)
        self.seen = self.desktop.observe()
        step = Step(1, before, ActResponse(action=action), result).followed_by(self.seen)
        trouble = find_failure(step)
        tally, line = self._tally, f"{self._name}: {step}"
        if wrong:
            tally.wrong += 1
            tally.missed += [] if trouble else [line]
        else:
            tally.fine += 1
            tally.false += [f"{line} ({trouble})"] if trouble else []
        if bool(trouble) != wrong:
            tell(f"{'missed' if wrong else 'false '} {line}")


def keys(chord: str) -> Hotkey:
    """Return a key press, such as that of "ctrl+s"."""
    return Hotkey(keys=tuple(chord.split("+")))


def held(chord: str) -> HoldAndPress:
    """Return keys that are pressed while another is held, such as "shift Right Right"."""
    first, *others = chord.split()
    return HoldAndPress(hold_keys=(first,), press_keys=tuple(others))


def _is_called(element: Element, name: str, role: str) -> bool:
    named = name.casefold() in (element.name.casefold(), element.label.casefold(), element.description.casefold())
    return named and element.point is not None and role in ("", element.role)


def mousepad(desktop: VirtualDesktop, tally: Tally) -> None:
    """An editor of GTK 3: caret, selection, menus, undo, search, the dialog to open."""
    (desktop.home / "story.txt").write_text("words\n", encoding="utf-8")
    desktop.launch(["mousepad"])
    scene = Scene(desktop, "mousepad", tally)
    scene.wrong(keys("Left"), keys("Up"), keys("BackSpace"), keys("Delete"), keys("ctrl+z"), keys("ctrl+y"))
    scene.wrong(keys("ctrl+c"), keys("Page_Up"), keys("ctrl+shift+F11"))
    scene.fine(Type(text="one two three\nfour five six\nseven eight nine"))
    scene.fine(keys("Left"), keys("Up"), keys("Home"), keys("End"), keys("ctrl+Left"), keys("ctrl+Home"))
    scene.wrong(keys("Left"), keys("Up"), keys("ctrl+Home"), keys("BackSpace"))
    scene.fine(keys("Down"), keys("Down"), keys("Right"), held("shift Right Right"), keys("shift+End"), keys("ctrl+c"))
    scene.fine(keys("ctrl+a"), keys("ctrl+End"))
    scene.wrong(keys("Right"), keys("Down"), keys("Delete"), keys("Escape"))
    scene.fine(keys("ctrl+v"), keys("ctrl+z"))
    scene.fine(Click(element_id=scene.find("Edit", "menu")))
    scene.fine(keys("Escape"))
    scene.fine(keys("ctrl+f"))
    scene.fine(Type(text="five", element_id=scene.seen.focus_id), keys("Escape"))
    scene.press("ctrl+n")
    scene.fine(Click(element_id=scene.find("Edit", "menu")))
    scene.wrong(Click(element_id=scene.find("Undo")))
    scene.press("Escape")
    scene.fine(keys("ctrl+o"))
    scene.fine(Type(text="~/story.txt"))
    scene.press("Escape", "Escape")


def calculator(desktop: VirtualDesktop, tally: Tally) -> None:
    """A calculator of GTK 4: buttons, results, errors."""
    desktop.launch(["gnome-calculator"])
    scene = Scene(desktop, "calculator", tally)
    scene.find("7")
    scene.wrong(keys("BackSpace"), keys("ctrl+z"), keys("F9"))
    scene.fine(*(Click(element_id=scene.find(name)) for name in ("7", "8", "5")))
    scene.fine(keys("Left"), keys("End"), Type(text="+15"), keys("Return"), keys("Escape"))
    scene.wrong(keys("Escape"), keys("Left"))
    scene.do(Type(text="5+*2"))
    scene.wrong(keys("Return"))
    scene.fine(keys("Escape"), Type(text="6*7="))


def thunar(desktop: VirtualDesktop, tally: Tally) -> None:
    """A file manager: selections, folders, views, buttons without effect."""
    for name in ("Letters", "Pictures of trips", "Tables"):
        (desktop.home / name).mkdir()
    (desktop.home / "a.txt").write_text("a", encoding="utf-8")
    (desktop.home / "b.txt").write_text("b", encoding="utf-8")
    desktop.launch(["thunar", str(desktop.home)])
    scene = Scene(desktop, "thunar", tally)
    letters = scene.find("Letters")
    scene.fine(Click(element_id=letters))
    scene.fine(keys("End"), keys("Home"), keys("ctrl+a"), keys("Escape"), keys("Home"))
    scene.wrong(keys("Home"), keys("Up"))
    scene.fine(keys("ctrl+2"), keys("ctrl+1"))
    scene.fine(Click(element_id=scene.find("Letters"), num_clicks=2), keys("alt+Up"))
    scene.fine(keys("alt+Left"))
    scene.wrong(keys("ctrl+a"), keys("Delete"), keys("F2"))
    scene.fine(keys("alt+Up"))
    scene.do(Click(element_id=scene.find("Tables")), keys("F2"))
    scene.fine(Type(text="Letters", overwrite=True))
    scene.wrong(keys("Return"))
    scene.press("Escape", "Escape", "Escape")


def writer(desktop: VirtualDesktop, tally: Tally) -> None:
    """A word processor: caret, selections, styles, dialogs."""
    path = write_letter(desktop.home, "empty.fodt", paragraphs=0)
    desktop.launch(["lowriter", "--norestore", str(path)])
    scene = Scene(desktop, "writer", tally)
    scene.press("ctrl+Home")
    scene.wrong(keys("Left"), keys("Up"), keys("BackSpace"), keys("ctrl+z"), keys("ctrl+c"))
    scene.fine(Type(text="First words here.\nSecond words there.\nThird words."))
    scene.fine(keys("Left"), keys("Up"), keys("Home"), keys("ctrl+Right"), keys("shift+End"), keys("ctrl+b"))
    scene.fine(keys("ctrl+i"), keys("Right"), keys("ctrl+Home"))
    scene.wrong(keys("Left"), keys("ctrl+Home"), keys("Up"))
    scene.fine(held("shift Right Right Right"), keys("ctrl+c"), keys("ctrl+End"), keys("ctrl+v"), keys("ctrl+z"))
    scene.wrong(keys("ctrl+End"), keys("Delete"), keys("Down"))
    scene.fine(keys("ctrl+F12"), keys("Escape"), keys("ctrl+a"), keys("Down"))
    scene.fine(keys("Return"), keys("BackSpace"), keys("ctrl+e"))


def calc(desktop: VirtualDesktop, tally: Tally) -> None:
    """A spreadsheet: cells, formulas, errors."""
    desktop.launch(["localc", "--norestore", str(write_sheet(desktop.home))])
    scene = Scene(desktop, "calc", tally)
    scene.press("ctrl+Home")
    scene.wrong(keys("Left"), keys("Up"), keys("ctrl+z"))
    scene.fine(keys("Right"), keys("Down"), keys("ctrl+b"), keys("shift+Down"), keys("Down"))
    scene.fine(Click(element_id=scene.find("F20")))
    scene.fine(Type(text="1234.5\n", element_id=scene.find("F21")), Type(text="=1+1\n", element_id=scene.find("F22")))
    scene.wrong(Type(text="=1/0\n", element_id=scene.find("F23")))
    scene.wrong(Type(text="=SUMM(A1)\n", element_id=scene.find("F24")))
    scene.fine(keys("ctrl+z"), keys("F2"), keys("Escape"), keys("ctrl+Home"))
    scene.wrong(keys("ctrl+Home"), keys("Escape"))
    scene.fine(Scroll(element_id=scene.find("C8"), clicks=-5), keys("ctrl+1"), keys("Escape"))


def chromium(desktop: VirtualDesktop, tally: Tally) -> None:
    """A page: controls that work, and others that do not or do something else."""
    with PageServer({"/": PAGE, "/more": MORE, "/clock": TICKING}) as server:
        desktop.launch(["chromium", f"--app={server.url}/"])
        scene = Scene(desktop, "chromium", tally)
        find = scene.find
        find("Newsletter")
        scene.fine(*(Click(element_id=find(name)) for name in ("Newsletter", "Large", "Send", "Send", "Later")))
        scene.wrong(*(Click(element_id=find(name)) for name in ("Terms", "Refresh", "Publish", "Order", "Refresh")))
        scene.fine(Click(element_id=find("Draw")), Click(element_id=find("Draw")))
        scene.fine(Type(text="Grace Hopper", element_id=find("Name"), overwrite=True))
        scene.fine(keys("Left"), keys("Home"), keys("shift+End"), keys("ctrl+c"), keys("End"))
        scene.wrong(keys("Right"), keys("Delete"))
        scene.wrong(Type(text="ABCDEFGH", element_id=find("Code")), Type(text="abc", element_id=find("Amount")))
        scene.fine(Type(text="1234567", element_id=find("Price")), Type(text="12", element_id=find("Amount")))
        scene.wrong(Type(text="x", element_id=find("Locked")), Click(element_id=find("Off", "entry")))
        scene.wrong(Type(text="a1b2c", element_id=find("Digits")), Type(text="512", element_id=find("Limit")))
        scene.fine(Type(text="teh end", element_id=find("Motto")))
        scene.fine(Click(element_id=find("Story")), keys("ctrl+Home"), keys("Down"), keys("Right"), keys("shift+Down"))
        scene.fine(keys("ctrl+Home"))
        scene.wrong(keys("Left"), keys("Up"), keys("BackSpace"))
        scene.wrong(Click(element_id=find("Details")))
        scene.fine(Click(element_id=find("Advanced")), Click(element_id=find("Advanced")))
        scene.fine(Scroll(element_id=find("Things", "heading"), clicks=-3))
        scene.press("ctrl+End")
        scene.wrong(keys("Page_Down"))
        scene.press("ctrl+Home")
        scene.fine(Click(element_id=find("More")), keys("alt+Left"))


def ticking(desktop: VirtualDesktop, tally: Tally) -> None:
    """A page that changes by itself all the time."""
    with PageServer({"/": TICKING}) as server:
        desktop.launch(["chromium", f"--app={server.url}/"])
        scene = Scene(desktop, "clock", tally, thinks_s=1.0)
        scene.find("Alarm")
        scene.fine(Click(element_id=scene.find("Alarm")))
        scene.fine(Click(element_id=scene.find("Start")), Click(element_id=scene.find("Alarm")))
        scene.wrong(Click(element_id=scene.find("Stop the clock")), Click(element_id=scene.find("Snooze")))
        scene.fine(Click(element_id=scene.find("Start")))
        scene.wrong(Click(element_id=scene.find("Stop the clock")), keys("F9"))


APPLICATIONS: dict[str, Callable[[VirtualDesktop, Tally], None]] = {
    "mousepad": mousepad,
    "calculator": calculator,
    "thunar": thunar,
    "writer": writer,
    "calc": calc,
    "chromium": chromium,
    "ticking": ticking,
}


def measure(figures: Figures, quick: bool) -> None:
    """Set `reflector_false` and `reflector_missed`."""
    tally = count("mousepad", "calculator") if quick else count(*APPLICATIONS)
    figures.set("reflector_false", len(tally.false) / tally.fine)
    figures.set("reflector_missed", len(tally.missed) / tally.wrong)


def count(*names: str) -> Tally:
    """Carry out the labelled actions of applications, each on a desktop of its own."""
    tally = Tally()
    for name in names:
        with desktop_with_ocr(SIZE) as desktop:
            APPLICATIONS[name](desktop, tally)
    tell(f"{tally.fine} right actions, {len(tally.false)} false alarms")
    tell(f"{tally.wrong} others, {len(tally.missed)} missed")
    return tally


if __name__ == "__main__":
    count(*(sys.argv[1:] or APPLICATIONS))
