from __future__ import annotations

import pytest

from agent_s.probes.requests import CellProbe, FileProbe, Probe, SettingProbe, TextProbe
from agent_s.records import Change
from agent_s.roles.probe_evidence import MAX_FIRST_PROBES, first_probes


@pytest.mark.parametrize(
    ("point", "probes"),
    [
        (
            "The file ~/Documents/plan.txt contains 'call Ada'",
            [TextProbe(path="~/Documents/plan.txt", text="call Ada")],
        ),
        ("/tmp/a.csv contains exactly 'x;y'", [TextProbe(path="/tmp/a.csv", text="x;y", exact=True)]),
        ("Cell C7 of trip.ods is 118", [CellProbe(path="trip.ods", cell="C7", value="118")]),
        (
            "C7 on the sheet Costs of trip.ods is 118",
            [CellProbe(path="trip.ods", sheet="Costs", cell="C7", value="118")],
        ),
        ("A file named 'poster.pdf' is saved in the Documents folder", [FileProbe(path="poster.pdf")]),
        ("The file old.txt was not deleted", [FileProbe(path="old.txt")]),
        ("The window shows the month of May", []),
        (
            "'roof' in a.odt is replaced by 'rooftop'",
            [TextProbe(path="a.odt", text="rooftop"), TextProbe(path="a.odt", text="roof")],
        ),
    ],
)
def test_files_that_a_point_names_are_probed_for_its_content(point: str, probes: list[Probe]) -> None:
    assert first_probes([point], ()) == probes


def test_changed_settings_that_a_point_is_about_are_probed() -> None:
    changes = [
        Change(kind="setting", what="org/xfce/mousepad/view/show-line-numbers", before="default", after="true"),
        Change(kind="file", what="~/a.txt"),
        Change(kind="setting", what="no line", before="1", after="2"),
        Change(kind="setting", what="org/xfce/mousepad/state/window/fullscreen", before="default", after="false"),
    ]
    probes = first_probes(["Line numbers are shown in Mousepad"], changes)
    assert probes == [SettingProbe(key="org/xfce/mousepad/view/show-line-numbers", value="true")]


def test_removed_files_that_a_point_names_are_probed_at_their_old_path() -> None:
    changes = [Change(kind="file", what=f"~/Reports/{name}", after="removed") for name in ("a.txt", "b.txt")]
    probes = first_probes(["a.txt is in the folder Archive", "a.txt is no longer in Reports"], changes)
    assert probes == [FileProbe(path="a.txt"), FileProbe(path="~/Reports/a.txt")]


def test_first_probes_are_unique_and_limited() -> None:
    assert len(first_probes(["a.txt exists", "a.txt exists"], ())) == 1
    assert len(first_probes([f"f{number}.txt exists" for number in range(20)], ())) == MAX_FIRST_PROBES


def test_every_point_gets_a_probe_before_one_gets_another() -> None:
    points = [
        f"report.txt contains {', '.join(repr(f'word{number}') for number in range(12))}",
        "Cell B2 of costs.ods is 118",
        "The file plan.txt is saved",
    ]
    probes = first_probes(points, ())
    assert len(probes) == MAX_FIRST_PROBES
    assert [one.path for one in probes[:4] if not isinstance(one, SettingProbe)] == [
        "report.txt", "costs.ods", "plan.txt", "report.txt",
    ]  # fmt: skip
