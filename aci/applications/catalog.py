"""The applications of the machine: which there are, which one a phrase means, and what each needs to be operable.

Applications are read from desktop entries (Desktop Entry Specification 1.5), and those that the desktop prefers from
`mimeapps.list` (Association between MIME types and applications, 1.0.1).
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from configparser import ConfigParser
from configparser import Error as ConfigError
from dataclasses import dataclass, field, replace
from functools import cache
from glob import glob
from pathlib import Path

from aci.errors import LaunchFailed
from aci.processes import without_version
from intents.tables import read_table, words

_SHOWN_NEAR = 5
_GOOD = 60.0  # least score, of 100
_KIND_WORDS = frozenset({"app", "application", "program", "window", "open", "new"})
_IN_TERMINAL = ("xterm", "-e")
_FIELD_CODE = re.compile(r"%[fFuUdDnNickvm]")


@dataclass(frozen=True, slots=True)
class Application:
    """Something that can be started."""

    id: str  # name of its desktop entry without `.desktop`, or of the program where it has no entry
    name: str  # name as menus show it
    argv: tuple[str, ...]  # how it is started, without a file
    generic_name: str = ""  # what kind of application it calls itself, such as "Text Editor"
    keywords: tuple[str, ...] = ()  # words it wants to be found by
    categories: tuple[str, ...] = ()  # registered categories, such as "TextEditor"
    window_class: str = ""  # WM_CLASS of its windows where it says so
    default_for: frozenset[str] = frozenset()  # MIME types that the desktop opens with it
    in_terminal: bool = False  # whether it runs in a terminal, which its argv then starts

    @property
    def program(self) -> str:
        """Name of the program without its folder; that of the terminal is not meant."""
        return program_name(self.argv[len(_IN_TERMINAL) :] if self.in_terminal else self.argv)

    @property
    def window_names(self) -> frozenset[str]:
        """What its windows may give as the name of their application, in lower case."""
        called = f"{self.name} {self.generic_name}" if self.generic_name else ""  # as "Marble Virtual Globe" is
        names = (self.program, self.window_class, self.id, self.id.rpartition(".")[2], called)
        return frozenset(without_version(name.casefold()) for name in names if name)


class Catalog:
    """The installed applications, searched by what a person would call them."""

    def __init__(self, applications: Sequence[Application], search_path: str | None = None) -> None:
        self.applications = tuple(sorted(applications, key=lambda application: (application.name, application.id)))
        self._search_path = search_path

    def find(self, phrase: str, guess: bool = True) -> Application:
        """Return the application that a phrase means: its name, kind, keyword or program.

        Of several that fit equally well, the desktop's default application wins, then the first in alphabetical order.

        Args:
            phrase: What a person calls it.
            guess: Whether a name that is only spelled similarly is meant, too.

        Raises:
            LaunchFailed: None fits; the message lists the nearest names.
        """
        ranked = self.matches(phrase)
        sure = [application for application in ranked if _score(application, _words(phrase)) >= _GOOD]
        if sure:
            return sure[0]
        program = phrase.strip()
        if program and " " not in program and shutil.which(program, path=self._search_path):
            return Application(id=Path(program).name, name=Path(program).name, argv=(program,))
        if ranked and guess:
            return ranked[0]
        near = f"Did you mean {ranked[0].name}?" if ranked else self.near(phrase)
        raise LaunchFailed(f"No application matches {phrase!r}. {near}".strip())

    def matches(self, phrase: str) -> list[Application]:
        """Return all applications that a phrase may mean, the best first.

        A phrase that is a name exactly as menus show it, in case too, means nothing else: "Text Editor" is the
        application of that name if there is one, whereas "text editor" is any.
        """
        named = [application for application in self.applications if application.name == phrase.strip()]
        if named:
            return named
        words = _words(phrase)
        if not words:
            return []
        kinds = [kind for kind in _tables().kinds.values() if " ".join(words) in kind.phrases]
        types = {each for kind in kinds for each in kind.types}
        scored = [
            (
                -max(_score(application, words), _likeness(application, words)),
                not application.default_for & types,
                application.name,
                application,
            )
            for application in self.applications
        ]
        return [application for score, *_, application in sorted(scored, key=lambda item: item[:3]) if -score >= _GOOD]

    def display_names(self) -> dict[str, str]:
        """Return the name that menus show by each name that windows of an application may give, in lower case."""
        # "thunar" comes after "thunar --bulk-rename", which starts a part of it.
        longest_first = sorted(self.applications, key=lambda application: -len(application.argv))
        return {name: application.name for application in longest_first for name in application.window_names}

    def near(self, phrase: str) -> str:
        """Return a sentence that names the applications whose names are nearest, or an empty string."""
        from rapidfuzz import fuzz, process

        names = sorted({application.name for application in self.applications})
        found = process.extract(phrase, names, scorer=fuzz.WRatio, limit=_SHOWN_NEAR)
        return f"There are: {', '.join(name for name, _, _ in found)}." if found else ""


def installed_applications(environment: Mapping[str, str]) -> Catalog:
    """Read the desktop entries that the environment's data folders hold; hidden and broken ones are left out.

    Args:
        environment: Names the folders (XDG_DATA_HOME, XDG_DATA_DIRS, HOME) and PATH.
    """
    folders = _application_folders(environment)
    found: dict[str, Application] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.desktop")):
            entry_id = str(path.relative_to(folder)).removesuffix(".desktop").replace(os.sep, "-")
            if entry_id not in found and (application := _read_entry(path, entry_id, environment.get("PATH"))):
                found[entry_id] = application
    for mime_type, handlers in _default_handlers(environment, folders).items():
        handler = next((entry_id for entry_id in handlers if entry_id in found), None)
        if handler is not None:
            default_for = found[handler].default_for | {mime_type}
            found[handler] = replace(found[handler], default_for=default_for)
    return Catalog(list(found.values()), environment.get("PATH"))


def _default_handlers(environment: Mapping[str, str], application_folders: Sequence[Path]) -> dict[str, list[str]]:
    """Return the entry ids that the desktop names as default applications, by MIME type, the most preferred first."""
    config_home = environment.get("XDG_CONFIG_HOME") or f"{environment.get('HOME', '/')}/.config"
    config_dirs = environment.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    folders = [*(Path(base) for base in (config_home, *config_dirs.split(":")) if base), *application_folders]
    desktops = [name.lower() for name in environment.get("XDG_CURRENT_DESKTOP", "").split(":") if name]
    handlers: dict[str, list[str]] = {}
    for folder in folders:
        for name in (*(f"{desktop}-mimeapps.list" for desktop in desktops), "mimeapps.list"):
            listed = ConfigParser(strict=False, interpolation=None, delimiters="=")
            try:
                listed.read(folder / name, encoding="utf-8")
            except (ConfigError, UnicodeDecodeError):
                continue  # A broken list is as good as none.
            for mime_type, ids in listed.items("Default Applications") if "Default Applications" in listed else ():
                handlers.setdefault(mime_type, []).extend(each.removesuffix(".desktop") for each in ids.split(";"))
    return handlers


def program_name(argv: Sequence[str]) -> str:
    """Return the name of the program that an argv starts, without its folder."""
    return Path(argv[0]).name if argv else ""


def _application_folders(environment: Mapping[str, str]) -> list[Path]:
    home = environment.get("HOME", "/")
    data_home = environment.get("XDG_DATA_HOME") or f"{home}/.local/share"
    data_dirs = environment.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share:/var/lib/snapd/desktop"
    folders = (Path(base) / "applications" for base in (data_home, *data_dirs.split(":")) if base)
    return [folder for folder in folders if folder.is_dir()]


def _read_entry(path: Path, entry_id: str, search_path: str | None) -> Application | None:
    from xdg.DesktopEntry import DesktopEntry
    from xdg.Exceptions import Error

    try:
        entry = DesktopEntry(str(path))
        argv = tuple(
            part
            for part in (_FIELD_CODE.sub("", word).replace("%%", "%") for word in shlex.split(entry.getExec()))
            if part
        )
    except (Error, ValueError, UnicodeDecodeError, OSError):
        return None  # A broken entry is as good as none, as for every desktop's menu.
    if entry.getHidden() or entry.getNoDisplay() or entry.getType() != "Application" or not argv:
        return None
    if shutil.which(argv[0], path=search_path) is None:
        return None
    return Application(
        id=entry_id,
        name=entry.getName(),
        argv=(*_IN_TERMINAL, *argv) if entry.getTerminal() else argv,
        generic_name=entry.getGenericName(),
        keywords=tuple(entry.getKeywords()),
        categories=tuple(entry.getCategories()),
        window_class=str(entry.getStartupWMClass() or ""),
        in_terminal=bool(entry.getTerminal()),
    )


def _words(phrase: str) -> tuple[str, ...]:
    """Return the words that distinguish applications; determiners are kept if there are no others."""
    found = tuple(word for word in re.findall(r"[^\W_]+", phrase.casefold()) if word not in _KIND_WORDS)
    return tuple(word for word in found if word not in words("words", "determiners")) or found


def _score(application: Application, words: tuple[str, ...]) -> float:
    """Return how well words match an application, 0 to 100."""
    phrase = " ".join(words)
    name, generic = _words(application.name), _words(application.generic_name)
    program = _words(application.program)
    if words in (name, _words(application.id), _words(application.window_class)):
        return 100.0
    if words == program:  # what starts it with options is a part of it, such as a dialog
        return 100.0 if len(application.argv) == 1 + application.in_terminal * len(_IN_TERMINAL) else 95.0
    penalty = 20.0 if application.in_terminal else 0.0
    kinds = [kind for category in application.categories if (kind := _tables().kinds.get(category)) is not None]
    if words == generic or any(phrase in kind.phrases for kind in kinds):
        return 100.0 - penalty
    if set(words) <= set(name):
        return 90.0 + 5.0 * len(words) / len(name)
    if set(words) <= {*name, *generic, *program}:
        return 85.0 - penalty
    if phrase in {keyword.casefold() for keyword in application.keywords}:
        return 70.0 - penalty
    return 0.0


def _likeness(application: Application, words: tuple[str, ...]) -> float:
    """Return how well words match an application whose name is spelled similarly, 0 to 80."""
    from rapidfuzz import fuzz

    similar = fuzz.ratio(" ".join(words), " ".join(_words(application.name)))
    return 0.8 * similar if similar >= 80.0 else 0.0


@dataclass(frozen=True, slots=True)
class Recipe:
    """What some programs need so that they are accessible and start without a question."""

    programs: Sequence[str]
    arguments: Sequence[str] = ()  # put right behind the program, unless the caller gave them
    as_root: Sequence[str] = ()  # options that only root needs
    refuses_root: bool = False  # whether the programs do not start for root
    private: Sequence[str] = ()  # options for a private home only; `{home}` stands for it
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # contents by path, written into a private home if missing
    quiet_s: float = 0.0  # stillness after which no delayed update of tool bars and panels follows any more, s
    quiet_in_menus: bool = False  # whether none follows while a menu is open


@dataclass(frozen=True, slots=True)
class _Kind:
    phrases: Sequence[str]
    types: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Toolkit:
    needs: str
    environment: Mapping[str, str] = field(default_factory=dict)
    private: Mapping[str, str] = field(default_factory=dict)  # in a private home only; `{home}` stands for it
    as_root: Mapping[str, str] = field(default_factory=dict)  # for root only


@dataclass(frozen=True, slots=True)
class _Tables:
    kinds: Mapping[str, _Kind]
    first_settings: Mapping[str, str]
    toolkits: Sequence[_Toolkit]
    recipes: Sequence[Recipe]


@cache
def _tables() -> _Tables:
    tables = read_table("aci.applications", "applications.yaml", typed=True)
    kinds = {category: _Kind(**kind) for category, kind in tables["kinds"].items()}
    toolkits = [_Toolkit(**toolkit) for toolkit in tables["toolkits"]]
    return _Tables(kinds, tables["first_settings"], toolkits, [Recipe(**recipe) for recipe in tables["recipes"]])


def toolkit_environment(private_home: Path | None = None) -> dict[str, str]:
    """Return the variables that make the programs of the installed toolkits accessible.

    With a private home, they also keep these programs in it.
    """
    found: dict[str, str] = {}
    for toolkit in _tables().toolkits:
        if not glob(toolkit.needs):  # noqa: PTH207 - an absolute pattern
            continue
        private = {} if private_home is None else toolkit.private
        values = {name: value.replace("{home}", str(private_home)) for name, value in private.items()}
        values |= toolkit.as_root if os.geteuid() == 0 else {}
        for name, value in (*toolkit.environment.items(), *values.items()):
            found[name] = f"{found[name]} {value}" if name in found else value
    return found


@dataclass(frozen=True, slots=True)
class Prepared:
    """An argv with what its program needs, and the variables to set for it."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]


