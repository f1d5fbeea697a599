"""The page shows the whole run, and nothing that was on a screen can act in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agent_s.errors import TrajectoryError
from agent_s.events import Observed
from agent_s.records import Outcome, Status
from agent_s.runs.reading import Trajectory, read_trajectory
from agent_s.trajectory.recorder import Recorder
from agent_s.trajectory.report import IndexRow, heading, render_report, tone, write_index, write_report
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


def recorded(folder: Path, text: str = "Save", **how: object) -> Trajectory:
    recorder = Recorder(folder)
    for event in events_of_a_run(text=text, **how):  # type: ignore[arg-type]
        recorder(event)
    recorder.close()
    return read_trajectory(folder)


def test_everything_that_matters_is_on_the_page(tmp_path: Path) -> None:
    page = Page(render_report(recorded(tmp_path / "run")))
    for words in (
        "Type Save and save it",
        "Done and verified",
        "evidence Save",
        "state check",
        "How to save Save",
        "know Save",
        "save it",
        'type "Save"',
        "check Save",
        "analysis Save",
        "next Save",
        "Save is disabled",
        "note Save",
        "reflection Save",
        "trouble Save",
        "replayed",
        "no Save",
        "failed Save",
        "summary Save",
        "problem Save",
        "1f0c9a77d2e4",
        "observe",
    ):
        assert words in page.text, words


@pytest.mark.parametrize(
    "hostile",
    [HOSTILE, '"><img src=x onerror=alert(1)>', "'+alert(1)+'", "</pre></main><script src=//x>", "{{ 7 * 7 }}{% x %}"],
)
def test_text_of_screens_and_models_stays_text(tmp_path: Path, hostile: str) -> None:
    html = render_report(recorded(tmp_path / "run", text=hostile))
    page = Page(html)
    assert "script" not in page.tags
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert all(source.startswith("screens/") for source in page.values("img", "src"))
    assert " ".join(f"Type {hostile} and save it".split()) in page.text
    assert "49" not in page.text.split()


def test_the_page_forbids_scripts_and_the_network(tmp_path: Path) -> None:
    page = Page(render_report(recorded(tmp_path / "run")))
    policies = [v for t, n, v in page.attributes if (t, n) == ("meta", "content") and "default-src" in v]
    assert len(policies) == 1
    assert "default-src 'none'" in policies[0]
    assert "http" not in policies[0]
    addresses = page.values("img", "src") + page.values("a", "href") + page.values("link", "href")
    assert not [address for address in addresses if "//" in address]


def test_the_element_of_a_step_is_framed_in_its_picture(tmp_path: Path) -> None:
    html = render_report(recorded(tmp_path / "run"))
    (style,) = re.findall(r'class="box" style="([^"]*)"', html)
    # The element lies at (100, 50), 80 x 24 px, on a screen of 320 x 160 px.
    assert style == "left: 31.250%; top: 31.250%; width: 25.000%; height: 15.000%"


def test_pictures_are_linked_or_embedded(tmp_path: Path) -> None:
    trajectory = recorded(tmp_path / "run")
    page = write_report(trajectory)
    assert page == tmp_path / "run/report.html"
    for source in Page(page.read_text()).values("img", "src"):
        assert (page.parent / source).is_file()

    elsewhere = write_report(trajectory, tmp_path / "elsewhere/page.html")
    sources = Page(elsewhere.read_text()).values("img", "src")
    assert sources
    assert all(source.startswith("data:image/png;base64,") for source in sources)


def test_a_missing_picture_does_not_break_the_page(tmp_path: Path) -> None:
    trajectory = recorded(tmp_path / "run")
    (tmp_path / "run/screens/0001.png").unlink()
    (tmp_path / "run/screens/0002.png").write_bytes(b"no picture")
    page = Page(render_report(trajectory))
    assert not page.values("img", "src")
    assert page.text.count("no screenshot") == 5
    assert "Done and verified" in page.text


def test_a_picture_outside_of_the_folder_is_not_shown(tmp_path: Path) -> None:
    trajectory = recorded(tmp_path / "run")
    (tmp_path / "other.png").write_bytes((tmp_path / "run/screens/0001.png").read_bytes())
    events = tuple(
        event.model_copy(update={"screenshot": "../other.png"}) if isinstance(event, Observed) else event
        for event in trajectory.events
    )
    html = render_report(Trajectory(trajectory.folder, 1, events), embed=True)
    assert not Page(html).values("img", "src")


def test_a_run_that_was_cut_off_anywhere_has_a_page(tmp_path: Path) -> None:
    trajectory = recorded(tmp_path / "run")
    for length in range(len(trajectory.events)):
        cut = Trajectory(trajectory.folder, 1, trajectory.events[:length], "It was cut off.")
        assert "Cut off" in render_report(cut)


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
