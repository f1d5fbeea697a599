"""What an exploration finds out about applications without a model, and what an agent can do afterwards.

```
python -m benchmarks.explore Mousepad --json      # one application, all parts: at most 70 minutes, usually 35
python -m benchmarks.explore --json               # all of them, one after another
python -m benchmarks.explore libreoffice-calc --desktops 2 --parts search cover learn
```

The parts of each application, and how long they take at most (they end then, with what they have):

search   600 s   (--seconds) the depth-first search: verified `skills`, `states`, `attempts` and so on; then a fifth of
                 that for tasks of several skills: `composed`. With --desktops N, N desktops share the search, as in
                 `agent-s explore`, and both together take 600 s
cover    120 s   `coverage`: share of the menu items and toolbar buttons that the search acted on; they are counted by
                 opening every menu here, without the search's own book-keeping
replay   600 s   `skills_replayed`: share of 30 skills, drawn at random, that work again on a fresh desktop
before   900 s   `learned_before`: share of the instructions of `data/instructions.json`, written before any
                 exploration, that the `offline` model carries out with an empty memory
learn    900 s   `learned_after`: the same with the memory that the search filled; `learned_after_unseen`: that of the
                 held-out applications together, whose exploration nobody looked at before. `learned_closed`: that of
                 instructions that name an application which is not open
share    320 s   `parallel_speedup`: how many times as long one desktop takes to try and verify as much as two that
                 share a search, interpolated between two searches of one, the second with twice the time.
                 `parallel_found`: how many times as much two find in the time of one; this is less, since what is found
                 later takes longer to find, whoever looks for it
resume   1800 s  `resumed_equal`: whether `agent-s explore`, killed at 20 random moments (the command, its worker, or
                 both), ends with the same skills, in its record and in memory, as an undisturbed one, and leaves no
                 desktop behind. It searches to a depth instead of for a time, so that there is one right end

`cover`, `replay` and `learn` need the search, of this turn or of an earlier one with the same --folder.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from aci.applications.catalog import installed_applications
from aci.errors import AciError
from agent_s.settings import MemorySettings, Settings
from benchmarks.support.figures import processor_s, tell
from benchmarks.support.instructions import carried_out, instructions
from benchmarks.support.inventory import inventory, is_acted, item_of
from benchmarks.support.resuming import Explorer
from exploration.errors import ExplorationError
from exploration.job.exploration_job import Exploration, Plan
from exploration.job.scope import search_limits
from exploration.report.summary import summarize
from exploration.search.dfs import search
from exploration.search.ledger import Ledger
from exploration.search.navigator import Navigator, new_desktop
from exploration.search.prober import Prober
from exploration.search.records import SearchLimits
from exploration.search.reserve import ReserveDesktop
from exploration.skills.composing import compose
from exploration.skills.skill_keeper import SkillKeeper
from memory_store import MemoryStore

FIGURES = (
    "toolkit",
    "coverage",
    "skills",
    "skills_replayed",
    "learned_before",
    "learned_after",
    "parallel_speedup",
    "parallel_found",
    "resumed_equal",
)
SEED = 20260314
DRAWN = 30
KILLS = 20
COMPOSE_SHARE = 0.2  # of the time of a search, in addition to it
REPLAY_S, LEARN_S, RESUME_S, SHARE_S, QUICK_SHARE_S = 600.0, 900.0, 600.0, 75.0, 20.0
"""Time for a part, s; for resuming that of the undisturbed exploration, beside which the killed one takes as long."""

T = TypeVar("T")
Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class App:
    """An application that is measured.

    Attributes:
        argv: How it is started.
        toolkit: What draws it.
        resumed_depth: How deep the search goes that is killed.
        held_out: Whether nobody looked at its exploration before the figures were stated.
    """

    argv: tuple[str, ...]
    toolkit: str
    resumed_depth: int = 1
    held_out: bool = False


_OFFICE = ("--norestore", "--nologo", "--nofirststartwizard")
_PDF = "/usr/share/doc/shared-mime-info/shared-mime-info-spec.pdf"  # of a package that GTK depends on
_PICTURE = "/usr/share/pixmaps/debian-logo.png"
_DRAWING = "/usr/share/inkscape/extensions/alphabet_soup/Et.svg"
_ARCHIVE = "/usr/share/java/java-atk-wrapper.jar"
_SLIDES = "/usr/lib/libreoffice/share/template/common/presnt/DNA.otp"  # without it, a dialog asks for a template
APPS = {
    "Mousepad": App(("mousepad", "sample.txt"), "GTK 3", resumed_depth=2),
    "gnome-calculator": App(("gnome-calculator",), "GTK 4"),
    "libreoffice-calc": App(("localc", *_OFFICE), "LibreOffice"),
    "gnome-text-editor": App(("gnome-text-editor", "sample.txt"), "GTK 4"),
    "FeatherPad": App(("featherpad", "sample.txt"), "Qt 5"),
    "Thunar": App(("thunar",), "GTK 3"),
    "qpdfview": App(("qpdfview", _PDF), "Qt 5"),
    "qt6ct": App(("qt6ct",), "Qt 6"),
    "libreoffice-writer": App(("lowriter", *_OFFICE), "LibreOffice"),
    "Pluma": App(("pluma", "sample.txt"), "GTK 3"),
    "gnome-clocks": App(("gnome-clocks",), "GTK 4"),
    "SpeedCrunch": App(("speedcrunch",), "Qt 5"),
    "libreoffice-impress": App(("loimpress", *_OFFICE, _SLIDES), "LibreOffice"),
    "gedit": App(("gedit", "sample.txt"), "GTK 3"),
    "gnome-characters": App(("gnome-characters",), "GTK 4"),
    "KCalc": App(("kcalc",), "Qt 5"),
    "libreoffice-draw": App(("lodraw", *_OFFICE), "LibreOffice"),
    "eom": App(("eom", _PICTURE), "GTK 3"),
    "gnome-calendar": App(("gnome-calendar",), "GTK 4"),
    "KWrite": App(("kwrite", "sample.txt"), "Qt 5"),
    "libreoffice-math": App(("lomath", *_OFFICE), "LibreOffice"),
    "Xournal++": App(("xournalpp",), "GTK 3"),
    "gnome-chess": App(("/usr/games/gnome-chess",), "GTK 4"),
    "KolourPaint": App(("kolourpaint", _PICTURE), "Qt 5"),
    "jEdit": App(("jedit", "sample.txt"), "Swing"),
    "Atril": App(("atril", _PDF), "GTK 3"),
    "LXImage-Qt": App(("lximage-qt", _PICTURE), "Qt 5"),
    "GHex": App(("ghex", _PICTURE), "GTK 4"),
    "PCManFM-Qt": App(("pcmanfm-qt",), "Qt 5"),
    "Gnumeric": App(("gnumeric",), "GTK 3"),
    "Okular": App(("okular", _PDF), "Qt 5"),
    "Geany": App(("geany", "sample.txt"), "GTK 3"),
    "Nautilus": App(("nautilus",), "GTK 4"),
    "FocusWriter": App(("focuswriter",), "Qt 6"),
    "KeePassXC": App(("keepassxc",), "Qt 5"),
    "Evince": App(("evince", _PDF), "GTK 3"),
    "Gwenview": App(("gwenview", _PICTURE), "Qt 5"),
    "Secrets": App(("secrets",), "GTK 4"),
    "FileZilla": App(("filezilla",), "wxWidgets"),
    "AbiWord": App(("abiword",), "GTK 3"),
    "Baobab": App(("baobab",), "GTK 4"),
    "Dolphin": App(("dolphin",), "Qt 5"),
    "Audacity": App(("audacity",), "wxWidgets"),
    "Inkscape": App(("inkscape", _DRAWING), "GTK 3"),
    "Metadata Cleaner": App(("metadata-cleaner",), "GTK 4"),
    "TeXstudio": App(("texstudio", "sample.txt"), "Qt 5"),
    "Poedit": App(("poedit",), "wxWidgets"),
    "Zim": App(("zim",), "GTK 3"),
    "Dialect": App(("dialect",), "GTK 4"),
    "Kate": App(("kate", "sample.txt"), "Qt 5"),
    "Firefox": App(("firefox-esr",), "Gecko"),
    "Thunderbird": App(("thunderbird",), "Gecko"),
    "Epiphany": App(("epiphany",), "GTK 3"),
    "gnome-contacts": App(("gnome-contacts",), "GTK 4"),
    "qBittorrent": App(("qbittorrent",), "Qt 5"),
    "gnome-maps": App(("gnome-maps",), "GTK 4"),
    "Meld": App(("meld", "sample.txt", "other.txt"), "GTK 3"),
    "Strawberry": App(("strawberry",), "Qt 5"),
    "LibreCAD": App(("librecad",), "Qt 5"),
    "GnuCash": App(("gnucash",), "GTK 3"),
    "Clapper": App(("clapper",), "GTK 4"),
    "Ark": App(("ark",), "Qt 5"),
    "wxMaxima": App(("wxmaxima",), "wxWidgets"),
    "DB Browser": App(("sqlitebrowser",), "Qt 5"),
    "CherryTree": App(("cherrytree",), "GTK 3"),
    "Déjà Dup": App(("deja-dup",), "GTK 4"),
    "TreeSheets": App(("treesheets",), "wxWidgets"),
    "GIMP": App(("gimp", _PICTURE), "GTK 2"),
    "GNOME Builder": App(("gnome-builder",), "GTK 4"),
    "Kid3": App(("kid3-qt",), "Qt 5"),
    "Freeplane": App(("freeplane",), "Swing"),
    "HomeBank": App(("homebank",), "GTK 3"),
    "GNOME Logs": App(("gnome-logs",), "GTK 4"),
    "ghostwriter": App(("ghostwriter",), "Qt 5"),
    "JabRef": App(("jabref",), "Swing"),
    "Gnote": App(("gnote",), "GTK 3"),
    "Sysprof": App(("sysprof",), "GTK 4"),
    "SMPlayer": App(("smplayer",), "Qt 5"),
    "Code::Blocks": App(("codeblocks",), "wxWidgets"),
    "Transmission": App(("transmission-gtk",), "GTK 3"),
    "Endeavour": App(("endeavour",), "GTK 4"),
    "Scribus": App(("scribus",), "Qt 5"),
    "Hugin": App(("hugin",), "wxWidgets"),
    "Rhythmbox": App(("rhythmbox",), "GTK 3"),
    "GNOME Console": App(("kgx",), "GTK 4"),
    "Konsole": App(("konsole",), "Qt 5"),
    "Sweet Home 3D": App(("sweethome3d",), "Swing"),
    "Liferea": App(("liferea",), "GTK 3"),
    "GNOME Weather": App(("gnome-weather",), "GTK 4"),
    "Marble": App(("marble-qt",), "Qt 5"),
    "GeoGebra": App(("geogebra",), "Swing"),
    "gThumb": App(("gthumb", _PICTURE), "GTK 3"),
    "GNOME Fonts": App(("gnome-font-viewer",), "GTK 4"),
    "Krita": App(("krita",), "Qt 5"),
    "JOSM": App(("josm",), "Swing"),
    "Shotwell": App(("shotwell",), "GTK 3"),
    "Sound Recorder": App(("gnome-sound-recorder",), "GTK 4"),
    "Kdenlive": App(("kdenlive",), "Qt 5"),
    "XML Copy Editor": App(("xmlcopyeditor",), "wxWidgets"),
    "Quod Libet": App(("quodlibet",), "GTK 3"),
    "GNOME Music": App(("gnome-music",), "GTK 4"),
    "Calligra Words": App(("calligrawords",), "Qt 5"),
    "Qt Creator": App(("qtcreator",), "Qt 6"),
    "Bluefish": App(("bluefish", "sample.txt"), "GTK 3"),
    "LXI Tools": App(("lxi-gui",), "GTK 4"),
    "Wireshark": App(("wireshark",), "Qt 5"),
    "FreeFileSync": App(("FreeFileSync",), "wxWidgets"),
    "Synaptic": App(("synaptic",), "GTK 3"),
    "Eiciel": App(("eiciel",), "GTK 4"),
    "Tellico": App(("tellico",), "Qt 5"),
    "Golly": App(("/usr/games/golly",), "wxWidgets"),
    "RedNotebook": App(("rednotebook",), "GTK 3"),
    "Passes": App(("passes-gtk",), "GTK 4"),
    "Okteta": App(("okteta", "sample.txt"), "Qt 5"),
    "Aegisub": App(("aegisub-3.2",), "wxWidgets"),
    "Drawing": App(("drawing",), "GTK 3"),
    "Dino": App(("dino-im",), "GTK 4"),
    "digiKam": App(("digikam",), "Qt 5"),
    "CodeLite": App(("codelite",), "wxWidgets"),
    "File Roller": App(("file-roller", _ARCHIVE), "GTK 3"),
    "GMult": App(("gmult",), "GTK 4"),
    "Kile": App(("kile",), "Qt 5"),
    "wxHexEditor": App(("wxHexEditor", "sample.txt"), "wxWidgets"),
    "Nemo": App(("nemo",), "GTK 3"),
    "HydraPaper": App(("hydrapaper",), "GTK 4"),
    "KGet": App(("kget",), "Qt 5"),
    "xCHM": App(("xchm",), "wxWidgets"),
    "Almanah": App(("almanah",), "GTK 3"),
    "Carburetor": App(("carburetor",), "GTK 4"),
    "Sigil": App(("sigil",), "Qt 5"),
    "JMeter": App(("jmeter",), "Swing"),
    "Grsync": App(("grsync",), "GTK 3"),
    "Qt Linguist": App(("/usr/lib/qt6/bin/linguist",), "Qt 6"),
    "Skrooge": App(("skrooge",), "Qt 5"),
    "Spek": App(("spek",), "wxWidgets"),
    "Parole": App(("parole",), "GTK 3"),
    "Octave": App(("octave", "--gui"), "Qt 5"),
    "Kwave": App(("kwave",), "Qt 5"),
    "aMule": App(("amule",), "wxWidgets"),
    "Caja": App(("caja",), "GTK 3"),
    "Clementine": App(("clementine",), "Qt 5"),
    "Qt Designer": App(("/usr/lib/qt6/bin/designer",), "Qt 6"),
    "GpsPrune": App(("gpsprune",), "Swing"),
    "MediaInfo": App(("mediainfo-gui",), "wxWidgets"),
    "Falkon": App(("falkon",), "Qt 5"),
    "FlameRobin": App(("flamerobin",), "wxWidgets"),
    "Gaupol": App(("gaupol",), "GTK 3"),
    "MATE Terminal": App(("mate-terminal",), "GTK 3"),
    "Jmol": App(("jmol",), "Swing"),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One application, where its files lie, and how much is measured.

    Attributes:
        name: In `APPS`.
        folder: Of ledgers and memories.
        seconds: Time for the search, s.
        quick: Whether a small part is enough.
        desktops: Number of desktops that share the search; `seconds` includes the tasks of several skills if it is
            more than one.
    """

    name: str
    folder: Path
    seconds: float
    quick: bool
    desktops: int = 1

    @property
    def app(self) -> App:
        """What is measured."""
        return APPS[self.name]

    @property
    def memory(self) -> Path:
        """The memory that the search fills."""
        return self.folder / f"{self.name}.sqlite"

    def ledger(self) -> Ledger:
        """Open the record of the search."""
        return Ledger(self.folder / f"{self.name}.jsonl", self.name, self.app.argv)