def prepare(argv: Sequence[str], private_home: Path | None, root: bool) -> Prepared:
    """Add what a program needs to be accessible; on a private desktop (`private_home`) also write its settings."""
    name = program_name(argv)
    recipe = next((recipe for recipe in _tables().recipes if name in recipe.programs), None)
    if recipe is None:
        return Prepared(tuple(argv), {})
    options = [*recipe.arguments, *(recipe.as_root if root else ())]
    if private_home is not None:
        options += [option.replace("{home}", str(private_home)) for option in recipe.private]
        _write_missing(recipe.files, private_home)
    given = {argument.partition("=")[0] for argument in argv[1:]}
    wanted = [option for option in options if option.partition("=")[0] not in given]
    return Prepared((argv[0], *wanted, *argv[1:]), recipe.environment)


@dataclass(frozen=True, slots=True)
class RootLimits:
    """Installed programs for which it matters that they are started by root."""

    refusing: tuple[str, ...]  # those that do not start
    changed: tuple[str, ...]  # those that are started with other options, such as browsers without their sandbox


def root_limits() -> RootLimits:
    """Return the installed programs for which it matters that they are started by root."""

    def installed(programs: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(name for name in programs if shutil.which(name)))

    recipes = _tables().recipes
    return RootLimits(
        installed(name for recipe in recipes if recipe.refuses_root for name in recipe.programs),
        installed(name for recipe in recipes if recipe.as_root for name in recipe.programs),
    )


