"""The prober, which answers probes and compares files and settings with those at the start of a run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from agent_s.probes.documents import Document, read_document
from agent_s.probes.features import has
from agent_s.probes.places import NotReadable, Places
from agent_s.probes.preferences import (
    OF_TOOLKITS,
    chromium_bookmarks,
    chromium_preference,
    find_setting,
    read_settings,
    same_value,
)
from agent_s.probes.requests import (
    BookmarkProbe,
    CellProbe,
    ChangedProbe,
    FileProbe,
    PreferenceProbe,
    Probe,
    ProbeResult,
    SettingProbe,
    TextProbe,
)
from agent_s.records import Change
from intents.numbers import shows, value_of

MAX_EXCERPT = 600  # maximum number of characters of a file in a result
DEFAULT = "default"  # value of a setting that is not set
_MOST_LISTED = 8
_MOST_FILES = 20
_MOST_FEATURES = 30
_Answer = tuple[bool | None, str]


@dataclass(eq=False)
class Prober:
    """Reads files and settings for one run."""

    home: Path | None  # home of the applications; None if its files cannot be read
    instruction: str  # the task
    since: float  # when it began, s since the epoch
    hide: Callable[[str], str] = str  # hides secrets in results
    results: list[ProbeResult] = field(default_factory=list, init=False)  # the answers so far, oldest first
    _settings: dict[str, str] | None = field(init=False)
    _listed: frozenset[str] | None = field(init=False)  # visible files and folders at the start, if they are known

    def __post_init__(self) -> None:
        self._settings = read_settings(self.home)
        self._listed = self._places(self.home).listed() if self.home is not None else None

    def probe(self, probe: Probe) -> ProbeResult:
        """Answer a probe and keep the result."""
        place, changed = "", False
        features: tuple[str, ...] = ()
        quoted = ""
        try:
            if self.home is None:
                raise NotReadable("the files of this desktop cannot be read from here")
            if isinstance(probe, SettingProbe | PreferenceProbe | BookmarkProbe):
                answer = self._preference(probe, self.home)
            else:
                places = self._places(self.home)
                path = places.find(probe.path)
                place = places.shown(path)
                if path.is_dir() and not path.is_symlink():
                    changed = self._listed is not None and f"{place}/" not in self._listed
                    answer = _folder(probe, path, changed)
                elif path.is_file():
                    changed = places.is_changed(path)
                    document = read_document(places.read(path)) if isinstance(probe, TextProbe | CellProbe) else None
                    answer = _file(probe, document, path, changed)
                    features, quoted = _features(document, probe), _quoted(document, probe)
                else:
                    answer = False, "there is no such file"
        except NotReadable as problem:
            answer = (None, str(problem))
        except OSError as error:
            answer = (None, f"it cannot be read: {error.strerror or error}")
        held, found = answer
        result = ProbeResult(
            number=len(self.results) + 1,
            probe=probe,
            holds=held,
            found=self.hide(found),
            place=place,
            changed=changed,
            features=tuple(map(self.hide, features)),
            quoted=self.hide(quoted),
        )
        self.results.append(result)
        return result

    def differences(self) -> tuple[Change, ...]:
        """Return what the run changed besides the screen: files in the home, and settings."""
        if self.home is None:
            return ()
        places, now = self._places(self.home), read_settings(self.home)
        files = [Change(kind="file", what=self.hide(places.shown(path))) for path in places.changed_files()]
        then, there = self._listed, places.listed()
        if then is not None and there is not None:
            made = (path for path in there - then if path.endswith("/"))
            files += [Change(kind="file", what=self.hide(path), after="new folder") for path in _topmost(made)]
            files += [Change(kind="file", what=self.hide(path), after="removed") for path in _topmost(then - there)]
        before = self._settings if now is not None and self._settings is not None else now
        settings = [
            Change(kind="setting", what=key, before=self.hide(was), after=self.hide(value))
            for key in sorted((before or {}).keys() | (now or {}).keys())
            if not key.startswith(OF_TOOLKITS)
            and (was := (before or {}).get(key, DEFAULT)) != (value := (now or {}).get(key, DEFAULT))
        ]
        return (*files, *settings[:_MOST_LISTED])

    def folders(self) -> tuple[str, ...]:
        """Return the names of the visible folders of the home."""
        return self._places(self.home).folder_names() if self.home is not None else ()

    def _places(self, home: Path) -> Places:
        return Places(home.absolute(), self.instruction, self.since)

    def _preference(self, probe: SettingProbe | PreferenceProbe | BookmarkProbe, home: Path) -> _Answer:
        match probe:
            case SettingProbe():
                return self._setting(probe, home)
            case PreferenceProbe():
                value = chromium_preference(home, probe.key)
                if value is None:
                    return None, "it has its default, or Chromium has not written it yet"
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                return text == probe.value.strip('"'), f"{probe.key} = {text[:MAX_EXCERPT]}"
            case BookmarkProbe():
                every = chromium_bookmarks(home)
                found = [
                    one
                    for one in every
                    if probe.name in ("", one[0]) and probe.url.rstrip("/") in ("", one[1].rstrip("/"))
                ]
                listed = ", ".join(f"{name!r} {url}" for name, url in (found or every)[-_MOST_LISTED:])
                return bool(found) and bool(probe.name or probe.url), listed or "there are no bookmarks"

    def _setting(self, probe: SettingProbe, home: Path) -> _Answer:
        settings = read_settings(home)
        if settings is None:
            return None, "the settings of this desktop cannot be read"
        found = find_setting(settings, probe.key)
        if not found:
            return None, "it has its default, or there is no such setting"
        if len(found) > 1:
            return None, f"there are several: {', '.join(sorted(found)[:_MOST_LISTED])}; name one of them"
        key, value = next(iter(found.items()))
        return same_value(value, probe.value), f"{key} = {value[:MAX_EXCERPT]}"


def _topmost(paths: Iterable[str]) -> list[str]:
    """Return the paths that are not inside another one of them; at most 20."""
    found: list[str] = []
    for path in sorted(paths):
        if not (found and found[-1].endswith("/") and path.startswith(found[-1])):
            found.append(path)
    return found[:_MOST_FILES]


def _folder(probe: FileProbe | ChangedProbe | TextProbe | CellProbe, path: Path, new: bool) -> _Answer:
    if not isinstance(probe, FileProbe | ChangedProbe):
        return None, "it is a folder"
    count = sum(1 for _ in path.iterdir())
    made = "made since the task began" if new else "not made since the task began"
    return new or isinstance(probe, FileProbe), f"a folder, {made}; files and folders in it: {count}"


def _file(
    probe: FileProbe | ChangedProbe | TextProbe | CellProbe, document: Document | None, path: Path, changed: bool
) -> _Answer:
    when = "written since the task began" if changed else "not written since the task began"
    if isinstance(probe, CellProbe) and document is not None:
        return _cell(document, probe)
    if isinstance(probe, TextProbe) and document is not None:
        text, wanted = _joined(document.text), _joined(probe.text)
        whole = probe.exact or not wanted
        held = text == wanted if whole else shows(text, wanted) or any(has(one, wanted) for one in document.features)
        return held, f"its text is {_excerpt(text, wanted)}" if text else "it is empty"
    if isinstance(probe, ChangedProbe):
        return changed, when
    return True, f"{path.stat().st_size} bytes, {when}"


def _features(document: Document | None, probe: Probe) -> tuple[str, ...]:
    """Return the features of a document, with those that contain the requested text first."""
    if document is None:
        return ()
    wanted = _joined(probe.text) if isinstance(probe, TextProbe) else ""
    return tuple(sorted(document.features, key=lambda line: not wanted or not has(line, wanted))[:_MOST_FEATURES])


def _quoted(document: Document | None, probe: Probe) -> str:
    """Return the excerpt of a document's text without partial words, since a part of a number is another number."""
    if document is None or not isinstance(probe, TextProbe):
        return ""
    text = _joined(document.text)
    start, end = _span(text, _joined(probe.text))
    if start and not text[start - 1].isspace():
        start = text.find(" ", start, end) + 1 or end
    if end < len(text) and not text[end].isspace():
        end = max(start, text.rfind(" ", start, end))
    return text[start:end].strip()


