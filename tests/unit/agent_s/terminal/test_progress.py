"""What a person sees of a run."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from aci.acting.actions import Type
from aci.acting.result import ActionResult
from aci.input.read_back import Delivery
from agent_s.events import ActionPerformed, EffectSeen, KnowledgeGathered, Troubled
from agent_s.terminal.output import new_console
from agent_s.terminal.progress import Display, LiveDisplay, QuietDisplay, lines_of
from tests.unit.agent_s.a_run import events_of_a_run

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b2J"


def console(terminal: bool = False) -> tuple[Console, io.StringIO]:
    made, out = new_console(), io.StringIO()
    made.file, made.width = out, 100
    if terminal:
        made._force_terminal, made._color_system = True, None
    return made, out


def test_plain_lines_show_task_subtasks_steps_results_and_verdict() -> None:
    terminal, out = console()
    with Display(terminal) as display:
        for event in events_of_a_run():
            display(event)
    lines = out.getvalue().splitlines()
    assert lines == [
        "Task: Type Save and save it",
        "Continuing without: Save",
        "Plan: 2 subtasks",
        "[1/2] type Save",
        "    » replaying 2 learned steps without a model",
        "    1. click push button Save",
        "       ✗ Save is disabled",
        "    the screen differs, the model takes over: no Save",
        "    reflection: reflection Save",
        '    2. type "Save"',
        '       ✓ 0.40 s, "note Save"',
        "    3. done",
        "       ✓ 0.00 s",
        "    ✓ done (3 steps)",
        "[2/2] save it",
        '    4. give up: "Save"',
        "       ✓ 0.00 s",
        "    ✗ failed (1 step): failed Save",
        "✓ verified: reason Save",
        "Problem: problem Save",
    ]


def test_text_that_could_not_be_read_at_once_is_shown_when_the_screen_shows_it() -> None:
    typed = ActionResult(ok=True, delivery=Delivery(state="unread", unread="cell"))
    performed = ActionPerformed(step=1, action=Type(text="Ink", enter=True), result=typed, seconds=0.5)
    assert lines_of(performed) == ["       ✓ 0.50 s"]
    shown = typed.model_copy(update={"delivery": Delivery(state="shown", unread="cell")})
    assert lines_of(EffectSeen(step=1, result=shown)) == ["       -> the screen shows the text"]
    assert "make sure" in lines_of(EffectSeen(step=1, result=typed))[0]


def test_source_that_did_not_answer_is_shown() -> None:
    event = KnowledgeGathered(query="How to", problems=("web search did not answer in time",))
    assert lines_of(event) == ["Continuing without: web search did not answer in time"]


def test_text_from_the_screen_cannot_control_the_terminal() -> None:
    for event in events_of_a_run(text=ESCAPE):
        for line in lines_of(event):
            assert not set(line) & {"\x1b", "\x07", "\x9b"}
    terminal, out = console(terminal=True)
    with LiveDisplay(terminal) as display:
        for event in events_of_a_run(text=ESCAPE):
            display(event)
            display.notice(ESCAPE)
    assert "owned\x07" not in out.getvalue()
    assert "\x9b" not in out.getvalue()
    assert "\x1b]0" not in out.getvalue()


def test_text_is_not_interpreted_as_markup() -> None:
    terminal, out = console()
    with Display(terminal) as display:
        for event in events_of_a_run(text="[bold]x[/nope] :smile:"):
            display(event)
    assert "[bold]x[/nope] :smile:" in out.getvalue()


def test_live_display_shows_the_current_step() -> None:
    terminal, out = console(terminal=True)
    display = LiveDisplay(terminal, clock=lambda: 0.0)
    pictures = []
    with display:
        for event in events_of_a_run():
            display(event)
            with terminal.capture() as capture:
                terminal.print(display)
            pictures.append(capture.get())
    planning, typing = pictures[2], pictures[15]
    assert "Type Save and save it" in planning
    assert "planning" in planning
    assert any("· type Save\n· save it\n" in picture for picture in pictures)
    assert "· save it" in typing and "· type Save" not in typing
    assert "1/2 type Save" in typing
    assert '2. type "Save"' in typing
    assert "✓ 0.40 s" in typing
    assert "step 2/100 · call 3/300 · 13 tokens · cost unknown · 0/1800 s" in typing
    assert "Ctrl-Z pauses · Ctrl-C stops · offline" in typing
    assert "✓ 1/2 type Save" in out.getvalue()


def test_quiet_display_shows_only_problems() -> None:
    terminal, out = console()
    with QuietDisplay(terminal) as display:
        for event in events_of_a_run():
            display(event)
    assert out.getvalue() == "problem Save\n"
    display.say("progress")
    display(Troubled(problem="another"))
    assert out.getvalue() == "problem Save\nanother\n"


@pytest.mark.parametrize("kind", [Display, QuietDisplay, LiveDisplay])
def test_a_display_can_be_paused_for_a_question(kind: type) -> None:
    terminal, out = console(terminal=True)
    with kind(terminal) as display:
        for event in events_of_a_run()[:9]:
            display(event)
        with display.paused():
            before = out.getvalue()
            terminal.print("question?")
            assert out.getvalue() == before + "question?\n"
        display.notice("goes on")
    assert "goes on" in out.getvalue()


def test_status_is_replaced_in_place_and_rare_in_a_log() -> None:
    terminal, out = console(terminal=True)
    live = LiveDisplay(terminal)
    live.status(f"1/9 {ESCAPE}")
    with terminal.capture() as capture:
        terminal.print(live)
    assert capture.get().startswith("1/9")
    assert "\x1b]0" not in capture.get()
    terminal, out = console()
    now = 0.0
    plain = Display(terminal, clock=lambda: now)
    for second in range(50):
        now = float(second)
        plain.status(f"after {second} s")
        plain.status("")
        if second == 30:
            plain.say("done")
    assert out.getvalue().splitlines() == ["after 20 s", "done"]
    QuietDisplay(terminal).status("nothing")
    assert "nothing" not in out.getvalue()
