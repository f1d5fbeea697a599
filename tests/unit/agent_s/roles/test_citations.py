from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from aci.acting.actions import Action, Click, Hotkey, Type
from aci.acting.effects import with_effect
from aci.desktop.desktop import ActionResult
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, State, Window
from agent_s.llm.protocol import ActResponse, Citation, Judgement, VerifyContext, VerifyResponse
from agent_s.probes.requests import CellProbe, ChangedProbe, FileProbe, Probe, ProbeResult, SettingProbe, TextProbe
from agent_s.records import Change, Step, Subtask, Task
from agent_s.roles.citations import check_citations, find_unsupported, make_verdict
from tests.unit.agent_s.fakes import EDITOR, button, screen

TASK = Task(instruction="Do something")
DIALOG = Window(id=9, title="Preferences", app="editor", rect=EDITOR.rect, active=True, modal=True)


def part(
    number: int, role: str, name: str, text: str | None = None, *states: State, window: Window = EDITOR
) -> Element:
    found = button(number, name, role)
    return replace(found, text=text, states=frozenset(states), window_id=window.id)


def box(number: int, name: str, on: bool, window: Window = EDITOR) -> Element:
    found = part(number, "check box", name, None, "checkable", window=window)
    return replace(found, states=found.states | {"checked"}) if on else found


def step(number: int, action: Action, before: Observation, after: Observation, ok: bool = True) -> Step:
    result = with_effect(ActionResult(ok=ok, error=None if ok else "gone"), action, before, after)
    return Step(number, before, ActResponse(action=action), result)


def element(number: int, quote: str) -> Citation:
    return Citation(of="element", number=number, quote=quote)


def probe(number: int) -> Citation:
    return Citation(of="probe", number=number)


def context(
    point: str, now: Observation, *steps: Step, probed: tuple[ProbeResult, ...] = (), **more: object
) -> VerifyContext:
    done = ((Subtask(name="all"), steps),)
    return VerifyContext(TASK, now, done, (point,), probed=probed, end=now, **more)  # type: ignore[arg-type]


def answer(*citations: Citation, met: bool | None = True, verified: bool | None = True) -> VerifyResponse:
    return VerifyResponse(judgements=(Judgement(point=1, met=met, citations=citations),), verified=verified)


def problem(context: VerifyContext, *citations: Citation) -> str:
    """Return why citations do not support that the only point is met; empty if they do."""
    given = answer(*citations)
    findings = check_citations(given, context, lambda asked: pytest.fail(f"asked {asked}"))
    assert make_verdict(given, findings).verified is (None if findings[0].problem else True)
    return findings[0].problem


def read(number: int, made: Probe, holds: bool | None, place: str = "", changed: bool = True) -> ProbeResult:
    return ProbeResult(number=number, probe=made, holds=holds, found="what was found", place=place, changed=changed)


def read_later(holds: bool | None, made: Probe) -> ProbeResult:
    return read(9, made, holds, "~/a.txt")


# Elements and windows


def test_a_step_that_closes_a_dialog_by_its_button_is_evidence_of_confirmation() -> None:
    accept = part(5, "push button", "OK", window=DIALOG)
    before = replace(screen(part(1, "label", "Ready")), windows=(DIALOG, EDITOR))
    before = replace(before, elements=(*before.elements, accept))
    after = screen(part(1, "label", "Ready"))
    confirmed = step(1, Click(element_id=5), before, after)
    asked = context("The dialog was confirmed", after, confirmed)
    assert problem(asked, Citation(of="step", number=1)) == ""
    assert "'confirmed'" in problem(asked, element(1, "Ready"))


def test_a_day_counts_as_a_date() -> None:
    now = screen(part(1, "paragraph", "", "23 November 2026"), part(2, "toggle button", "Right", None, "pressed"))
    cited = element(1, "23 November 2026"), element(2, "pressed")
    assert problem(context("The date is right-aligned", now), *cited) == ""
    assert "'right'" in problem(context("The date is right-aligned", now), cited[0])