def explore(case: Case) -> Values:
    """Search one application, with a ledger and a memory of its own, and combine what was found."""
    if case.desktops == 1:
        _search(case, SearchLimits(seconds=case.seconds))
    else:
        with MemoryStore.open(case.memory), case.ledger():
            pass  # both are there before the desktops share them
        with ProcessPoolExecutor(case.desktops, mp_context=get_context("spawn")) as pool:
            limits = search_limits(case.seconds, SearchLimits().max_depth)
            list(pool.map(_search, [case] * case.desktops, [limits] * case.desktops))
    with case.ledger() as ledger:
        return {
            "desktops": case.desktops,
            "skills": len(ledger.skills),
            "composed": len(ledger.composites),
            "states": len(ledger.states),
            "attempts": len(ledger.attempts),
            "acted": sum(is_acted(attempt) for attempt in ledger.attempts.values()),
            "boundaries": len(ledger.boundaries),
            "complete": ledger.ended is not None and ledger.ended.complete,
        }


def _search(case: Case, limits: SearchLimits) -> None:
    """Search on one desktop, and try tasks of several skills there."""
    keeper_of = f"explore {case.name}"
    with ReserveDesktop() as desktop, MemoryStore.open(case.memory) as memory, case.ledger() as ledger:
        for _ in search(desktop, ledger, SkillKeeper(memory, keeper_of), limits=limits):
            pass
        compose_s = COMPOSE_SHARE * case.seconds if case.desktops == 1 else case.seconds - ledger.seconds
        for _ in compose(desktop, ledger, seconds=compose_s, memory=memory):
            pass


