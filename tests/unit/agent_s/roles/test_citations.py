from __future__ import annotations

import pytest

from aci.acting.actions import Action, Click, Hotkey, Scroll, SwitchApplications, Type, Wait
from aci.desktop.desktop import ActionResult
from agent_s.llm.protocol import ActResponse, Judgement, VerifyResponse
from agent_s.records import Step
from agent_s.roles.citations import check_citations, find_unsupported, is_read_only, make_verdict
from tests.unit.agent_s.fakes import button, screen

SCREEN = screen(button(1, "Saved as note.txt", role="label"), button(2, "Format", role="menu"), button(3, "Delete"))
STEPS = {
    4: Step(4, SCREEN, ActResponse(action=Type(text="x"), next_action="type it"), ActionResult(ok=True)),
    5: Step(5, SCREEN, ActResponse(action=Click(element_id=9)), ActionResult(ok=False, error="gone")),
}
POINTS = ("the note is saved", "nothing is deleted")
SAVED = Judgement(point=1, met=True, element_id=1, quote="saved as  NOTE.txt")
KEPT = Judgement(point=2, met=True, step=4)


def verified(*judgements: Judgement, verified: bool | None = True) -> bool | None:
    answer = VerifyResponse(judgements=judgements, verified=verified, reason="so it is")
    return make_verdict(answer, check_citations(answer, POINTS, SCREEN, STEPS)).verified


def test_a_task_is_verified_if_every_point_is_supported() -> None:
    answer = VerifyResponse(judgements=(SAVED, KEPT), verified=True, reason="so it is")
    found = check_citations(answer, POINTS, SCREEN, STEPS)
    verdict = make_verdict(answer, found)
    assert find_unsupported(answer, found) == ""
    assert verdict.verified is True
    assert verdict.evidence == (
        "the note is saved: element 1 shows 'saved as  NOTE.txt'",
        "nothing is deleted: step 4: type it",
    )


@pytest.mark.parametrize(
    "unsupported",
    [
        Judgement(point=1, met=True),
        Judgement(point=1, met=True, element_id=99, quote="Saved"),
        Judgement(point=1, met=True, element_id=1, quote="Saved as other.txt"),
        Judgement(point=1, met=True, step=5),
        Judgement(point=1, met=True, step=77),
        Judgement(point=1, met=None, element_id=1, quote="Saved"),
    ],
)
def test_a_claim_with_a_wrong_citation_is_not_verified(unsupported: Judgement) -> None:
    assert verified(unsupported, KEPT) is False
    assert verified(unsupported, KEPT, verified=None) is None


def test_the_problem_of_a_claim_is_reported() -> None:
    wrong = Judgement(point=1, met=True, element_id=1, quote="Saved as other.txt")
    answer = VerifyResponse(judgements=(wrong,), verified=True)
    assert find_unsupported(answer, check_citations(answer, POINTS, SCREEN, STEPS)) == (
        "point 1: element 1 does not hold the words that are quoted; point 2: it was not judged"
    )
    doubtful = answer.model_copy(update={"verified": None})
    assert find_unsupported(doubtful, check_citations(doubtful, POINTS, SCREEN, STEPS)) == ""


def test_success_without_judgements_is_not_verified() -> None:
    assert verified() is False
    assert verified(verified=None) is None
    looked_up = VerifyResponse(verified=True, evidence=("the file holds 'hello'",))
    assert make_verdict(looked_up, check_citations(looked_up, POINTS, SCREEN, STEPS)).verified is True


def test_a_point_that_was_not_judged_is_not_verified() -> None:
    assert verified(SAVED) is False
    assert verified(SAVED, verified=None) is None


def test_one_point_that_is_not_met_refutes_the_task() -> None:
    assert verified(SAVED, Judgement(point=2, met=False)) is False
    assert verified(SAVED, KEPT, verified=False) is False


def test_an_undecided_verdict_stays_undecided() -> None:
    assert verified(SAVED, KEPT, verified=None) is None


def test_states_can_be_cited() -> None:
    assert verified(Judgement(point=1, met=True, element_id=2, quote="menu Format"), KEPT) is True


@pytest.mark.parametrize(
    ("action", "allowed"),
    [
        (Scroll(element_id=3, clicks=-5), True),
        (SwitchApplications(app_code="editor"), True),
        (Wait(time=1), True),
        (Hotkey(keys=("ctrl", "Home")), True),
        (Hotkey(keys=("Page_Down",)), True),
        (Hotkey(keys=("ctrl", "s")), False),
        (Hotkey(keys=("alt", "Left")), False),
        (Hotkey(keys=("shift", "End")), False),
        (Click(element_id=2), True),
        (Click(element_id=2, num_clicks=2), False),
        (Click(element_id=3), False),
        (Click(element_id=99), False),
        (Type(text="x"), False),
    ],
)
def test_only_navigation_is_read_only(action: Action, allowed: bool) -> None:
    assert is_read_only(action, SCREEN) is allowed