def test_an_email_address_is_not_a_file() -> None:
    now = screen(part(1, "table cell", "Ann"), part(2, "table cell", "ann@example.org"))
    point = "The entry of Ann says ann@example.org"
    assert problem(context(point, now), element(1, "Ann"), element(2, "ann@example.org")) == ""


def test_an_element_supports_a_point_that_matches_its_content() -> None:
    now = screen(part(1, "entry", "Name", "Ann"), part(2, "entry", "Email", "ann@example.org"))
    assert problem(context("The Name field reads 'Ann'", now), element(1, "Ann")) == ""


@pytest.mark.parametrize(
    ("citation", "reason"),
    [
        (element(99, "Ann"), "element 99 is not on the screen"),
        (element(1, "Bob"), "does not say what is quoted"),
        (element(1, "An"), "does not say what is quoted"),
        (element(1, ""), "does not say what is quoted"),
        (element(2, "Bert"), "the point is about element 1 'Name'"),
        (element(3, "Save"), "shows what can be done, not that it was done"),
        (element(4, "Welcome"), "nothing that is cited shows 'Ann'"),
        (Citation(of="window", quote="Editor"), "nothing that is cited shows 'Ann'"),
        (Citation(of="window", quote="Calculator"), "no window has 'Calculator' in its title"),
        (probe(1), "there is no probe 1"),
        (Citation(of="no_step"), "only that a prohibition was respected"),
    ],
)
def test_an_unfounded_citation_does_not_count(citation: Citation, reason: str) -> None:
    now = screen(
        part(1, "entry", "Name", "Ann"),
        part(2, "entry", "Email", "Bert"),
        button(3, "Save"),
        part(4, "label", "Welcome"),
    )
    assert reason in problem(context("The Name field reads 'Ann'", now), citation)


def test_a_text_in_another_field_is_not_evidence() -> None:
    now = screen(part(1, "entry", "Name", ""), part(2, "entry", "Email", "Ann"))
    assert "the point is about element 1" in problem(context("The Name field reads 'Ann'", now), element(2, "Ann"))


def test_a_text_in_another_window_is_not_evidence() -> None:
    other = replace(EDITOR, id=2, title="other.txt - Editor")
    now = screen(part(1, "text", "", "hello", window=other), windows=(other, replace(EDITOR, title="a.txt - Editor")))
    assert "'a.txt'" in problem(context("The window of a.txt shows 'hello'", now), element(1, "hello"))


def test_a_value_in_another_cell_is_not_evidence() -> None:
    now = screen(part(1, "table cell", "A5", "42"), part(2, "table cell", "B5", ""), part(3, "table cell", "B6", "7"))
    point = context("Cell B5 is 42", now)
    assert "'B5'" in problem(point, element(1, "42"))
    assert "shows '42' in B5" in problem(point, element(1, "42"), element(2, "B5"))
    right = screen(part(2, "table cell", "B5", "42"))
    assert problem(context("Cell B5 is 42", right), element(2, "42")) == ""


@pytest.mark.parametrize(
    ("on", "said", "right"), [(True, "on", True), (False, "on", False), (False, "off", True), (True, "off", False)]
)
def test_the_state_of_a_check_box_counts_not_its_name(on: bool, said: str, right: bool) -> None:
    found = problem(context(f"Line numbers are {said}", screen(box(1, "Line Numbers", on))), element(1, "Line Numbers"))
    assert (found == "") is right
    assert right or "which is the contrary" in found


def test_the_predicate_of_a_point_needs_evidence() -> None:
    now = screen(part(1, "combo box", "Theme", "Light"))
    assert "dark" in problem(context("The theme is dark", now), element(1, "Light"))
    assert problem(context("The theme is light", now), element(1, "Light")) == ""