def cover(case: Case) -> Values:
    """Count what there is to act on, and what of it the search acted on."""
    with case.ledger() as ledger:
        covered = {item_of(attempt) for attempt in ledger.attempts.values() if is_acted(attempt)}
    items = inventory(case.app.argv)
    missed = sorted(items - covered)
    return {
        "coverage": round(1 - len(missed) / max(1, len(items)), 3),
        "items": len(items),
        "not_covered": [" > ".join(item) for item in missed],
    }


def replay(case: Case) -> Values:
    """Do skills drawn at random again, each on a fresh desktop, and look for their effect."""
    with case.ledger() as ledger:
        drawn = random.Random(SEED).sample(sorted(ledger.skills), min(5 if case.quick else DRAWN, len(ledger.skills)))
        attempts = [ledger.attempts[key] for key in drawn]
    with new_desktop() as desktop:
        prober = Prober(Navigator(desktop, case.app.argv))
        problems = {one.key: prober.verify(one).problem for one in _in_time(attempts, REPLAY_S)}
    failed = {key: problem for key, problem in problems.items() if problem}
    share = round(1 - len(failed) / len(problems), 3) if problems else None
    return {"skills_replayed": share, "replays": len(problems), "not_replayed": failed}


def before(case: Case) -> Values:
    """Have instructions carried out without any memory."""
    with TemporaryDirectory() as scratch, MemoryStore.open(Path(scratch) / "empty.sqlite") as empty:
        done = _carried_out(case, empty)
    return {"learned_before": round(sum(done.values()) / len(done), 3)}


