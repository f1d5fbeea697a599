"""Mail and calendars: Thunderbird's files, mails in a Maildir, and events."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from email import policy
from email.parser import BytesParser
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from evaluation.formats.pdf import compare_pdfs
from evaluation.state.context import TaskContext
from evaluation.state.downloads import digest
from evaluation.state.getters import copy_of_download
from evaluation.state.metrics import ExpectUnexpect, Score, ValueRule, expect_each, score_of, score_unless
from evaluation.state.parameters import Parameters
from evaluation.state.reading import Reading, read_text

MAILS = "~/Maildir/new"
CALENDAR = "~/.local/share/evolution/calendar/system/calendar.ics"
LIKE_PDF = 0.5  # least similarity of a PDF that was attached with the expected one
_PREFERENCE = re.compile(r'^user_pref\("((?:[^"\\]|\\.)+)", (.+)\);\s*$', re.MULTILINE)
_FILTER_LINE = re.compile(r'^(name|enabled|type|action|actionValue|condition)="(.*)"\s*$', re.MULTILINE)
_CONDITION = re.compile(r"\b(?:AND|OR) \([\w ]+,[\w ']+,(?:\".+?\"|[^)]+)\)|\bALL\b")
_DELETED = re.compile(r"X-Mozilla-Status: 000[89]")


class Preferences(Parameters):
    """How preferences must be, and how they must not, by name."""

    expect: Mapping[str, ValueRule] = Field(default_factory=dict)
    unexpect: Mapping[str, ValueRule] = Field(default_factory=dict)


class Attachment(Parameters):
    """The address of an attached file, and its name."""

    path: str
    dest: str


def vm_first_mail_file_parsed(context: TaskContext) -> Reading:
    """The first mail of the Maildir: `to`, `subject`, `body`, and paths of its `attachments`."""
    files = [path for path in context.path(MAILS).glob("*") if path.is_file()]
    if not files:
        return Reading(None, f"there is no mail in {MAILS}")
    message = BytesParser(policy=policy.default).parsebytes(min(files).read_bytes())
    body, attachments = "", []
    for part in message.walk():
        if part.get_content_disposition() == "attachment":
            copy = context.cached(f"attached/{Path(part.get_filename() or 'file').name}")
            content = part.get_payload(decode=True)
            copy.write_bytes(content if isinstance(content, bytes) else b"")
            attachments.append(copy)
        elif part.get_content_type() == "text/plain":
            body = part.get_content()
    mail = {"to": str(message["To"]), "subject": str(message["Subject"]), "body": body, "attachments": attachments}
    return Reading(mail, f"a mail to {mail['to']} about {mail['subject']!r}")


def mail_attachments(
    context: TaskContext,
    *,
    to: str | None = None,
    subject: str | None = None,
    body: str | None = None,
    attachments: tuple[Attachment, ...] | None = None,
) -> Reading:
    """An expected mail; what is not given may be anything."""
    given = {"to": to, "subject": subject, "body": body}
    mail: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if attachments is not None:
        mail["attachments"] = [copy_of_download(context, one.path, one.dest) for one in attachments]
    return Reading(mail, f"an expected mail to {to}")


def calendar_events(context: TaskContext) -> Reading:
    """Events of the calendar, `{"from", "to", "title", "location"}` each, times as `20240131T150000`."""
    path = context.path(CALENDAR)
    if not path.is_file():
        return Reading(None, f"{context.shown(path)} does not exist")
    found = events_of(read_text(path))
    return Reading(found, f"events: {found}")


def events_of(text: str) -> list[dict[str, str]]:
    """Return the events of a calendar in iCalendar's format (RFC 5545)."""
    names = {"DTSTART": "from", "DTEND": "to", "SUMMARY": "title", "LOCATION": "location"}
    events: list[dict[str, str]] = []
    for line in re.sub(r"\r?\n[ \t]", "", text).splitlines():  # long lines are folded
        name, _, value = line.partition(":")
        key = names.get(name.partition(";")[0])
        if line == "BEGIN:VEVENT":
            events.append({})
        elif key is not None and events:
            plain = re.sub(r"\\(.)", lambda escape: "\n" if escape[1] in "nN" else escape[1], value)
            events[-1][key] = plain.rstrip("Z") if key in ("from", "to") else plain
    return events