def test_every_part_of_a_compound_point_needs_evidence() -> None:
    now = screen(box(1, "Line numbers", True), box(2, "Word wrap", True))
    point = context("Line numbers and word wrap are turned on", now)
    assert "word wrap" in problem(point, element(1, "checked"))
    assert problem(point, element(1, "checked"), element(2, "checked")) == ""


def test_an_unconfirmed_dialog_is_not_evidence() -> None:
    before = screen(
        box(1, "Autosave", False, DIALOG), part(2, "push button", "OK", window=DIALOG), windows=(DIALOG, EDITOR)
    )
    cancel = part(3, "push button", "Cancel", window=DIALOG)
    now = screen(box(1, "Autosave", True, DIALOG), *before.elements[1:], cancel, windows=(DIALOG, EDITOR))
    switched = step(1, Click(element_id=1), before, now)
    assert "can still be cancelled" in problem(context("Autosave is on", now, switched), element(1, "checked"))
    assert problem(context("Autosave is on", now), element(1, "checked")) == ""  # it was opened only to look


def test_an_element_is_not_evidence_that_something_is_gone() -> None:
    now = screen(part(1, "list item", "Ada"))
    assert "contrary" in problem(context("The row 'Ada' is deleted", now), element(1, "Ada"))


# Steps


def test_a_step_counts_by_its_effect() -> None:
    off, on = screen(box(1, "Line Numbers", False)), screen(box(1, "Line Numbers", True))
    point = "Line numbers are on"
    cited = Citation(of="step", number=1, quote="Line Numbers")
    assert problem(context(point, on, step(1, Click(element_id=1), off, on)), cited) == ""
    assert "nothing is known to have changed" in problem(
        context(point, off, step(1, Click(element_id=1), off, off)), cited
    )
    assert "no step 1 that was carried out" in problem(
        context(point, on, step(1, Click(element_id=1), off, on, False)), cited
    )
    assert "no step 7" in problem(context(point, on), Citation(of="step", number=7))


def test_a_closer_look_is_evidence() -> None:
    away, there = screen(box(1, "Align right", False)), screen(box(1, "Align right", True))
    look = step(3, Hotkey(keys=("ctrl", "Home")), away, there)
    cited = Citation(of="step", number=3, quote="Align right")
    assert problem(context("Align right is on", there, looked=(look,)), cited) == ""
    assert "there is no step 3" in problem(context("Align right is on", there), cited)


def test_an_effect_that_no_longer_holds_is_not_evidence() -> None:
    off, on = screen(box(1, "Line Numbers", False)), screen(box(1, "Line Numbers", True))
    twice = step(1, Click(element_id=1), off, on), step(2, Click(element_id=1), on, off)
    assert "no longer holds" in problem(context("Line numbers are on", off, *twice), Citation(of="step", number=1))
    undone = step(1, Click(element_id=1), off, on), step(2, Hotkey(keys=("ctrl", "z")), on, on)
    assert "undone" in problem(context("Line numbers are on", on, *undone), Citation(of="step", number=1))


@pytest.mark.parametrize(
    ("name", "right"), [("OK", True), ("Export", True), ("Cancel", False), ("Close without Saving", False)]
)
def test_a_change_in_a_dialog_counts_if_the_dialog_was_confirmed(name: str, right: bool) -> None:
    closes = part(2, "push button", name, window=DIALOG)
    off = screen(box(1, "Autosave", False, DIALOG), closes, windows=(DIALOG, EDITOR))
    on = screen(box(1, "Autosave", True, DIALOG), closes, windows=(DIALOG, EDITOR))
    now = screen(button(3, "Format"))
    steps = step(1, Click(element_id=1), off, on), step(2, Click(element_id=2), on, now)
    found = problem(context("Autosave is on", now, *steps), Citation(of="step", number=1))
    assert found == ("" if right else "the window of step 1 was closed without confirming it")


# Probes