def learn(case: Case) -> Values:
    """Have instructions carried out with what the search learned."""
    with MemoryStore.open(case.memory) as memory:
        done = _carried_out(case, memory)
        closed = _carried_out(case, memory, closed=True)
    return {
        "learned_after": round(sum(done.values()) / len(done), 3),
        "instructions": len(done),
        "learned_closed": round(sum(closed.values()) / len(closed), 3) if closed else None,
        "not_learned": [instruction for instruction, carried in done.items() if not carried],
        "not_learned_closed": [instruction for instruction, carried in closed.items() if not carried],
    }


def _carried_out(case: Case, memory: MemoryStore, *, closed: bool = False) -> dict[str, bool]:
    tasks = [task for task in instructions(case.name) if task.get("closed", False) == closed]
    given = _in_time(tasks[: 4 if case.quick else None], LEARN_S)
    return {task["instruction"]: carried_out(case.app.argv, task, memory) for task in given}


def share(case: Case) -> Values:
    """Count what two desktops that share a search find out, and what one does in the same and in twice the time."""
    application = installed_applications(os.environ).find(case.app.argv[0])
    seconds = QUICK_SHARE_S if case.quick else SHARE_S
    found = {}
    for name, desktops, limit_s in (("one", 1, seconds), ("two", 2, seconds), ("one_longer", 1, 2 * seconds)):
        with TemporaryDirectory() as folder:
            settings = Settings(memory=MemorySettings(enabled=False))
            plan = Plan(Path(folder), settings, (application,), wanted=0, search_s=limit_s, desktops=desktops)
            list(Exploration(plan).run())
            (summary,) = summarize(plan.folder, plan.applications)
        acted = sum(attempt.classification != "skipped" for attempt in summary.attempts)
        found[name] = acted, len(summary.skills), len(summary.boundaries)
    one, two, one_longer = map(sum, found.values())
    return {
        "parallel_speedup": round(1 + (two - one) / (one_longer - one), 2) if one_longer > one else None,
        "parallel_found": round(two / one, 2),
        "found_by_desktops": found,
    }


