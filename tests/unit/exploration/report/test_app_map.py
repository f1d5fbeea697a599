"""The map of an application: every screen once, reached from left to right, nothing on top of anything else."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
from PIL import Image

from agent_s.settings import Settings
from evaluation.harness.results import Header
from exploration.report.app_map import MOST_SCREENS, NODE_H, NODE_W, AppMap, draw_map
from exploration.report.page import render_report
from exploration.report.summary import ApplicationSummary
from exploration.search.records import Attempt, Boundary, Control, ScreenState, UnitSkill


def states(*names: str) -> dict[str, ScreenState]:
    return {name: ScreenState(fingerprint=name, title=f"<b>{name}</b>", thumbnail=f"{name}.png") for name in names}


def attempt(start: str, end: str, name: str = "") -> Attempt:
    control = Control(role="menu item", name=name or f"to {end}", key=name or end)
    return Attempt(key=f"{start}>{name or end}", control=control, start=start, end=end, classification="continue")


def skill(key: str) -> UnitSkill:
    return UnitSkill(key=key, app="Notes", name=f"skill {key}", steps=())


MOVES = [
    *(attempt("home", one) for one in ("file", "view")),
    *(attempt("file", one) for one in ("open", "save")),
    attempt("open", "home", "Cancel"),
    attempt("view", "view", "Ruler"),
    attempt("save", "open", "Other"),
]


def drawn() -> AppMap:
    boundary = Boundary(key="view>Grid", app="Notes", name="turn on the grid", why="nothing changed")
    moves = [*MOVES, attempt("view", "", "Grid")]
    skills = [skill("file>open"), skill("view>Ruler")]
    return draw_map(states("home", "file", "open", "save", "view", "alone"), moves, skills, [boundary])


def test_screens_never_overlap() -> None:
    nodes = {node.state.fingerprint: node for node in drawn().nodes}
    assert list(nodes) == ["home", "file", "open", "save", "view", "alone"]
    assert nodes["home"].x < nodes["file"].x < nodes["open"].x == nodes["save"].x
    assert nodes["view"].x == nodes["file"].x
    assert nodes["home"].y == nodes["file"].y == nodes["open"].y == min(node.y for node in nodes.values())
    for one, other in itertools.combinations(nodes.values(), 2):
        assert abs(one.x - other.x) >= NODE_W or abs(one.y - other.y) >= NODE_H
    assert all(node.x + NODE_W < drawn().width and node.y + NODE_H < drawn().height for node in nodes.values())


def test_skills_are_edges_or_belong_to_their_screen() -> None:
    found = drawn()
    assert [edge.label for edge in found.edges if edge.skill] == ["to open"]
    assert {edge.tip.split("'")[1] for edge in found.edges if edge.crossing} == {"Cancel", "Other"}
    (view,) = (node for node in found.nodes if node.state.fingerprint == "view")
    assert (view.skills, view.boundaries) == (("skill view>Ruler",), ("turn on the grid",))


def test_map_of_a_large_application_counts_what_it_leaves_out() -> None:
    many = [f"s{number}" for number in range(MOST_SCREENS + 7)]
    found = draw_map(states(*many), [attempt(one, other) for one, other in itertools.pairwise(many)], ())
    assert (len(found.nodes), found.left_out) == (MOST_SCREENS, 7)


def test_page_embeds_pictures_and_escapes_names(tmp_path: Path) -> None:
    Image.fromarray(np.full((40, 60, 3), 200, np.uint8)).save(tmp_path / "home.png")
    (tmp_path / "file.png").write_bytes(b"broken")
    summary = ApplicationSummary(
        app="notes",
        name="<script>Notes",
        folder=tmp_path,
        states=states("home", "file"),
        attempts=(attempt("home", "file"),),
        skills=(skill("home>file"),),
    )
    header = Header(
        benchmark="exploration", model="offline", settings=Settings().model_dump(mode="json"), version="1",
        started="2026-03-14T09:30:00Z",  # type: ignore[arg-type]
    )  # fmt: skip
    page = render_report(header, [summary], tmp_path)
    assert page.count("data:image/jpeg;base64,") == 1
    assert "<script" not in page
    assert "&lt;b&gt;home&lt;/b&gt;" in page
    assert "://" not in page
