"""From an intent to what is done about it: one policy for each kind."""

from __future__ import annotations

from agent_s.offline.course import Achieved, Course, Move, give_up
from agent_s.offline.following import leave_questions
from agent_s.offline.intents import (
    AnswerDialog,
    ClearField,
    ClickOn,
    CloseThing,
    Command,
    DragOnto,
    EnterCells,
    FillIn,
    FocusOn,
    FollowPath,
    GoToAddress,
    GoToCell,
    InPlace,
    Intent,
    InTurn,
    KeepText,
    LookWhether,
    NothingToDo,
    NotUnderstood,
    OnlyIf,
    OpenFile,
    OpenThing,
    PasteText,
    Pause,
    PressKeys,
    RepeatUntil,
    ReplaceText,
    SaveFile,
    ScrollView,
    SearchFor,
    SelectOptions,
    SetChecked,
    SetValue,
    TypeText,
    Unfold,
    WaitFor,
)
from agent_s.offline.policies import choosing, files, looking, pages, paths, places, pointing, typing, values, windows
from agent_s.offline.policies.common import Steps
from agent_s.offline.screen import Screen

MOST_REPEATS = 15


def pursue(intent: Intent, screen: Screen) -> Course:
    """Return the policy for an intent, at work on a screen."""
    match intent:
        case InTurn() | InPlace() | OnlyIf() | RepeatUntil() | NothingToDo() | NotUnderstood() | Command():
            return _composed(intent, screen)
        case OpenThing() | CloseThing() | AnswerDialog() | SaveFile() | OpenFile() | GoToAddress() | SearchFor():
            return _on_windows(intent, screen)
        case TypeText() | FillIn() | EnterCells() | GoToCell() | ReplaceText() | ClearField():
            return _on_text(intent, screen)
        case Pause() | WaitFor() | LookWhether() | KeepText() | PasteText():
            return _looking(intent, screen)
        case _:
            return _on_elements(intent, screen)


def _on_elements(intent: Intent, screen: Screen) -> Course:
    match intent:
        case ClickOn():
            return pointing.click_on(intent, screen)
        case PressKeys():
            return pointing.press_keys(intent, screen)
        case DragOnto():
            return pointing.drag_onto(intent, screen)
        case FocusOn():
            return pointing.focus_on(intent, screen)
        case Unfold():
            return pointing.unfold(intent, screen)
        case ScrollView():
            return pointing.scroll_view(intent, screen)
        case _:
            return _on_choices(intent, screen)


def _on_choices(intent: Intent, screen: Screen) -> Course:
    match intent:
        case SelectOptions():
            return choosing.select_options(intent, screen)
        case SetChecked():
            return values.set_checked(intent, screen)
        case SetValue():
            return values.set_value(intent, screen)
        case FollowPath():
            return paths.follow_path(intent, screen)
        case _:
            raise AssertionError(f"there is no policy for {type(intent).__name__}")


def _on_windows(intent: Intent, screen: Screen) -> Course:
    match intent:
        case OpenThing():
            return windows.open_thing(intent, screen)
        case CloseThing():
            return windows.close_thing(intent, screen)
        case AnswerDialog():
            return windows.answer_dialog(intent, screen)
        case SaveFile():
            return files.save_file(intent, screen)
        case OpenFile():
            return files.open_file(intent, screen)
        case GoToAddress():
            return pages.go_to_address(intent, screen)
        case SearchFor():
            return pages.search_for(intent, screen)
        case _:
            raise AssertionError(f"there is no policy for {type(intent).__name__}")


def _on_text(intent: Intent, screen: Screen) -> Course:
    match intent:
        case TypeText():
            return typing.type_text(intent, screen)
        case FillIn():
            return typing.fill_in(intent, screen)
        case EnterCells():
            return typing.enter_cells(intent, screen)
        case GoToCell():
            return typing.go_to_cell(intent, screen)
        case ReplaceText():
            return typing.replace_text(intent, screen)
        case ClearField():
            return typing.clear_field(intent, screen)
        case _:
            raise AssertionError(f"there is no policy for {type(intent).__name__}")


def _looking(intent: Intent, screen: Screen) -> Course:
    match intent:
        case Pause():
            return looking.pause(intent, screen)
        case WaitFor():
            return looking.wait_for(intent, screen)
        case LookWhether():
            return looking.look_whether(intent, screen)
        case KeepText():
            return looking.keep_text(intent, screen)
        case PasteText():
            return looking.paste_text(intent, screen)
        case _:
            raise AssertionError(f"there is no policy for {type(intent).__name__}")


def _composed(intent: Intent, screen: Screen) -> Course:
    match intent:
        case InTurn(intents=intents):
            return _in_turn(intents, screen)
        case InPlace():
            return _in_place(intent, screen)
        case OnlyIf():
            return _only_if(intent, screen)
        case RepeatUntil():
            return _repeat(intent, screen)
        case Command(words=words):
            return windows.command(words, screen)
        case NotUnderstood(words=words):
            return _not_understood(words)
        case _:
            return _nothing()


def _not_understood(words: str) -> Course:
    yield from ()
    give_up(f"I do not understand {words!r}")


def _nothing() -> Course:
    yield from ()
    return Achieved("nothing was to be done")


def run_inner(intent: Intent, screen: Screen) -> Steps[tuple[Screen, str]]:
    """Run the policy of an intent inside of another; return the screen that it leaves and what shows its success."""
    course = pursue(intent, screen)
    try:
        move: Move = next(course)
        while True:
            sight = yield move
            screen = sight.screen
            move = course.send(sight)
    except StopIteration as stop:
        ending = stop.value
        return screen, ending.evidence if isinstance(ending, Achieved) else ""


def _in_turn(intents: tuple[Intent, ...], screen: Screen) -> Course:
    evidence: list[str] = []
    for intent in leave_questions(intents):
        screen, shown = yield from run_inner(intent, screen)
        evidence.append(shown)
    return Achieved("; ".join(part for part in evidence if part))


def _in_place(intent: InPlace, screen: Screen) -> Course:
    screen, placed = yield from places.settle_place(intent.place, intent.intent, screen)
    _, evidence = yield from run_inner(placed, screen)
    return Achieved(evidence)


def _only_if(intent: OnlyIf, screen: Screen) -> Course:
    """Do something only where a condition holds; a dialog gets a moment to appear."""
    from aci.acting.actions import Wait

    for seconds in (0.6, 1.0, 0.0):
        if looking.holds(intent.condition, screen):
            return (yield from pursue(intent.intent, screen))
        if seconds:
            sight = yield Move(Wait(time=seconds), f"see whether {intent.condition.words}")
            screen = sight.screen
    return Achieved(f"nothing was to be done, since not {intent.condition.words!r}")


def _repeat(intent: RepeatUntil, screen: Screen) -> Course:
    for _ in range(MOST_REPEATS):
        if evidence := looking.holds(intent.condition, screen):
            return Achieved(evidence)
        screen, _ = yield from run_inner(intent.intent, screen)
    if evidence := looking.holds(intent.condition, screen):
        return Achieved(evidence)
    give_up(f"after {MOST_REPEATS} times it was not so that {intent.condition.words!r}")