def resume(case: Case) -> Values:
    """Explore twice, the second time killed again and again, and compare what was found."""
    found = []
    values: Values = {}
    for name in ("undisturbed", "killed"):
        with TemporaryDirectory(prefix="r-", ignore_cleanup_errors=True) as tmp:
            explorer = Explorer(
                case.folder / f"{case.name}-{name}", Path(tmp), case.name, case.app.resumed_depth, RESUME_S
            )
            if name == "killed":
                values["kills"] = explorer.killed(3 if case.quick else KILLS, values["resumed_s"], random.Random(SEED))
            values["resumed_s"] = round(explorer.run(), 1)
            found.append(explorer.found())
            values["leftovers"] = explorer.leftovers()
    undisturbed, killed = found
    return values | {
        "resumed_equal": undisturbed == killed and not values["leftovers"],
        "resumed_skills": len(undisturbed.skills),
        "resumed_difference": undisturbed.difference(killed),
    }


PARTS: dict[str, Callable[[Case], Values]] = {
    "search": explore,
    "cover": cover,
    "replay": replay,
    "before": before,
    "learn": learn,
    "share": share,
    "resume": resume,
}


def _in_time(items: Iterable[T], seconds: float) -> Iterator[T]:
    """Yield items until the time is used up."""
    deadline = time.monotonic() + seconds
    for item in items:
        if time.monotonic() > deadline:
            return
        yield item


