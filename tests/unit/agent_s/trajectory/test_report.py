"""The page holds the whole run, and nothing that was on a screen can act in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from agent_s.errors import TrajectoryError
from agent_s.events import Observed
from agent_s.records import Outcome, Status
from agent_s.runs.reading import Trajectory, read_trajectory
from agent_s.trajectory.presenting import heading, tone
from agent_s.trajectory.recorder import Recorder
from agent_s.trajectory.report import IndexRow, render_report, write_index, write_report
from tests.unit.agent_s.a_run import HOSTILE, events_of_a_run


class Page(HTMLParser):
    """Collects the tags, attributes and texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def values(self, tag: str, name: str) -> list[str]:
        return [value for t, n, value in self.attributes if (t, n) == (tag, name)]


def data_of(html: str) -> dict[str, Any]:
    """Return the run that a page holds."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    values: dict[str, Any] = json.loads(found)
    return values


def recorded(folder: Path, text: str = "Save", **how: object) -> Trajectory:
    recorder = Recorder(folder)
    for event in events_of_a_run(text=text, **how):  # type: ignore[arg-type]
        recorder(event)
    recorder.close()
    return read_trajectory(folder)


def test_the_page_holds_everything_that_matters(tmp_path: Path) -> None:
    html = render_report(recorded(tmp_path / "run"))
    shown = json.dumps(data_of(html)["events"], ensure_ascii=False)
    for words in (
        "Type Save and save it",
        "Done and verified",
        "evidence Save",
        "state check",
        "How to save Save",
        "know Save",
        "save it",
        'type \\"Save\\"',
        "check Save",
        "analysis Save",
        "next Save",
        "Save is disabled",
        "note Save",
        "reflection Save",
        "trouble Save",
        "no Save",
        "failed Save",
        "summary Save",
        "problem Save",
        "1f0c9a77d2e4",
        "observe",
    ):
        assert words in shown, words


@pytest.mark.parametrize(
    "hostile",
    [
        HOSTILE,
        '"><img src=x onerror=alert(1)>',
        "'+alert(1)+'",
        "</pre></script><script src=//x>",
        "{{ 7 * 7 }}{% x %}",
    ],
)
def test_text_of_screens_and_models_stays_text(tmp_path: Path, hostile: str) -> None:
    html = render_report(recorded(tmp_path / "run", text=hostile))
    page = Page(html)
    assert page.tags.count("script") == 2
    assert not {"img", "pre"} & set(page.tags)
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name == "src"]
    assert data_of(html)["events"][0]["instruction"] == f"Type {hostile} and save it"
    assert "49" not in page.text.split()


def test_the_page_allows_its_own_script_only_and_no_network(tmp_path: Path) -> None:
    html = render_report(recorded(tmp_path / "run"))
    page = Page(html)
    (policy,) = [v for t, n, v in page.attributes if (t, n) == ("meta", "content") and "default-src" in v]
    script = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert len(script) == 1
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy
    assert "http" not in policy
    assert not page.values("a", "href") + page.values("link", "href")


def test_no_script_of_the_pages_makes_elements_from_text() -> None:
    scripts = [path for package in ("trajectory", "view") for path in Path("agent_s", package).rglob("*.js")]
    assert len(scripts) == 3
    for path in scripts:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function", path.read_text()
        )


def test_the_element_of_a_step_is_framed_in_its_picture(tmp_path: Path) -> None:
    events = data_of(render_report(recorded(tmp_path / "run")))["events"]
    chosen = [event for event in events if event["kind"] == "action_chosen"]
    assert chosen[0]["boxes"] == [[100, 50, 80, 24]]


def test_pictures_are_linked_or_embedded(tmp_path: Path) -> None:
    trajectory = recorded(tmp_path / "run")
    page = write_report(trajectory)
    assert page == tmp_path / "run/report.html"
    linked = data_of(page.read_text())
    names = {event["screenshot"] for event in linked["events"] if event["kind"] == "observed"}
    assert "pictures" not in linked
    assert all((page.parent / name).is_file() for name in names)

    elsewhere = write_report(trajectory, tmp_path / "elsewhere/page.html")
    pictures = data_of(elsewhere.read_text())["pictures"]
    assert pictures.keys() == names
    assert all(address.startswith("data:image/png;base64,") for address in pictures.values())


def test_a_missing_picture_does_not_break_the_page(tmp_path: Path) -> None:
    trajectory = recorded(tmp_path / "run")
    (tmp_path / "run/screens/0001.png").unlink()
    (tmp_path / "run/screens/0002.png").write_bytes(b"no picture")
    pictures = data_of(render_report(trajectory, embed=True))["pictures"]
    assert pictures == {"screens/0001.png": None, "screens/0002.png": None}


def test_a_picture_outside_of_the_folder_is_not_shown(tmp_path: Path) -> None:
    trajectory = recorded(tmp_path / "run")
    (tmp_path / "other.png").write_bytes((tmp_path / "run/screens/0001.png").read_bytes())
    events = tuple(
        event.model_copy(update={"screenshot": "../other.png"}) if isinstance(event, Observed) else event
        for event in trajectory.events
    )
    html = render_report(Trajectory(trajectory.folder, 1, events), embed=True)
    assert data_of(html)["pictures"] == {"../other.png": None}


def test_a_run_that_was_cut_off_anywhere_has_a_page(tmp_path: Path) -> None:
    trajectory = recorded(tmp_path / "run")
    for length in range(len(trajectory.events)):
        cut = Trajectory(trajectory.folder, 1, trajectory.events[:length], "It was cut off.")
        shown = data_of(render_report(cut))
        assert (len(shown["events"]), shown["problem"]) == (length, "It was cut off.")


@pytest.mark.parametrize(
    ("status", "verified", "colour", "words"),
    [
        ("done", True, "good", "Done and verified"),
        ("done", None, "plain", "Done, not verified"),
        ("done", False, "bad", "Not done, although the agent said so"),
        ("failed", False, "bad", "Failed"),
        ("failed", True, "plain", "Failed, rightly so"),
        ("out_of_budget", None, "bad", "Out of budget"),
        ("stopped", None, "plain", "Stopped"),
        ("infeasible", None, "plain", "Not possible"),
        ("error", None, "bad", "Error"),
    ],
)
def test_outcomes_have_a_tone_and_a_heading(status: Status, verified: bool | None, colour: str, words: str) -> None:
    outcome = Outcome(status=status, verified=verified)
    assert (tone(outcome), heading(outcome)) == (colour, words)


def test_the_index_links_the_reports_of_its_runs(tmp_path: Path) -> None:
    report = write_report(recorded(tmp_path / "a run"))
    rows = [
        IndexRow("one", HOSTILE, True, "done", True, 3, 1.25, 2, report),
        IndexRow("two", "words", False, "failed", None, 0, 0.0, 0),
    ]
    path = write_index("Demo", rows, tmp_path / "index.html")
    page = Page(path.read_text())
    assert page.values("a", "href") == ["a%20run/report.html"]
    assert "script" not in page.tags
    assert "1 of 2 as intended" in page.text
    assert "not checkable" in page.text


def test_a_page_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    trajectory = recorded(tmp_path / "run")
    with pytest.raises(TrajectoryError, match="Cannot write the report"):
        write_report(trajectory, tmp_path / "run/events.jsonl/report.html")