def test_a_claim_about_a_saved_file_needs_a_probe() -> None:
    shown = replace(EDITOR, title="a.txt - Editor")
    now = screen(part(1, "text", "", "hello"), windows=(shown,))
    point = "a.txt contains 'hello'"
    typed = step(1, Type(text="hello", element_id=1), screen(part(1, "text", "", "")), now)
    for citation in (element(1, "hello"), Citation(of="window", quote="a.txt"), Citation(of="step", number=1)):
        assert "cite a probe" in problem(context(point, now, typed), citation)
    saved = read(1, TextProbe(path="a.txt", text="hello"), True, "~/a.txt")
    assert problem(context(point, now, probed=(saved,)), probe(1)) == ""


def test_the_absence_of_replaced_text_is_evidence() -> None:
    def found(old: bool, new: bool, probes: tuple[Probe, Probe]) -> str:
        results = tuple(
            read(number, one, holds, one.path)  # type: ignore[union-attr]
            for number, (one, holds) in enumerate(zip(probes, (old, new), strict=True), 1)
        )
        return problem(context(point, screen(), probed=results), probe(1), probe(2))

    point, words = "'roof' in a.odt is replaced by 'rooftop'", ("roof", "rooftop")
    texts = (TextProbe(path="~/a.odt", text=words[0]), TextProbe(path="~/a.odt", text=words[1]))
    assert found(False, True, texts) == ""
    assert "contrary" in found(True, True, texts)
    assert "contrary" in found(False, False, texts)
    point = "The file old.odt was renamed to a.odt"
    files = (FileProbe(path="~/old.odt"), FileProbe(path="~/a.odt"))
    assert found(False, True, files) == ""
    assert "contrary" in found(True, True, files)


@pytest.mark.parametrize(
    ("point", "result", "reason"),
    [
        ("a.txt contains 'hello'", read(1, TextProbe(path="a.txt", text="hello"), False, "~/a.txt"), "contrary"),
        ("a.txt contains 'hello'", read(1, TextProbe(path="a.txt", text="hello"), None), "could not be read"),
        ("a.txt contains 'hello'", read(1, TextProbe(path="b.txt", text="hello"), True, "~/b.txt"), "'a.txt'"),
        ("a.txt contains 'hello'", read(1, TextProbe(path="a.txt", text="hell"), True, "~/a.txt"), "'hello'"),
        ("a.txt contains 'hello'", read(1, FileProbe(path="a.txt"), True, "~/a.txt"), "'hello'"),
        ("The file is saved as a.txt", read(1, FileProbe(path="aa.txt"), True, "~/aa.txt"), "'a.txt'"),
        ("a.txt is saved in Documents", read(1, FileProbe(path="a.txt"), True, "~/a.txt"), "not in Documents"),
        ("That file is located in Documents", read(1, FileProbe(path="a.txt"), True, "~/a.txt"), "not in Documents"),
        ("a.txt says 'x' and nothing else", read(1, TextProbe(path="a.txt", text="x"), True, "~/a.txt"), "exact text"),
        ("The word 'x' is bold", read(1, TextProbe(path="a.odt", text="x"), True, "~/a.odt"), "'bold'"),
        ("The meeting 'x' was cancelled", read(1, TextProbe(path="a.txt", text="x"), True, "~/a.txt"), "cancelled"),
        ("The document was saved with a bold heading", read(1, FileProbe(path="a.odt"), True, "~/a.odt"), "'bold"),
        ("a.txt is saved", read(1, FileProbe(path="a.txt"), True, "~/a.txt", changed=False), "before the task began"),
        ("a.txt has only 'x'", read(1, TextProbe(path="a.txt", text="x"), True, "~/a.txt"), "exact text"),
        ("B5 of a.xlsx is 42", read(1, CellProbe(path="a.xlsx", cell="A5", value="42"), True, "~/a.xlsx"), "'B5'"),
        ("old.txt is deleted", read(1, FileProbe(path="old.txt"), True, "~/old.txt"), "contrary"),
        ("Word wrap is on", read(1, SettingProbe(key="word-wrap", value="false"), True), "contrary"),
        ("Word wrap is on", read(1, SettingProbe(key="auto-indent", value="true"), True), "Word wrap"),
    ],
)
def test_a_probe_supports_no_more_than_it_checked(point: str, result: ProbeResult, reason: str) -> None:
    setting = isinstance(result.probe, SettingProbe)
    made = result.model_copy(update={"found": f"view/{result.probe.key} = x"}) if setting else result  # type: ignore[union-attr]
    assert reason in problem(context(point, screen(), probed=(made,), folders=("Documents",)), probe(1))