def measure(case: Case, parts: Iterable[str]) -> Values:
    """Measure parts of one application; one that breaks costs its own figures only."""
    values: Values = {"toolkit": case.app.toolkit}
    for part in parts:
        before, began = processor_s(), time.monotonic()
        try:
            values |= PARTS[part](case)
        except (AciError, ExplorationError, OSError, subprocess.SubprocessError) as error:
            values[f"{part}_failed"] = f"{type(error).__name__}: {error}"
        values[f"{part}_took_s"] = round(time.monotonic() - began, 1)
        values[f"{part}_load"] = round(os.getloadavg()[0], 1)
        values[f"{part}_processor_s"] = [before, processor_s()]
        tell(f"[{case.name}, {part}: {values[f'{part}_took_s']:.0f} s]")
    return values


def _unseen(details: Mapping[str, Values]) -> float | None:
    """Return the share of all instructions for held-out applications that were carried out; None without any.

    Those for an application that could not be explored count as not carried out.
    """
    tried = {app: values for app, values in details.items() if APPS[app].held_out and "learn_took_s" in values}
    asked = {app: [each for each in instructions(app) if not each.get("closed", False)] for app in tried}
    number = sum(map(len, asked.values()))
    done = sum(len(asked[app]) - len(each["not_learned"]) for app, each in tried.items() if "not_learned" in each)
    return round(done / number, 3) if number else None


def main() -> int:
    """Measure, and print the figures; with --json the last line is one JSON object."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.explore",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("apps", nargs="*", metavar="APP", help=f"by default all of {', '.join(APPS)}")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS), help="by default all")
    parser.add_argument("--seconds", type=float, default=600.0, help="for the search; by default 600")
    parser.add_argument("--desktops", type=int, default=1, help="that share the search; by default 1")
    parser.add_argument("--quick", action="store_true", help="a minute of search and few repetitions, for a first look")
    parser.add_argument("--folder", type=Path, help="where ledgers and memories stay; by default nowhere")
    wanted = parser.parse_args()
    unknown = [app for app in wanted.apps if app not in APPS]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(APPS)}")
    with TemporaryDirectory() as scratch:
        folder = wanted.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        seconds = 60.0 if wanted.quick else wanted.seconds
        details = {
            app: measure(Case(app, folder, seconds, wanted.quick, wanted.desktops), wanted.parts)
            for app in wanted.apps or list(APPS)
        }
    figures: Values = {name: {app: values.get(name) for app, values in details.items()} for name in FIGURES}
    figures |= {"learned_after_unseen": _unseen(details), "seed": SEED, "details": details}
    print(json.dumps(figures, ensure_ascii=False, indent=None if wanted.json else 2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
