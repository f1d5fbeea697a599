"""Skills that fit a request, and those that do not."""

from __future__ import annotations

import pytest

from agent_s.replay.skill_matching import MIN_SCORE, THEN, SkillMatcher
from intents.intent import Switch
from memory_store import Provenance, SkillExperience


def skill(number: int, name: str, *others: str) -> SkillExperience:
    return SkillExperience(
        id=f"s-{number:016x}",
        name=name,
        aliases=others,
        description=f"{name.capitalize()}, by Menu in Drawer.",
        steps=({"action": "click"},),
        provenance=Provenance(run_id="r", app="Drawer"),
    )


SKILLS = tuple(
    skill(number, *names)
    for number, names in enumerate(
        [
            ("turn on grid", "show grid lines"),
            ("hide the rulerbar",),
            ("set theme to dark",),
            ("set theme to light",),
            ("switch to advanced mode",),
            ("set angle unit to radians",),
            ("open preferences",),
            ("delete row", "remove the current row"),
            ("delete column",),
            ("convert to uppercase", "to uppercase"),
            ("insert table",),
            ("enter π", "enter pi"),
            ("increase indent",),
            (f"turn on grid{THEN}open preferences",),
        ]
    )
)
MATCHER = SkillMatcher(SKILLS)


def chosen(query: str) -> str:
    fits = sorted(((MATCHER.match(query, one).score, one.name) for one in SKILLS), reverse=True)
    return fits[0][1] if fits[0][0] >= MIN_SCORE else ""


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("show the grid", "turn on grid"),
        ("make the grid lines visible", "turn on grid"),
        ("get rid of the ruler bar", "hide the rulerbar"),
        ("use the dark theme", "set theme to dark"),
        ("switch to the light color theme", "set theme to light"),
        ("measure angles in radians", "set angle unit to radians"),
        ("bring up the settings dialog", "open preferences"),
        ("remove the selected row", "delete row"),
        ("make the text upper case", "convert to uppercase"),
        ("add a table", "insert table"),
        ("please enter pi", "enter π"),
        ("increase the indentation", "increase indent"),
        ("show the grid and then bring up the preferences", f"turn on grid{THEN}open preferences"),
    ],
)
def test_skill_matches_other_wordings_of_its_effect(query: str, name: str) -> None:
    assert chosen(query) == name


@pytest.mark.parametrize(
    "query",
    [
        "hide the grid",
        "show the ruler bar",
        "don't turn on the grid",
        "use the blue theme",
        "set the font to dark",
        "measure lengths in meters",
        "delete the table",
        "delete all rows",
        "insert a row",
        "increase the theme size",
        "hide all grids",
        "decrease the indentation",
        "convert to PDF",
        "enter 7",
        "is the grid visible?",
        "turn on the grid and delete the file",
        "turn on spell checking",
        "print the table",
    ],
)
def test_no_skill_matches_a_different_request(query: str) -> None:
    assert chosen(query) == ""


def test_the_stored_intent_counts_and_not_the_wording_of_the_name() -> None:
    stored = skill(99, "F7").model_copy(update={"intent": Switch(object="spell checking", state="on")})
    assert SkillMatcher([stored]).match("turn on spell checking", stored).score >= MIN_SCORE
    assert SkillMatcher([stored]).match("turn off spell checking", stored).score < MIN_SCORE


def test_information_about_an_application_whose_name_was_left_out_is_no_panel_of_that_name() -> None:
    about, panel = skill(1, "open about"), skill(2, "show information panel")
    matcher = SkillMatcher([about, panel])
    assert (
        matcher.match("Show information about", about).score
        > matcher.match("Show information about", panel).score + 0.1
    )
    assert matcher.match("show the information panel", panel).score == 1.0