@pytest.mark.parametrize(
    ("point", "result"),
    [
        (
            "The file is saved as a.txt in Documents",
            read(1, FileProbe(path="~/Documents/a.txt"), True, "~/Documents/a.txt"),
        ),
        ("old.txt no longer exists", read(1, FileProbe(path="old.txt"), False, "~/old.txt")),
        (
            "'Costs' and 'Thanks' of a.odt are headings of level 1",
            read(1, TextProbe(path="a.odt", text="Costs"), True, "~/a.odt").model_copy(
                update={"features": ("Heading 1: Costs", "Heading 1: Costs and Thanks")}
            ),
        ),
        (
            "original.txt is unchanged",
            read(1, ChangedProbe(path="original.txt"), False, "~/original.txt", changed=False),
        ),
        ("B5 of a.xlsx is 42", read(1, CellProbe(path="a.xlsx", cell="B5", value="42"), True, "~/a.xlsx")),
        (
            "A text file called a.txt is located in Documents",
            read(1, FileProbe(path="a.txt"), True, "~/Documents/a.txt"),
        ),
        ("That file is located in Documents", read(1, FileProbe(path="a.txt"), True, "~/Documents/a.txt")),
        ("The workbook was saved under its old name", read(1, FileProbe(path="a.txt"), True, "~/a.txt")),
        ("The text 'x' has been written to a.txt", read(1, TextProbe(path="a.txt", text="x"), True, "~/a.txt")),
        ("a.txt says 'x' and nothing else", read(1, TextProbe(path="a.txt", text="x", exact=True), True, "~/a.txt")),
        ("B5 of a.xlsx is 42.00", read(1, CellProbe(path="a.xlsx", cell="B5", value="42"), True, "~/a.xlsx")),
        ("a.txt is empty", read(1, TextProbe(path="a.txt", text=""), True, "~/a.txt")),
        ("B5 of a.xlsx is empty", read(1, CellProbe(path="a.xlsx", cell="B5", value=""), True, "~/a.xlsx")),
        ("a.txt has only 'x'", read(1, TextProbe(path="a.txt", text="x", exact=True), True, "~/a.txt")),
    ],
)
def test_a_probe_supports_what_it_checked(point: str, result: ProbeResult) -> None:
    assert problem(context(point, screen(), probed=(result,), folders=("Documents",)), probe(1)) == ""


@pytest.mark.parametrize("role", ["text", "shape"])
def test_document_content_on_the_screen_must_be_in_the_saved_file(role: str) -> None:
    now = screen(part(1, role, "", "one two"))
    saved = read(1, FileProbe(path="a.txt"), True, "~/a.txt")
    points = ("The document says 'one two'", "The document is saved as a.txt")
    judged = VerifyContext(TASK, now, points=points, probed=(saved,))
    claims = (Judgement(point=1, met=True, citations=(element(1, "one two"),)),
              Judgement(point=2, met=True, citations=(probe(1),)))  # fmt: skip
    given = VerifyResponse(judgements=claims, verified=True)
    for holds, verified in ((True, True), (None, True), (False, None)):
        findings = check_citations(given, judged, partial(read_later, holds))
        assert make_verdict(given, findings).verified is verified


# Constraints