def quiet_time(program: str, in_menu: bool = False) -> float:
    """Return how long a program must be still before its delayed updates have come, s; 0.0 if it is not known.

    Args:
        program: Its name.
        in_menu: Whether a menu is open.
    """
    recipe = next((recipe for recipe in _tables().recipes if program in recipe.programs), None)
    return 0.0 if recipe is None or (in_menu and recipe.quiet_in_menus) else recipe.quiet_s


def sockets_elsewhere(home: Path) -> set[Path]:
    """Return the sockets that killed applications with a certain home leave outside of it.

    A second start of LibreOffice finds the first by a socket that is named after the MD5 of its profile's address, each
    byte written without a leading zero.
    """
    profile = (home / ".config/libreoffice/4").as_uri()
    digest = hashlib.md5(profile.encode("utf-16-le"), usedforsecurity=False).digest()
    name = f"OSL_PIPE_{os.getuid()}_SingleOfficeIPC_{''.join(f'{byte:x}' for byte in digest)}"
    return {Path("/tmp") / name, Path("/var/tmp") / name}


def write_first_settings(home: Path) -> None:
    """Write the settings that a fresh private home needs, unless they are there."""
    _write_missing(_tables().first_settings, home)


def _write_missing(files: Mapping[str, str], home: Path) -> None:
    for relative, text in files.items():
        path = home / relative
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