def check_thunderbird_prefs(result: Path, expected: Preferences) -> Score:
    """Every preference of `expect` is set and as its rule says, and none of `unexpect`."""
    found = {name: _json(value) for name, value in _PREFERENCE.findall(read_text(result))}
    wrong = [
        f"{name} is {found.get(name)!r}, expected {rule}"
        for name, rule in expected.expect.items()
        if name not in found or not rule.holds(found[name])
    ]
    wrong += [
        f"{name} is {found[name]!r}, unexpected"
        for name, rule in expected.unexpect.items()
        if name in found and rule.holds(found[name])
    ]
    return score_unless(wrong, "the preferences are as expected")


def check_thunderbird_filter(result: Path, expected: ExpectUnexpect[dict[str, Any]]) -> Score:
    """Some message filter has all values of each of `expect`, and none those of one of `unexpect`."""
    filters: list[dict[str, Any]] = []
    for name, written in _FILTER_LINE.findall(read_text(result)):
        value = written.replace('\\"', '"').replace("\\\\", "\\")
        if name == "name":
            filters.append({})
        if filters:
            filters[-1][name] = _CONDITION.findall(value) if name == "condition" else value
    problems = expect_each(
        expected.expect,
        expected.unexpect,
        lambda rule: any(all(one.get(name) == value for name, value in rule.items()) for one in filters),
        "no filter has",
        "a filter has",
    )
    return score_unless(problems, f"the filters are {filters}")


def check_thunderbird_folder(
    result: Path | list[Path],
    expected: Path | list[Path],
    *,
    ignore_status: bool = False,
    ignore_keys: bool = False,
    remove_deleted: bool = True,
    remove_duplicate: bool = True,
) -> Score:
    """Folders of mails (mbox) hold the same mails, in any order.

    Args:
        result: The folder, or several.
        expected: Others.
        ignore_status: Whether Thunderbird's status of a mail does not count.
        ignore_keys: Whether its labels do not.
        remove_deleted: Whether deleted mails do not count.
        remove_duplicate: Whether the same mail counts once.
    """

    def mails(path: Path) -> list[str]:
        found = [mail for mail in re.split(r"^From .*$", read_text(path), flags=re.MULTILINE) if mail.strip()]
        if remove_deleted:
            found = [mail for mail in found if not _DELETED.search(mail)]
        if ignore_status:
            found = [re.sub(r"X-Mozilla-Status\d?:[\s\d]+", "", mail) for mail in found]
        if ignore_keys:
            found = [re.sub(r"X-Mozilla-Keys:[^\n]*\n(?=MIME-Version)", "", mail) for mail in found]
        found = [mail.strip() for mail in found]
        return sorted(set(found) if remove_duplicate else found)

    pairs = zip(*([one] if isinstance(one, Path) else one for one in (result, expected)), strict=False)
    differing = [one.name for one, two in pairs if mails(one) != mails(two)]
    return score_of(not differing, f"other mails in {differing}" if differing else "the mails are the same")


def compare_mail_content(
    result: Mapping[str, Any],
    expected: Any,
    *,
    body_type: Literal["contains", "equals"] = "contains",
    ignore_blanks: bool = False,
) -> Score:
    """A mail has the expected receiver, subject, text and attachments, as far as they are given."""
    problems = [
        f"{key} is {result[key]!r}, expected {expected[key]!r}"
        for key in ("to", "subject")
        if expected.get(key, result[key]) != result[key]
    ]
    if "body" in expected:
        found, wanted = (" ".join(one["body"].split()) if ignore_blanks else one["body"] for one in (result, expected))
        if not (found == wanted if body_type == "equals" else wanted in found):
            problems.append(f"the text is {found!r}, expected {wanted!r}")
    if "attachments" in expected:
        files, right = (sorted(one["attachments"], key=lambda path: path.name) for one in (result, expected))
        names = [path.name.replace("_gt", "") for path in right]
        if [path.name for path in files] != names:
            problems.append(f"attached are {[path.name for path in files]}, expected {names}")
        else:
            pairs = zip(files, right, strict=True)
            problems += [f"{one.name} has another content" for one, two in pairs if not _same_file(one, two)]
    return score_unless(problems, "the mail is as expected")


def _same_file(one: Path, two: Path) -> bool:
    return compare_pdfs(one, two).value >= LIKE_PDF if one.suffix == ".pdf" else digest(one) == digest(two)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