def _cell(document: Document, probe: CellProbe) -> _Answer:
    if not document.cells and not document.sheets:
        return None, "it is not a spreadsheet"
    sheet = probe.sheet or (document.sheets[0] if document.sheets else "")
    if document.sheets and sheet not in document.sheets:
        return False, f"its sheets are {', '.join(document.sheets[:_MOST_LISTED])}"
    forms = document.cells.get((sheet, probe.cell), ())
    formulas = [form for form in forms if form.startswith("=")]
    values = " or ".join(form for form in forms if form not in formulas)
    found = ", by ".join(filter(None, (values, *formulas))) or "empty"
    same = any(_comparable(form) == _comparable(probe.value) for form in forms)
    return (same if probe.value else not forms), f"{probe.cell} of {sheet or 'the file'} is {found[:MAX_EXCERPT]}"


def _joined(text: str) -> str:
    return " ".join(text.split())


def _comparable(value: str) -> str:
    text = value.strip()
    if text.startswith("="):
        return re.sub(r"[\s$]", "", text).upper()
    number = value_of(text)
    return _joined(text) if number is None else f"{float(number):.12g}"


def _excerpt(text: str, wanted: str) -> str:
    """Return the part of a text around the wanted text, or else its beginning."""
    start, end = _span(text, wanted)
    return f"{'... ' if start else ''}{text[start:end]!r}{' ...' if end < len(text) else ''}"


def _span(text: str, wanted: str) -> tuple[int, int]:
    start = max(0, text.find(wanted) - MAX_EXCERPT // 3)
    return start, min(start + MAX_EXCERPT, len(text))