def test_a_prohibition_is_compared_with_the_steps() -> None:
    now = screen(button(1, "Send"), button(2, "Save"))
    sent = step(1, Click(element_id=1), now, screen(button(2, "Save")))
    saved = step(1, Click(element_id=2), now, screen(button(1, "Send")))
    cited = Citation(of="no_step")
    assert "step 1 has to do with it" in problem(context("do not send it", now, sent, constraints=1), cited)
    assert problem(context("do not send it", now, saved, constraints=1), cited) == ""


def test_an_old_file_is_evidence_if_the_run_only_looked() -> None:
    there = read(1, FileProbe(path="a.txt"), True, "~/a.txt", changed=False)
    now = screen(part(1, "text", "", "x"))
    looked, typed = step(1, Hotkey(keys=("ctrl", "Home")), now, now), step(2, Type(text="x", element_id=1), now, now)
    assert problem(context("a.txt exists", now, looked, probed=(there,)), probe(1)) == ""
    assert "before the task began" in problem(context("a.txt exists", now, looked, typed, probed=(there,)), probe(1))


@pytest.mark.parametrize(("changed", "right"), [(False, True), (True, False)])
def test_the_write_time_of_a_file_shows_that_it_was_not_overwritten(changed: bool, right: bool) -> None:
    there = read(1, FileProbe(path="a.png"), True, "~/a.png", changed=changed)
    forbidden = context("Do not overwrite a.png", screen(), probed=(there,), constraints=1)
    assert (problem(forbidden, probe(1)) == "") is right
    assert (problem(context("a.png was not overwritten", screen(), probed=(there,)), probe(1)) == "") is right
    removed = context("a.png was removed", screen(), probed=(there,))
    assert "contrary" in problem(removed, probe(1))


def test_unchanged_claims_are_compared_with_the_first_screen() -> None:
    start = screen(part(1, "table cell", "A1", "1"), part(2, "table cell", "B1", "2"))
    everything = Citation(of="unchanged")
    for text, reason in (("2", ""), ("3", "element 2 has changed since the start")):
        now = screen(part(1, "table cell", "A1", "9"), part(2, "table cell", "B1", text))
        used = step(1, Type(text="9", element_id=1), start, now)
        assert problem(context("Nothing else is changed", now, used, start=start), everything) == reason
    strange = (Change(kind="file", what="~/other.txt"),)
    judged = context("Nothing else is changed", start, start=start, differences=strange)
    assert "~/other.txt was changed too" in problem(judged, everything)
    assert "the first screen is not known" in problem(context("Nothing else is changed", start), everything)


# Verdicts


def test_a_verdict_follows_from_its_evidence() -> None:
    now = screen(part(1, "entry", "Name", "Ann"))
    judged = context("The Name field reads 'Ann'", now)

    def verified(given: VerifyResponse) -> bool | None:
        return make_verdict(given, check_citations(given, judged)).verified

    good, bad = element(1, "Ann"), element(1, "Bob")
    assert verified(answer(good)) is True
    assert verified(answer(bad)) is None
    assert verified(answer(good, verified=None)) is None
    assert verified(answer(good, met=None)) is None
    assert verified(answer(met=False)) is False
    assert verified(answer(good, verified=False)) is False
    assert verified(VerifyResponse(verified=True)) is None
    assert verified(VerifyResponse(verified=None)) is None
    assert verified(VerifyResponse(verified=True, evidence=("the file holds 'hello'",))) is True


def test_the_problem_of_a_claim_is_reported() -> None:
    judged = VerifyContext(TASK, screen(part(1, "entry", "Name", "Ann")), points=("Name is 'Ann'", "Age is '7'"))
    given = answer(element(1, "Bob"))
    assert find_unsupported(given, check_citations(given, judged)) == (
        "point 1: element 1 does not say what is quoted; point 2: it was not judged"
    )
    doubtful = given.model_copy(update={"verified": None})
    assert find_unsupported(doubtful, check_citations(doubtful, judged)) == ""


# Connections


