"""Evidence from probes of files and settings: which probes to make for a claim, and what a cited probe shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from agent_s.llm.protocol import Citation, VerifyContext
from agent_s.probes.features import has
from agent_s.probes.requests import (
    MAX_PATH,
    MAX_SHEET,
    MAX_VALUE,
    SETTING_KEY,
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
from agent_s.roles.evidence import Evidence, NoEvidence, steps_of
from agent_s.roles.looking import is_read_only
from intents.alignment import holds
from intents.lexicon import on_or_off, stems
from intents.statements import Statement, read_statement

MAX_FIRST_PROBES = 8  # maximum number of probes before the evaluator is called


def first_probes(points: Sequence[str], changes: Iterable[Change]) -> list[Probe]:
    """Return the probes to make up front: of files that the points name, and of changed settings that they are about.

    Each point gets its first probe before any point gets a second one.
    """
    named = stems(" ".join(points))
    by_point = [dict.fromkeys(_file_probes(claim)) for claim in map(read_statement, points)]
    found = [one for each in zip_longest(*by_point) for one in each if one is not None]
    found += [FileProbe(path=one.what) for one in changes if one.after == "removed" and _is_named(one.what, points)]
    found += [
        SettingProbe(key=one.what, value=one.after)
        for one in changes
        if one.kind == "setting" and not named.isdisjoint(stems(_words(one.what.rpartition("/")[2])))
        if SETTING_KEY.fullmatch(one.what) and len(one.after) <= MAX_VALUE
    ]
    return list(dict.fromkeys(found))[:MAX_FIRST_PROBES]


def _file_probes(claim: Statement) -> Iterator[Probe]:
    for file in claim.files:
        if len(file) <= MAX_PATH:
            yield from probes_of(claim, file) or [FileProbe(path=file)]
        yield from (TextProbe(path=file, text=text[:MAX_VALUE]) for text in claim.gone if text not in claim.files)


def probes_of(claim: Statement, file: str) -> list[Probe]:
    """Return the probes that check a file for the content that a claim names; none if it names no content."""
    if claim.denies:
        return []
    if claim.cells:
        return [
            CellProbe(path=file, sheet=claim.sheet[:MAX_SHEET], cell=cell.replace("$", ""), value=value)
            for cell, value in claim.cells
        ]
    texts = [value[:MAX_VALUE] for value in claim.values if value not in (*claim.files, *claim.gone)]
    return [TextProbe(path=file, text=text, exact=claim.exact and len(texts) == 1) for text in texts]


def _is_named(path: str, points: Sequence[str]) -> bool:
    """Return whether a point names a file or folder."""
    name = path.rstrip("/").rpartition("/")[2]
    return 0 < len(path) <= MAX_PATH and any(holds(point, name) for point in points)


def find_probe(citation: Citation, claim: Statement, context: VerifyContext, forbids: bool) -> Evidence:
    """Return the evidence that a cited probe gives for a claim.

    Args:
        citation: The citation.
        claim: The claim of its point.
        context: What was judged.
        forbids: Whether the point is a prohibition.

    Raises:
        NoEvidence: There is no such probe or it failed, or it checked less than the claim says.
    """
    result = next((one for one in context.probed if one.number == citation.number), None)
    if result is None:
        raise NoEvidence(f"there is no probe {citation.number}")
    if result.holds is None:
        raise NoEvidence(f"probe {result.number} could not be read: {result.found}")
    probe = result.probe
    lasting = claim.unchanged or claim.denies or forbids
    old = isinstance(probe, FileProbe) and result.holds and not result.changed and not lasting
    if old and (claim.saving or claim.deeds or not _only_looked(context)):
        raise NoEvidence("the file was there before the task began, and was not written since")
    if claim.exact and isinstance(probe, TextProbe) and not probe.exact:
        raise NoEvidence("the point says that there is nothing else: ask for the exact text")
    shows = result.holds
    if isinstance(probe, TextProbe | FileProbe) and any(_asks_for(probe, value) for value in claim.gone):
        shows = not shows
    elif isinstance(probe, SettingProbe | PreferenceProbe) and (on := on_or_off(probe.value)) is not None:
        shows = on == shows
    elif isinstance(probe, FileProbe) and ((forbids and claim.denies) or claim.undone):
        shows = result.holds and result.changed
    elif isinstance(probe, ChangedProbe) and not shows and lasting:
        shows = not claim.denies
    elif (isinstance(probe, CellProbe) and not probe.value) or (isinstance(probe, TextProbe) and not probe.text):
        shows = not shows
    stored = result.place or ("settings" if isinstance(probe, SettingProbe) else "Chromium's profile")
    # Only a probe for this very text shows that it is gone.
    quoted = "" if claim.denies or claim.gone or forbids else result.quoted
    words, content = f"probe {result.number}: {result.found}", _checked_content(probe, result)
    return Evidence(words, content, shows, quoted=quoted, stored=stored, exact=True)


def _only_looked(context: VerifyContext) -> bool:
    """Return whether the run only looked, which suggests that the task was done already."""
    return all(is_read_only(step.response.action, step.observation) for step, _ in steps_of(context))


def _asks_for(probe: TextProbe | FileProbe, value: str) -> bool:
    asked = probe.text if isinstance(probe, TextProbe) else probe.path.rpartition("/")[2]
    return asked == value.rpartition("/")[2]


def _checked_content(probe: Probe, result: ProbeResult) -> str:
    """Return what a probe checked, with the features of the document that contain it, such as a heading."""
    match probe:
        case TextProbe():
            with_it = (line for line in result.features if probe.text and has(line, probe.text))
            return " ".join((result.place, probe.text, *with_it))
        case CellProbe():
            return f"{result.place} {probe.sheet} {probe.cell} {probe.value}"
        case SettingProbe() | PreferenceProbe():
            return f"{_words(result.found.partition('=')[0])} {probe.value}"
        case BookmarkProbe():
            return f"bookmark {probe.name} {probe.url}"
    return result.place


def _words(key: str) -> str:
    return re.sub(r"[-_./]", " ", key)