def test_a_value_counts_only_in_connection_with_its_topic() -> None:
    says = part(1, "status bar", "Kept as a draft for Ann.")
    point = "A table is booked for 'Ann'"
    table = part(3, "heading", "Book a table")
    both = element(1, "Ann"), element(3, "Book a table")
    assert "does not connect it with 'booked'" in problem(context(point, screen(says, table)), *both)
    name = part(2, "entry", "Name", "Ann")
    both = element(2, "Ann"), element(3, "Book a table")
    assert "does not connect it with 'booked'" in problem(context(point, screen(name, table)), *both)
    booked = part(1, "status bar", "Your table is booked for Ann.")
    assert problem(context(point, screen(booked)), element(1, "Ann")) == ""


def test_a_value_in_another_column_is_not_evidence() -> None:
    def cell(number: int, name: str, x: int, role: str = "table cell") -> Element:
        return replace(part(number, role, name), rect=Rect(x, 100 if role == "table cell" else 70, 90, 20))

    headers = cell(1, "Email", 0, "table column header"), cell(2, "City", 100, "table column header")
    point = "The email of Ann is 'ann@example.org'"
    for x, reason in ((0, ""), (100, "the point is about element 1 'Email'")):
        now = screen(*headers, cell(3, "ann@example.org", x), cell(4, "Ann", 200))
        assert problem(context(point, now), element(3, "ann@example.org")) == reason


def test_a_menu_option_that_was_toggled_twice_is_not_evidence() -> None:
    menu = Window(id=5, title="", app="editor", rect=EDITOR.rect, popup=True)
    view = part(2, "menu", "View")
    opened = screen(part(1, "menu item", "Line Numbers", window=menu), view, windows=(menu, EDITOR))
    closed = screen(view)
    opens, chooses = (Click(element_id=2), closed, opened), (Click(element_id=1), opened, closed)
    steps = [step(number, *taken) for number, taken in enumerate((opens, chooses, opens, chooses), start=1)]
    point = context("Line numbers are shown", closed, *steps)
    for number in range(1, 5):
        assert "nothing is known to have changed" in problem(point, Citation(of="step", number=number))
    assert "shows what can be done" in problem(context("Line numbers are shown", opened), element(1, "Line Numbers"))


def test_a_setting_is_not_evidence_of_a_saved_document() -> None:
    setting = read(1, SettingProbe(key="wrap", value="true"), True)
    assert "cite a probe" in problem(context("The document is saved", screen(), probed=(setting,)), probe(1))


def _quoting(text: str, quoted: str, holds: bool = True) -> ProbeResult:
    found = read(1, TextProbe(path="a.txt", text=text), holds, "~/a.txt")
    return found.model_copy(update={"quoted": quoted})


def test_a_probe_supports_every_value_that_its_answer_quotes() -> None:
    point = "a.txt contains 'Ann', 'Ben' and 42"
    now = screen(part(1, "label", "Ready"))
    assert problem(context(point, now, probed=(_quoting("Ann", "Ann 42 Ben"),)), probe(1)) == ""
    assert "'42'" in problem(context(point, now, probed=(_quoting("Ann", "Ann 421 Ben"),)), probe(1))


@pytest.mark.parametrize(
    ("point", "asked", "quoted", "holds"),
    [
        ("a.txt does not contain 'x' and 'y'", "x", "y z", False),
        ("Every 'roof' in a.txt is replaced by 'deck'", "deck", "deck and roof", True),
        ("The word 'x' in a.txt is underlined", "x", "x is underlined", True),
    ],
)
def test_the_quote_of_a_probe_proves_neither_absence_nor_words(
    point: str, asked: str, quoted: str, holds: bool
) -> None:
    now = screen(part(1, "label", "Ready"))
    with_it = problem(context(point, now, probed=(_quoting(asked, quoted, holds),)), probe(1))
    assert with_it == problem(context(point, now, probed=(_quoting(asked, "", holds),)), probe(1))
